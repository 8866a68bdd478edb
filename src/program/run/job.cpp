// forebay job: runs the command of a job script. Meanwhile a keeper on each node hosts the agents, outside of the job
// step of the command. After the command, in any way it ended, all sealed snapshots are committed and the memory is
// freed.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "core/base/error_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/environment.hpp"
#include "core/sys/job_end.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/sys/program.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/srun_task.hpp"
#include "path/agent/keeper.hpp"
#include "program/run/job_calls.hpp"
#include "program/run/job_chain.hpp"
#include "program/run/job_keeper.hpp"
#include "program/run/job_nodes.hpp"
#include "program/run/job_starts.hpp"
#include "program/run_argument.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

using std::chrono::seconds;

constexpr std::uint64_t job_wait_max = 1'000'000;
// A step of Slurm starts within a second, and over ssh within some seconds. A slow node must not hold the job.
constexpr seconds keepers_start_max{30};
// After the wait, keepers report and end. Before the end of the job, there must be time for the rest of the script.
constexpr seconds report_max{10}, before_end_of_job{15};
constexpr seconds commands_max{10};     // of the batch system
constexpr int command_not_found = 127;  // as a shell exits
constexpr std::int64_t kill_wait_default = 30, near_limit_seconds = 60;

struct JobArguments {
    std::vector<std::string> command;
    std::string staging = "/dev/shm", hosts, ssh, keeper, call, token_file, run;
    std::uint64_t wait_seconds = 600, kill_wait_seconds = 0, chain_limit = 0;
    std::vector<std::string> sbatch;
    bool chain = false;
};

// KillWait of Slurm: "KillWait                = 30 sec".
std::uint64_t kill_wait_of_site() {
    const auto shown = sys::environment_value("SLURM_JOB_ID").empty()
                           ? Result<std::string>(std::string())
                           : sys::output_of({"scontrol", "show", "config"}, commands_max);
    const auto at = shown ? shown->find("KillWait") : std::string::npos;
    const auto equals = at == std::string::npos ? at : shown->find('=', at);
    const auto number = equals == std::string::npos ? 0 : std::strtol(shown->c_str() + equals + 1, nullptr, 10);
    return static_cast<std::uint64_t>(number > 0 ? number : kill_wait_default);
}

// When the batch system ends this job; empty if unknown.
std::optional<std::int64_t> end_of_this_job() {
    const auto ask = [](const std::vector<std::string>& command) { return sys::output_of(command, commands_max); };
    const auto end = sys::find_job_end(sys::environment_value, ask, sys::unix_ns() / 1'000'000'000);
    return end ? end->unix_seconds : std::nullopt;
}

std::int64_t seconds_left(const std::optional<std::int64_t>& end) {
    constexpr std::int64_t endless = 1'000'000'000;
    return end ? *end - sys::unix_ns() / 1'000'000'000 : endless;
}

// The environment and the programs of this process.
StartPlan start_plan(const JobArguments& arguments) {
    const auto has_program = [](const std::string& program) {
        return sys::output_of({"sh", "-c", "command -v " + program}, commands_max).has_value();
    };
    return {arguments.hosts, arguments.ssh, sys::host_name(), sys::environment_value, has_program};
}

std::vector<std::string> keeper_words(const KeeperPlan& plan) {
    return {sys::program_path(),
            "job",
            "--keeper",
            plan.id,
            "--staging",
            plan.staging,
            "--wait",
            std::to_string(plan.wait_seconds),
            "--kill-wait",
            std::to_string(plan.kill_wait_seconds)};
}

// Starts the keepers. `calls` takes the calls of keepers that PBS starts.
Result<JobNodes> start_keepers(const JobArguments& arguments, const KeeperPlan& plan,
                               std::optional<KeeperCalls>& calls) {
    auto how = start_plan(arguments);
    if (need_calls(how)) {
        if (auto opened = KeeperCalls::open(plan.id)) calls.emplace(std::move(*opened));
        else note(lines("{}ssh starts the keepers: {}\n", program_prefix, Message{opened.error().line()}));
        if (!calls) how.ssh = "ssh";
    }
    const auto options =
        calls ? std::vector<std::string>{"--call", calls->addresses(), "--token-file", calls->token_path()}
              : std::vector<std::string>();
    FB_TRY_ASSIGN(starts, keeper_starts(how, keeper_words(plan), options));
    return JobNodes(starts, calls ? &*calls : nullptr);
}

// Text in parts of one line for each fact. Nodes with lost keepers work as without `forebay job`.
void note_lost(const JobNodes& nodes) {
    Shown text;
    for (const auto& lost : nodes.lost()) text += lines("{}no keeper: {}\n", program_prefix, lost);
    if (!text.text.empty()) note(text);
}

void note_rest(const JobNodes& nodes, double waited) {
    Shown text;
    for (const auto& part : nodes.left())
        text += lines("{}{} of {} is NOT committed. It is staged on {} in {}: {}\n", program_prefix, part.name,
                      part.run, part.host, part.directory, part.text);
    for (const auto& host : nodes.silent())
        text += lines("{}the keeper on {} did not report its end. Snapshots may stay in its memory\n", program_prefix,
                      host);
    const auto staged = nodes.staged().size();
    if (nodes.left().empty() && nodes.silent().empty()) {
        if (!nodes.have_hosted())
            text += lines("{}no session asked a keeper for its agent. {}forebay ls RUN shows if snapshots are left\n",
                          program_prefix, next_label);
        else if (staged == 0) text += lines("{}every sealed snapshot was committed.\n", program_prefix);
        else
            text += lines("{}committed {} after the command, in {:.1f} s. No memory is left occupied.\n",
                          program_prefix, show_count(staged, "snapshot"), waited);
    } else {
        text += lines("{}{}forebay drain all on these nodes, or the next job of the run there, commits them\n",
                      program_prefix, next_label);
    }
    note(text);
}

// Waits until the keepers have ended. A second signal shortens the wait.
void wait_for_keepers(JobNodes& nodes, const sys::EndSignals& signals, seconds wait, const KeeperPlan& plan) {
    nodes.end(wait);
    auto deadline = sys::Clock::now() + wait + report_max;
    bool says = true;
    while (!nodes.are_done() && sys::Clock::now() < deadline) {
        nodes.turn(deadline);
        if (says && !nodes.staged().empty()) {
            says = false;
            note(lines("{}the command has ended. Waiting up to {} s until its snapshots are committed\n",
                       program_prefix, wait.count()));
        }
        const int signal = signals.come();
        if (signal == 0) continue;
        const auto rest = signal == sys::signal_terminate
                              ? seconds(plan.kill_wait_seconds > 4 ? plan.kill_wait_seconds - 4 : 0)
                              : seconds(0);
        nodes.end(rest);
        deadline = std::min(deadline, sys::Clock::now() + rest + report_max);
    }
}

Result<CommandEnd> run_command(const JobArguments& arguments, JobNodes& nodes, const sys::EndSignals& signals,
                               const std::optional<std::int64_t>& job_end) {
    CommandEnd end;
    const auto code = sys::run_in_front(arguments.command, [&] {
        nodes.turn(sys::Clock::now());
        bool by_terminal = false;  // then the command has the signal too
        const int signal = signals.come(by_terminal);
        end.by_signal = end.by_signal || signal != 0 || nodes.are_signalled();
        return by_terminal ? 0 : signal;
    });
    if (!code)
        return with_context(code.error(), code.error().what, "", "give the path of an existing program after --");
    end.code = *code;
    end.at_limit = seconds_left(job_end) < near_limit_seconds;
    return end;
}

seconds wait_after(const CommandEnd& end, const KeeperPlan& plan, const std::optional<std::int64_t>& job_end) {
    const auto left = std::max<std::int64_t>(0, seconds_left(job_end) - before_end_of_job.count());
    // After SIGTERM the batch system kills this job soon, but not at once.
    const auto least = end.by_signal ? static_cast<std::int64_t>(plan.kill_wait_seconds) : 0;
    return seconds(std::min<std::int64_t>(static_cast<std::int64_t>(plan.wait_seconds), std::max(left, least)));
}

Result<> check_arguments(const JobArguments& arguments) {
    constexpr const char* example = "forebay job -- srun --mpi=pmix ./simulation";
    if (arguments.command.empty()) return Error{ErrorKind::refused, "no command is given", "", example};
    if (arguments.wait_seconds > job_wait_max)
        return Error{ErrorKind::refused, fmt::format("--wait must be at most {} seconds", job_wait_max)};
    if (arguments.chain == arguments.run.empty())
        return Error{ErrorKind::refused, "--chain and --run need each other: the run shows if this job made progress",
                     "", "forebay job --chain --run /scratch/me/run7 -- srun --mpi=pmix ./simulation"};
    if (srun_task() || !check_alone())
        return Error{ErrorKind::refused, "a launcher started several copies of forebay job", "",
                     fmt::format("write srun behind it: {}", example)};
    return {};
}

Result<Exit> run_job(const JobArguments& arguments) {
    KeeperPlan plan{.id = arguments.keeper,
                    .staging = arguments.staging,
                    .call = arguments.call,
                    .token_file = arguments.token_file,
                    .wait_seconds = arguments.wait_seconds,
                    .kill_wait_seconds = arguments.kill_wait_seconds};
    if (!plan.id.empty()) return keep_node(plan);
    FB_TRY(check_arguments(arguments));
    if (plan.kill_wait_seconds == 0) plan.kill_wait_seconds = kill_wait_of_site();
    std::optional<Chain> chain;
    if (arguments.chain) {
        FB_TRY_ASSIGN(run, run_to_make(sys::target_store(), arguments.run));
        FB_TRY_ASSIGN(path, run.whole());
        FB_TRY_ASSIGN(begun, Chain::begin({path, arguments.chain_limit, arguments.sbatch}));
        chain = std::move(begun);
    }
    const auto job = agent::job_number();
    plan.id = fmt::format("{}-{}-{}", job.empty() ? "host" : job, sys::host_name(), sys::process_id());
    const sys::EndSignals signals;
    const auto job_end = end_of_this_job();
    std::optional<KeeperCalls> calls;
    FB_TRY_ASSIGN(nodes, start_keepers(arguments, plan, calls));
    const auto start_deadline = sys::Clock::now() + keepers_start_max;
    while (!nodes.are_ready() && sys::Clock::now() < start_deadline) {
        nodes.turn(start_deadline);
        if (signals.come() == 0) continue;
        wait_for_keepers(nodes, signals, seconds(0), plan);
        return Error{ErrorKind::retry, "a signal came before the command was started", "all snapshots", ""};
    }
    if (nodes.ready().size() < nodes.keepers() && nodes.lost().empty())
        note(lines("{}only {} of {} nodes have a keeper. Agents of the other nodes end with the command\n",
                   program_prefix, nodes.ready().size(), nodes.keepers()));
    note_lost(nodes);
    ::setenv(agent::keeper_variable, plan.id.c_str(), 1);
    const auto end = run_command(arguments, nodes, signals, job_end);
    const auto began = sys::Clock::now();
    wait_for_keepers(nodes, signals, wait_after(end ? *end : CommandEnd(), plan, job_end), plan);
    if (!end) {
        print_error(end.error());
        return static_cast<Exit>(command_not_found);
    }
    note_rest(nodes, std::chrono::duration<double>(sys::Clock::now() - began).count());
    if (chain) {
        const auto text = chain->finish(*end);
        if (text) note(lines("{}{}\n", program_prefix, *text));
        else print_error(with_context(text.error(), "no next job is submitted: " + text.error().what));
    }
    return static_cast<Exit>(end->code);
}

}  // namespace

void add_job(CommandLine& line) {
    const auto arguments = std::make_shared<JobArguments>();
    auto verb = line.verb("job", "Run a simulation in a job script, and commit all snapshots after its end");
    verb.option("--wait", arguments->wait_seconds,
                "Wait so many seconds after the command until all snapshots are committed, but not beyond the end of "
                "the job");
    verb.option("--staging", arguments->staging, "The staging directory of the sessions");
    verb.option("--hosts", arguments->hosts, "Start keepers on these hosts with --ssh. Default: the hosts of the job");
    verb.option("--ssh", arguments->ssh,
                "Start keepers with this command. Default: ssh, or pbs_tmrsh or pbsdsh in a job of PBS");
    verb.option("--kill-wait", arguments->kill_wait_seconds,
                "The batch system kills so many seconds after SIGTERM. 0: ask it, or 30");
    verb.flag("--chain", arguments->chain, "Submit this script again if the simulation is not done and made progress");
    verb.option("--run", arguments->run, "The run of --chain: a newer committed step in it is progress");
    verb.option("--chain-limit", arguments->chain_limit,
                "Submit the script also after jobs without progress, up to so many in a row");
    verb.option("--sbatch", arguments->sbatch, "Give this option to sbatch too: --sbatch=--signal=USR1@300");
    verb.option("--keeper", arguments->keeper, "Be the keeper of this node (forebay job starts it)");
    verb.option("--call", arguments->call, "A keeper that PBS started calls forebay job at these addresses");
    verb.option("--token-file", arguments->token_file, "The token of such a call");
    verb.arguments("COMMAND", arguments->command, "The command, after --");
    verb.examples(
        "  forebay job -- srun --mpi=pmix ./simulation\n  forebay job --chain --run /scratch/me/run7 -- srun "
        "--mpi=pmix ./simulation\nSlurm kills the agents of a job step with the step. So forebay job starts a keeper "
        "on each node, in a step of its\nown, and sessions let it start their agents. It exits as the command "
        "does.\n");
    verb.action([arguments] { return run_job(*arguments); });
}

}  // namespace forebay::cli
