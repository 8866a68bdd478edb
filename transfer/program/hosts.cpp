#include "transfer/program/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/text_lines.hpp"
#include "core/base/try.hpp"
#include "core/describe/host_list.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/program.hpp"
#include "core/terminal/advice_file.hpp"
#include "core/terminal/say.hpp"
#include "transfer/team/team_pipes.hpp"

namespace forebay::cli {

namespace {

// Each host needs a channel, an ssh process and a share of the coordinator's time.
constexpr std::size_t hosts_max = 1024;

// srun starts the step's one task on that node beside other steps, and passes bytes on as they are. --overlap shares
// the CPUs with them, --mem=0 the memory: without it Slurm waits until the other steps end.
std::vector<std::string> srun_words(const std::string& host) {
    return {"srun", "--overlap", "--mem=0", "--quiet", "--unbuffered", "--nodes=1", "--ntasks=1", "--nodelist=" + host};
}

Result<std::vector<std::string>> hosts_of_slurm() {
    const char* list = std::getenv("SLURM_JOB_NODELIST");
    if (list == nullptr)
        return Error{ErrorKind::refused, "--hosts slurm: this is not a job of Slurm ($SLURM_JOB_NODELIST is not set)",
                     "", "list the hosts, or run it in a job"};
    FB_TRY_ASSIGN(hosts, describe::hosts_of(list));
    const auto own = sys::host_name();
    std::erase_if(hosts, [&](const std::string& host) {
        return host == own || own.starts_with(host + ".") || host.starts_with(own + ".");
    });
    return hosts;
}

Result<std::vector<tree::TeamHost>> team_hosts(const TreeArguments& arguments) {
    const bool by_slurm = arguments.hosts == "slurm";
    std::vector<std::string> names;
    if (by_slurm) {
        FB_TRY_ASSIGN(nodes, hosts_of_slurm());
        names = std::move(nodes);
    } else {
        FB_TRY_ASSIGN(text, list_text("--hosts", arguments.hosts));
        FB_TRY_ASSIGN(listed, describe::hosts_of(text));
        names = std::move(listed);
        if (names.empty()) return Error{ErrorKind::refused, "--hosts contains no host"};
    }
    if (names.size() > hosts_max)
        return Error{ErrorKind::refused,
                     fmt::format("--hosts contains {} hosts, and the limit is {}", names.size(), hosts_max)};
    std::vector<std::string> ssh;
    for (const auto word : forebay::words_of(arguments.ssh)) ssh.emplace_back(word);
    if (ssh.empty()) return Error{ErrorKind::refused, "--ssh is empty"};
    std::vector<tree::TeamHost> hosts;
    for (const auto& name : names) {  // no name begins with -, which ssh would read as an option
        std::vector<std::string> command;
        if (by_slurm) command = srun_words(name);
        else if (name != "localhost") {
            command = ssh;
            command.push_back(name);
        }
        command.push_back(sys::program_path());
        command.emplace_back("tree-worker");
        hosts.push_back({name, std::move(command)});
    }
    return hosts;
}

// A shell's exit code for a missing program.
constexpr std::string_view not_there = "ended with exit code 127";

void say_lost(const tree::Coordinator& lead) {
    const auto& members = lead.members();
    const auto is_lost = [](const tree::TeamWorker& member) { return !member.lost.empty(); };
    if (std::ranges::any_of(members,
                            [](const auto& member) { return member.lost.find(not_there) != std::string::npos; }))
        note(
            lines("exit code 127: that host does not have {}. Install it at the same path, or give another "
                  "command with --ssh\n",
                  sys::program_path()));
    if (std::all_of(members.begin() + 1, members.end(), is_lost))
        note(lines("no host of --hosts helped: this process did all the work\n"));
}

}  // namespace

const char* team_version() { return FOREBAY_VERSION; }

tree::TeamSetup team_setup(const TreeArguments& arguments, std::unique_ptr<tree::TeamPort> port) {
    return {.port = std::move(port),
            .threads = arguments.threads,
            .timeout = std::chrono::seconds(arguments.timeout),
            .version = team_version(),
            .say = [](const std::string& line) { note(lines("{}\n", line)); }};
}

Result<Exit> run_with_hosts(const TreeArguments& arguments, const TreeVerb& verb) {
    if (arguments.hosts.empty()) return verb(nullptr);
    FB_TRY_ASSIGN(hosts, team_hosts(arguments));
    if (hosts.empty()) return verb(nullptr);  // a job with only this node
    FB_TRY_ASSIGN(port, tree::start_hosts(hosts));
    tree::Coordinator lead(team_setup(arguments, std::move(port)));
    auto exit = verb(&lead);
    if (exit) say_lost(lead);
    return exit;
}

void set_team(Json& object, const tree::Coordinator* lead) {
    if (lead == nullptr) return;
    auto processes = Json::array();
    for (const auto& member : lead->members()) {
        auto row = Json::object();
        row.set("host", member.name);
        row.set("entries", member.counts.empty() ? 0 : member.counts[0]);
        row.set("bytes", member.counts.size() < 2 ? 0 : member.counts[1]);
        row.set("gifts_taken", member.items_taken).set("gifts_given", member.items_given);
        row.set("lost", member.lost);
        processes.push(row);
    }
    object.set("processes", processes);
}

Verb tree_verb(CommandLine& line, const char* name) {
    const auto of = std::ranges::find_if(tree_summaries,
                                         [&](const auto& summary) { return std::string_view(name) == summary.first; });
    return line.verb(name, of->second);
}

}  // namespace forebay::cli
