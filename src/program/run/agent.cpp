// forebay agent: serves a staging directory. The library starts it, seldom a person.

#include <memory>
#include <optional>

#include "core/base/try.hpp"
#include "core/sys/process.hpp"
#include "core/terminal/log.hpp"
#include "path/agent/serve.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct AgentArguments {
    std::string session;
    bool foreground = false;
};

Result<Exit> agent(const AgentArguments& options) {
    std::optional<sys::DaemonStart> start;
    auto log = log_to_errors();
    if (!options.foreground) {
        FB_TRY_ASSIGN(forked, sys::DaemonStart::fork_away());
        start.emplace(std::move(forked));
        // Output of libraries goes there, too.
        FB_TRY_ASSIGN(bounded, log_to_file(node::agent_log_path(options.session), true));
        log = std::move(bounded);
    }
    const auto ready = [&] {
        if (start) start->ready();
    };
    FB_TRY(sys::pin_to_cpus("all"));  // not the core of the rank that started it
    FB_TRY_ASSIGN(all, agent::run_agent(options.session, ready, view_maker(), log, agent::Hosted::process));
    return all ? Exit::good : Exit::found;
}

}  // namespace

void add_agent(CommandLine& line) {
    const auto options = std::make_shared<AgentArguments>();
    auto verb = line.verb("agent", "Drain and commit the snapshots that a session stages (the library starts this)");
    verb.required("--session", options->session, "The session's staging directory");
    verb.flag("--foreground", options->foreground, "Stay in the foreground, for debuggers and service managers");
    verb.examples(
        "  forebay agent --session /dev/shm/forebay-1000/run7-8d1f0baa-0 --foreground\nIt ends when the session is "
        "closed, or when its application has died and everything staged is committed or failed.\nExit code 1 if "
        "something stays staged. The log goes to standard error, or to agent.log in the staging directory.\n");
    verb.action([options] { return agent(*options); });
}

}  // namespace forebay::cli
