// forebay insitu-worker: analyses sealed slots for a node's agent, which starts it.

#include <iostream>
#include <memory>

#include "core/base/try.hpp"
#include "core/sys/child.hpp"
#include "core/sys/process.hpp"
#include "insight/insitu/worker.hpp"
#include "path/agent/serve.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

Result<Exit> work_for_agent(const std::string& directory) {
    FB_TRY(sys::end_with_parent());
    FB_TRY_ASSIGN(session, agent::served_session_of(directory));
    FB_TRY(sys::pin_to_cpus(session.agent.cpus.empty() ? "all" : session.agent.cpus));
    FB_TRY_ASSIGN(staging, node::Staging::join(directory));
    FB_TRY_ASSIGN(target, agent::target_of(session.run, session.forwarding, {}));
    insitu::InsituWorker worker(*target.store, std::move(staging), std::move(session));
    worker.serve(std::cin, std::cout);
    return Exit::good;
}

}  // namespace

void add_insitu_worker(CommandLine& line) {
    const auto directory = std::make_shared<std::string>();
    auto verb = line.verb("insitu-worker", "Run the analyses of a stream for an agent (the agent starts this)");
    verb.argument("DIRECTORY", *directory, "The session's staging directory");
    verb.examples(
        "Reads lines \"see SLOT SNAPSHOT STEP\" from standard input, and answers each line on standard\noutput. For "
        "your own use there is `forebay insitu`.\n");
    verb.action([directory] { return work_for_agent(*directory); });
}

}  // namespace forebay::cli
