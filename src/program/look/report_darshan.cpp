#include "program/look/report_darshan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/say.hpp"
#include "insight/report/darshan_read.hpp"
#include "insight/report/darshan_rule.hpp"
#include "insight/report/darshan_servers.hpp"
#include "path/agent/hosts.hpp"

namespace forebay::cli {

namespace {

constexpr std::size_t told_targets_max = 8;  // beside the slow ones
constexpr std::uint64_t servers_bytes_max = 16u << 20;

using Servers = std::map<std::uint32_t, std::string>;

std::vector<report::DarshanTarget> slow_of(const report::DarshanMount& mount) {
    std::vector<report::DarshanTarget> slow;
    std::ranges::copy_if(mount.targets, std::back_inserter(slow), &report::DarshanTarget::is_slow);
    return slow;
}

// As Lustre's own messages name it.
std::string ost_name(const report::DarshanTarget& target) { return fmt::format("OST{:04x}", target.number); }

// Never in minutes: they are compared.
std::string seconds_text(double seconds) { return fmt::format("{:.{}f} s", seconds, seconds < 100 ? 1 : 0); }

std::string setstripe_line(const report::DarshanMount& mount) {
    return fmt::format("lfs setstripe -c {} -o {} DIRECTORY", mount.kept.size(), report::ranges_of(mount.kept));
}

Json target_json(const report::DarshanTarget& target, const Servers& servers) {
    auto object = Json::object();
    object.set("target", target.number).set("name", ost_name(target)).set("slow", target.is_slow);
    if (const auto server = servers.find(target.number); server != servers.end()) object.set("server", server->second);
    object.set("files", target.files).set("bytes", target.bytes).set("seconds", target.seconds);
    object.set("rate", target.rate).set("ratio", target.ratio).set("file_ratio", target.file_ratio);
    return object.set("z", target.z).set("correlation", target.correlation);
}

void print_darshan_json(const DarshanArguments& options, const report::DarshanLog& log,
                        const std::vector<report::DarshanMount>& mounts, const Servers& servers) {
    auto array = Json::array();
    for (const auto& mount : mounts) {
        auto targets = Json::array();
        for (const auto& target : mount.targets) targets.push(target_json(target, servers));
        auto slow = Json::array();
        for (const auto& target : slow_of(mount)) slow.push(target.number);
        auto object = Json::object();
        object.set("mount", mount.mount).set("files", mount.files).set("small_files", mount.small_files);
        object.set("bytes", mount.bytes).set("seconds", mount.seconds).set("median_rate", mount.median_rate);
        object.set("told_apart", mount.is_told_apart).set("slow", slow);
        if (mount.seconds_without > 0)
            object.set("seconds_without", mount.seconds_without).set("setstripe", setstripe_line(mount));
        if (!servers.empty()) {
            auto slow_servers = Json::array();
            for (const auto& server : report::by_server(mount, servers))
                if (server.is_slow) slow_servers.push(server.name);
            object.set("slow_servers", slow_servers);
        }
        array.push(object.set("targets", targets));
    }
    auto object = Json::object();
    object.set("log", options.log).set("reader", log.reader).set("processes", log.processes);
    object.set("seconds", log.seconds).set("partial", log.is_partial).set("elsewhere", log.elsewhere);
    object.set("only_read", log.only_read).set("only_read_bytes", log.only_read_bytes);
    object.set("mounts", array).print();
}

void print_targets(const report::DarshanMount& mount) {
    Table table({{"target", true},
                 {"name"},
                 {"files", true},
                 {"bytes", true},
                 {"writing", true},
                 {"rate", true},
                 {"of median", true},
                 {"its files", true},
                 {"correlation", true},
                 {""}});
    std::size_t told = 0;
    for (const auto& target : mount.targets) {
        if (!target.is_slow && told++ >= told_targets_max) continue;
        table.row({fmt::to_string(target.number), ost_name(target), fmt::to_string(target.files),
                   show_bytes(static_cast<std::uint64_t>(target.bytes)), seconds_text(target.seconds),
                   show_rate(target.rate), fmt::format("{:.3f}", target.ratio),
                   fmt::format("{:.3f}", target.file_ratio), fmt::format("{:.2f}", target.correlation),
                   target.is_slow ? "SLOW" : ""});
    }
    say(table.text());
    if (told > told_targets_max) say("and {} faster ones, all of them by --json\n", told - told_targets_max);
}

void print_servers(const report::DarshanMount& mount, const Servers& servers) {
    if (servers.empty()) return;
    Table table({{"server"},
                 {"targets", true},
                 {"slow", true},
                 {"files", true},
                 {"bytes", true},
                 {"writing", true},
                 {"of median", true},
                 {""}});
    for (const auto& server : report::by_server(mount, servers))
        table.row({server.name.empty() ? "unknown" : server.name, fmt::to_string(server.targets),
                   fmt::to_string(server.slow_targets), fmt::to_string(server.files),
                   show_bytes(static_cast<std::uint64_t>(server.bytes)), seconds_text(server.seconds),
                   fmt::format("{:.3f}", server.ratio), server.is_slow ? "SLOW" : ""});
    say(table.text());
}

void print_mount(const report::DarshanMount& mount, const Servers& servers) {
    const auto slow = slow_of(mount);
    say("\n{}: {} in {} files on {} targets, written in {}\n",
        mount.mount.empty() ? "(no mount is known)" : mount.mount, show_bytes(static_cast<std::uint64_t>(mount.bytes)),
        mount.files, mount.targets.size(), seconds_text(mount.seconds));
    if (mount.small_files > 0)
        say("{} much smaller files say nothing of targets, and are left out.\n", mount.small_files);
    print_servers(mount, servers);
    print_targets(mount);
    if (!mount.is_told_apart) {
        say("Every file lies on every target: nobody can tell from this log which of them is slow.\n");
        return;
    }
    if (slow.empty()) {
        say("No target is slow.\n");
        return;
    }
    for (const auto& target : slow)
        say("Target {} ({}) is slow: it took {} for {}, {:.3f} of the median rate; its files were written at {:.3f} of "
            "the\nmedian of all (correlation {:.2f} over {} files).\n",
            target.number, ost_name(target), seconds_text(target.seconds),
            show_bytes(static_cast<std::uint64_t>(target.bytes)), target.ratio, target.file_ratio, target.correlation,
            mount.files);
    if (mount.seconds_without > 0)
        say("Without {} the same bytes would have taken about {} instead of {}: {:.1f} times as fast.\n",
            slow.size() == 1 ? "it" : "them", seconds_text(mount.seconds_without), seconds_text(mount.seconds),
            mount.seconds / mount.seconds_without);
    say("Leave {} out where files are made next, each then on all of the others:\n  {}\n",
        slow.size() == 1 ? "it" : "them", setstripe_line(mount));
}

}  // namespace

Result<Exit> report_darshan(const DarshanArguments& options) {
    Servers servers;
    if (!options.servers.empty()) {
        FB_TRY_ASSIGN(text, sys::read_text(sys::posix_store(), options.servers, servers_bytes_max));
        servers = report::servers_in(text);
        if (servers.empty())
            return Error{ErrorKind::refused, fmt::format("{} says of no target which server has it", options.servers),
                         "", "lctl get_param 'osc.*.ost_conn_uuid' > FILE, on a client"};
    }
    const auto place = agent::python_place(options.python);
    FB_TRY_ASSIGN(log, report::read_darshan(sys::posix_store(), options.log,
                                            {.python = place.program, .environment = place.environment}));
    const auto mounts = report::judge_darshan(log);
    if (mounts.empty() && log.only_read > 0)
        return Error{ErrorKind::unsupported,
                     fmt::format("{}: the job has written nothing to Lustre, and has read {} from {} there: targets "
                                 "are judged by writes alone",
                                 options.log, show_bytes(log.only_read_bytes), show_count(log.only_read, "file")),
                     "", "the log of a job that writes there"};
    if (mounts.empty())
        return Error{ErrorKind::unsupported,
                     fmt::format("{} says of no written file on which targets it lies", options.log), "",
                     "targets are known of jobs on Lustre whose Darshan has its Lustre module"};
    if (options.json) {
        print_darshan_json(options, log, mounts, servers);
        return Exit::good;
    }
    say("{}  {} processes, {}, read by {}\n", options.log, log.processes, seconds_text(log.seconds), log.reader);
    if (log.is_partial) say("Darshan had no room for all files of this job: what follows is of a part of them.\n");
    if (log.elsewhere > 0) say("{} written files lie elsewhere than on Lustre.\n", log.elsewhere);
    if (log.only_read > 0)
        say("{} on Lustre, {}, {} only read: targets are judged by writes alone.\n", show_count(log.only_read, "file"),
            show_bytes(log.only_read_bytes), log.only_read == 1 ? "was" : "were");
    for (const auto& mount : mounts) print_mount(mount, servers);
    return Exit::good;
}

}  // namespace forebay::cli
