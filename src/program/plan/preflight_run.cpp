#include "program/plan/preflight_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "core/base/text_lines.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/sys/store.hpp"
#include "core/terminal/advice_file.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "insight/advice/preflight/preflight.hpp"
#include "insight/advice/preflight/report.hpp"
#include "program/own_output.hpp"

namespace forebay::cli {

namespace {

constexpr const char* site_file = "/etc/forebay/preflight.toml";
constexpr std::chrono::seconds setstripe_max{20};
// A larger number can only be a mistake.
constexpr std::uint64_t slots_max = 1024;
constexpr double seconds_max = 86'400, planned_bytes_max = 1e18;

// Our directory at the target with one directory for each storage target. The destructor removes it.
class OstDirectories {
public:
    OstDirectories() = default;
    OstDirectories(OstDirectories&& other) noexcept : root_(std::exchange(other.root_, {})) {}
    OstDirectories& operator=(OstDirectories&&) = delete;
    OstDirectories(const OstDirectories&) = delete;
    OstDirectories& operator=(const OstDirectories&) = delete;
    ~OstDirectories() {
        if (!root_.empty()) static_cast<void>(sys::posix_store().remove_tree(root_));
    }

    /// A file made in one of the directories lies only on that OST.
    static Result<OstDirectories> make(const std::string& target, const std::vector<advice::Ost>& osts,
                                       std::vector<advice::StorageTarget>& targets) {
        OstDirectories directories;
        directories.root_ = fmt::format("{}/.forebay-preflight-{:016x}", target, sys::random_u64());
        auto& store = sys::posix_store();
        FB_TRY(store.make_directory(directories.root_));
        for (const auto& [state, server] : osts) {
            if (state.inactive) continue;
            const auto directory = fmt::format("{}/ost{:04x}", directories.root_, state.index);
            FB_TRY(store.make_directory(directory));
            FB_TRY(sys::output_of({"lfs", "setstripe", "-c", "1", "-i", std::to_string(state.index), directory},
                                  setstripe_max));
            targets.push_back({state.name, directory, server, static_cast<std::int64_t>(state.index)});
        }
        return directories;
    }

private:
    std::string root_;
};

Result<std::vector<advice::StorageTarget>> targets_of(const PreflightArguments& arguments) {
    std::vector<advice::StorageTarget> targets;
    for (const auto& given : arguments.targets) {
        FB_TRY_ASSIGN(text, list_text("--targets", given));
        for (const auto word : words_of(text)) {
            const auto path = std::filesystem::absolute(word).lexically_normal().string();
            targets.push_back({.name = std::string(word), .directory = path});
        }
    }
    if (arguments.servers.empty()) return targets;
    FB_TRY_ASSIGN(text, file_text("--servers", arguments.servers));
    std::map<std::string, std::string> servers;
    each_line(text, [&](std::string_view line) {
        const auto words = words_of(line);
        for (std::size_t i = 1; i < words.size(); ++i) servers[std::string(words[i])] = std::string(words[0]);
    });
    for (auto& target : targets)
        if (const auto server = servers.find(target.name); server != servers.end()) target.server = server->second;
        else
            return Error{ErrorKind::refused, fmt::format("{} lists no server for {}", arguments.servers, target.name),
                         "", "write one line for each server: its name, then its targets"};
    return targets;
}

Result<advice::Rules> rules_of(const std::string& path) {
    auto& store = sys::posix_store();
    if (path.empty()) {
        FB_TRY_ASSIGN(there, store.exists(site_file));
        if (!there) return advice::Rules();
    }
    const auto chosen = path.empty() ? std::string(site_file) : path;
    FB_TRY_ASSIGN(text, file_text("--site", chosen));
    return advice::Rules::parse(text, chosen);
}

std::string absolute_or_none(const std::string& path) {
    return path.empty() ? path : std::filesystem::absolute(path).lexically_normal().string();
}

Result<> take_plan(const std::string& path, advice::SiteAsk& site) {
    if (path.empty()) return {};
    FB_TRY_ASSIGN(plan, read_advice("--plan", path, "plan"));
    if (const auto* seconds = format::find(plan.measures, "wall_seconds"))
        site.planned_seconds = std::max(seconds->value, seconds->high);
    if (const auto* bytes = format::find(plan.measures, "kept_bytes"); bytes != nullptr && site.planned_bytes == 0)
        site.planned_bytes = static_cast<std::uint64_t>(
            std::clamp(std::isfinite(bytes->value) ? bytes->value : 0.0, 0.0, planned_bytes_max));
    return {};
}

// Lists of nodes and targets have no mark of their maker. Lists beside the file of a preflight belong to a preflight.
Result<> check_files(const PreflightArguments& arguments) {
    auto& store = sys::posix_store();
    FB_TRY(store.make_directories(arguments.out));
    const auto is_ours = [](std::string_view text) { return is_advice(text, "preflight"); };
    for (const auto* name : {"preflight.json", "after.json"})
        FB_TRY(check_own_output(store, arguments.out + "/" + name, arguments.replace, is_ours,
                                "file of forebay preflight"));
    FB_TRY_ASSIGN(before, store.exists(arguments.out + "/preflight.json"));
    FB_TRY_ASSIGN(after, store.exists(arguments.out + "/after.json"));
    for (const auto* name : {"exclude.nodes", "exclude.targets", "nodes.good"})
        FB_TRY(check_own_output(
            store, arguments.out + "/" + name, arguments.replace || before || after,
            [](std::string_view) { return false; }, "list of a preflight that has written preflight.json beside it"));
    return {};
}

Result<advice::PreflightRequest> request_of(const PreflightArguments& arguments) {
    if (arguments.slots < 1 || arguments.slots > slots_max)
        return Error{ErrorKind::refused, fmt::format("--slots must be 1 to {}, not {}", slots_max, arguments.slots)};
    if (arguments.at_once < 1 || arguments.probes_a_node < 1 ||
        !(arguments.seconds >= 1 && arguments.seconds <= seconds_max))
        return Error{ErrorKind::refused,
                     fmt::format("--at-once and --probes-a-node must be 1 or more, --seconds 1 to {}", seconds_max)};
    FB_TRY(check_files(arguments));
    advice::PreflightRequest request;
    auto& needs = request.needs;
    needs.staging = absolute_or_none(arguments.staging);
    needs.target = absolute_or_none(arguments.target);
    needs.binary = absolute_or_none(arguments.binary);
    needs.application_bytes = arguments.application_bytes;
    needs.slot_bytes = arguments.bytes_per_node;
    needs.slots = arguments.slots;
    needs.agent_bytes = arguments.agent_bytes;
    request.probe_bytes = arguments.probe_bytes;
    FB_TRY_ASSIGN(rules, rules_of(arguments.site));
    request.rules = rules;
    request.site = {.target = needs.target,
                    .pool = arguments.pool,
                    .planned_bytes = arguments.planned_bytes,
                    .block_bytes = arguments.block_bytes};
    FB_TRY(take_plan(arguments.plan, request.site));
    FB_TRY_ASSIGN(targets, targets_of(arguments));
    request.targets = std::move(targets);
    request.at_once = arguments.at_once;
    request.probes_a_node = arguments.probes_a_node;
    request.seconds_max = arguments.seconds;
    request.nodes_wanted = arguments.nodes_wanted;
    request.seed = sys::random_u64();
    return request;
}

// Good hosts in the spelling and number of the launcher's file.
std::string good_of(const std::vector<std::string>& hosts, const std::vector<std::string>& excluded) {
    std::string text;
    for (const auto& host : hosts) {
        const auto is_it = [&](const std::string& bad) {
            return host == bad || host.starts_with(bad + ".") || bad.starts_with(host + ".");
        };
        if (std::ranges::none_of(excluded, is_it)) text += host + "\n";
    }
    return text;
}

std::string one_a_line(const std::vector<std::string>& names) {
    return names.empty() ? "" : fmt::format("{}\n", fmt::join(names, "\n"));
}

Result<std::vector<std::string>> hosts_of_job(std::vector<std::string> hosts) {
    const char* file = std::getenv("PBS_NODEFILE");
    if (!hosts.empty() || file == nullptr) return hosts;
    FB_TRY_ASSIGN(text, file_text("$PBS_NODEFILE", file));
    for (const auto word : words_of(text)) hosts.emplace_back(word);
    return hosts;
}

Result<> write_files(const advice::PreflightOutcome& outcome, const PreflightArguments& arguments,
                     const std::vector<std::string>& hosts) {
    const auto& advice = outcome.advice;
    const auto why = [](bool all_fail, std::string_view text) {
        return all_fail ? fmt::format("# {}\n", text) : std::string();
    };
    const auto of_nodes = why(outcome.all_nodes_fail, advice::all_nodes_fail_text);
    auto& store = sys::posix_store();
    const auto write = [&](const char* name, const std::string& text) {
        return sys::write_text_durable(store, arguments.out + "/" + name, text);
    };
    FB_TRY(write("exclude.nodes", of_nodes + one_a_line(advice.excluded_nodes)));
    FB_TRY(write("exclude.targets",
                 why(outcome.all_targets_fail, advice::all_targets_fail_text) + one_a_line(advice.excluded_targets)));
    // If every node fails, no node is known to be good.
    if (!hosts.empty())
        FB_TRY(write("nodes.good", outcome.all_nodes_fail ? of_nodes : good_of(hosts, advice.excluded_nodes)));
    // The file of the comparison stays.
    return write(arguments.after.empty() ? "preflight.json" : "after.json", format::encode(advice));
}

// One progress bar for each phase.
class Bars {
public:
    explicit Bars(bool quiet) : quiet_(quiet) {}
    void show(const char* what, std::uint64_t done, std::uint64_t all) {
        if (what != phase_) bar_.emplace(phase_ = what, quiet_);
        bar_->show_count(done, std::max(done, all));
    }
    void end() { bar_.reset(); }

private:
    bool quiet_;
    std::string phase_;
    std::optional<Progress> bar_;
};

// Runs the preflight, prints its results and writes its files. The directories of OSTs must exist meanwhile.
Result<PreflightDone> ask_and_tell(advice::Nodes& nodes, const PreflightArguments& arguments,
                                   const std::vector<std::string>& hosts, advice::PreflightRequest& request,
                                   const std::optional<format::Advice>& before, const std::function<int()>& signal) {
    const advice::RunProgram run = [](const auto& command, auto at_most) { return sys::output_of(command, at_most); };
    Bars bars(arguments.json);
    request.interrupted = [&] { return signal() != 0; };
    request.progress = [&](const char* what, std::uint64_t done, std::uint64_t all) { bars.show(what, done, all); };
    auto outcome = advice::run_preflight(nodes, request, run);
    bars.end();
    PreflightDone done{.all_answered = outcome.all_answered, .signal = signal()};
    if (done.signal != 0) return done;
    auto& advice = outcome.advice;
    const auto findings = before ? advice::worse_than_before(*before, advice) : advice.findings;
    advice.lines = advice::lines_to_paste(outcome, request,
                                          {.out = arguments.out,
                                           .target = request.needs.target,
                                           .slurm = std::getenv("SLURM_JOB_ID") != nullptr,
                                           .pbs = std::getenv("PBS_NODEFILE") != nullptr,
                                           .good_hosts = !hosts.empty()});
    if (arguments.json) say(Shown{format::encode(advice)});
    else say(Shown{advice::screen_of(outcome, request, findings)});
    FB_TRY(write_files(outcome, arguments, hosts));
    if (!arguments.json)
        say(lines("  written: {}/{}, exclude.nodes, exclude.targets{}\n", arguments.out,
                  before ? "after.json" : "preflight.json", hosts.empty() ? "" : ", nodes.good"));
    const auto fails = [](const format::Finding& finding) { return finding.severity == format::Severity::fail; };
    const bool bad = before ? !findings.empty() : std::ranges::any_of(findings, fails);
    done.exit = bad ? Exit::found : Exit::good;
    return done;
}

}  // namespace

void add_preflight_options(Verb& verb, PreflightArguments& arguments) {
    verb.option("--target", arguments.target, "Test this directory of the target, in which runs will be");
    verb.option("--staging", arguments.staging, "Test this directory of each node, in which snapshots will be staged");
    verb.option("--targets", arguments.targets,
                "Probe these storage targets: a directory, or @FILE with one a line (on Lustre: all OSTs)");
    verb.option("--servers", arguments.servers,
                "Group targets by server with this file, one line for each server: its name, then its targets");
    verb.bytes("--application-bytes", arguments.application_bytes,
               "Assume so much memory for the application on a node, as in 40G");
    verb.bytes("--bytes-per-node", arguments.bytes_per_node,
               "Assume that a node saves so much at a time: the size of a slot");
    verb.option("--slots", arguments.slots, "Assume so many slots for the stream");
    verb.bytes("--agent-bytes", arguments.agent_bytes, "Assume so much memory for the agent");
    verb.option("--binary", arguments.binary, "Check that all nodes have the same file of this program");
    verb.option("--pool", arguments.pool, "Check the state of this DAOS pool");
    verb.bytes("--planned-bytes", arguments.planned_bytes, "Check room and quota for so many bytes of the run");
    verb.option("--plan", arguments.plan,
                "Check the job's limits against the time and bytes of this file of forebay plan");
    verb.option("--nodes-wanted", arguments.nodes_wanted,
                "Compute the spares to ask for, if the run needs so many good nodes (all)");
    verb.option("--site", arguments.site, std::string("Use these thresholds and severities (") + site_file + ")");
    verb.bytes("--probe-bytes", arguments.probe_bytes, "Write so many bytes in one probe. 0: measure no speeds");
    verb.bytes("--block-bytes", arguments.block_bytes,
               "Compare the chunk of files on dfuse with these bytes: agent.block_bytes of the run");
    verb.option("--at-once", arguments.at_once, "Let so many nodes work at once");
    verb.option("--probes-a-node", arguments.probes_a_node, "Let a node probe so many storage targets at once");
    verb.option("--seconds", arguments.seconds, "End after so many seconds with the results so far");
    verb.option("--out", arguments.out, "Write preflight.json, exclude.nodes and exclude.targets to this directory");
    verb.flag("--replace", arguments.replace, "With --out: replace files of these names that no preflight has written");
    verb.option("--after", arguments.after, "After the run: compare with this preflight.json from before");
    verb.json(arguments.json,
              "  The contents of preflight.json (docs/formats/advice.md): measures, findings with check, subject, "
              "severity,\n  text, ratio, z and samples, excluded_nodes, excluded_targets, and lines to paste.\n");
}

Result<PreflightDone> preflight_with(advice::Nodes& nodes, const PreflightArguments& arguments,
                                     const std::vector<std::string>& hosts, const std::function<int()>& signal) {
    const advice::RunProgram run = [](const auto& command, auto at_most) { return sys::output_of(command, at_most); };
    FB_TRY_ASSIGN(request, request_of(arguments));
    std::optional<format::Advice> before;
    if (!arguments.after.empty()) {
        FB_TRY_ASSIGN(read, read_advice("--after", arguments.after, "preflight"));
        before = std::move(read);
    }
    FB_TRY_ASSIGN(listed, hosts_of_job(hosts));
    if (request.targets.empty() && !request.needs.target.empty())
        request.osts = advice::osts_of(request.needs.target, request.rules, run);
    std::optional<OstDirectories> directories;
    if (!request.osts.empty() && request.probe_bytes > 0 && request.rules.of(advice::CheckKind::target_speed).on) {
        FB_TRY_ASSIGN(ost_directories, OstDirectories::make(request.needs.target, request.osts, request.targets));
        directories.emplace(std::move(ost_directories));
    }
    return ask_and_tell(nodes, arguments, listed, request, before, signal);
}

}  // namespace forebay::cli
