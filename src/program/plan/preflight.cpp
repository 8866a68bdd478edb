// forebay preflight: on this machine or over ssh. Under an MPI launcher it becomes forebay-mpi.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "core/base/text_lines.hpp"
#include "core/base/try.hpp"
#include "core/describe/host_list.hpp"
#include "core/sys/process.hpp"
#include "core/sys/program.hpp"
#include "core/terminal/print.hpp"
#include "insight/advice/preflight/ssh_nodes.hpp"
#include "insight/advice/preflight/worker.hpp"
#include "program/plan/preflight_run.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct HostArguments {
    PreflightArguments all;
    std::string hosts, ssh = "ssh";
    std::uint64_t ssh_at_once = 64;
    bool here = false;
};

Result<Exit> preflight(const HostArguments& arguments) {
    if (arguments.here) {
        advice::serve_lines(std::cin, [](const std::string& answer) {
            say(Shown{answer + "\n"});
            std::fflush(stdout);
        });
        return Exit::good;
    }
    const sys::EndSignals signals;
    std::vector<std::string> hosts;
    auto nodes = advice::local_node();
    if (!arguments.hosts.empty()) {
        FB_TRY_ASSIGN(text, list_text("--hosts", arguments.hosts));
        FB_TRY_ASSIGN(listed, describe::hosts_of(text));
        hosts = std::move(listed);
        advice::SshOptions ssh{.command = {}, .program = sys::program_path(), .at_once = arguments.ssh_at_once};
        for (const auto word : words_of(arguments.ssh)) ssh.command.emplace_back(word);
        if (ssh.command.empty() || hosts.empty() || ssh.at_once == 0)
            return Error{ErrorKind::refused, "--hosts needs a host, --ssh a command, and --ssh-at-once 1 or more"};
        nodes = advice::ssh_nodes(hosts, std::move(ssh));
    }
    FB_TRY_ASSIGN(done, preflight_with(*nodes, arguments.all, hosts, [&] { return signals.come(); }));
    nodes.reset();
    if (done.signal != 0) sys::EndSignals::end_by(done.signal);
    return done.exit;
}

}  // namespace

void add_preflight(CommandLine& line) {
    const char* summary = "Find slow and broken nodes and storage targets before a run, and exclude them";
    if (started_by_launcher()) return line.elsewhere("preflight", summary, become_mpi);
    const auto arguments = std::make_shared<HostArguments>();
    auto verb = line.verb("preflight", summary);
    add_preflight_options(verb, arguments->all);
    verb.option("--hosts", arguments->hosts,
                "Check these hosts over ssh, as in nid00[01-64], or @FILE. Default: this machine");
    verb.option("--ssh", arguments->ssh, "Start programs on hosts with this command");
    verb.option("--ssh-at-once", arguments->ssh_at_once, "Check so many hosts at a time");
    verb.flag("--here", arguments->here, "Answer questions from standard input (--hosts starts this)");
    verb.examples(
        "  srun --mpi=pmix -N 128 --ntasks-per-node 1 forebay preflight --target /scratch/me --bytes-per-node 50G\n  "
        "forebay "
        "preflight --hosts nid00[01-64] --target /scratch/me\n  forebay preflight --targets /ost/0 --targets /ost/1 "
        "--servers servers.txt\n  forebay preflight --target /scratch/me --after preflight.json\nAmounts: 4096, 64M, "
        "2G (powers of 1024). Start one rank a node. Exit code 1 if a check fails, or with --after if a\nresult got "
        "worse.\n");
    verb.action([arguments] { return preflight(*arguments); });
}

}  // namespace forebay::cli
