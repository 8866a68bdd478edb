// forebay tree-worker: a worker process, started by a verb of trees on another host.

#include <algorithm>

#include "core/base/try.hpp"
#include "transfer/program/hosts.hpp"
#include "transfer/program/verbs.hpp"
#include "transfer/team/team_pipes.hpp"
#include "transfer/team/team_worker.hpp"

namespace forebay::cli {

namespace {

Result<Exit> work_for_team() {
    FB_TRY_ASSIGN(port, tree::join_by_standard_input());
    const auto threads = TreeArguments().thread_count({});
    FB_TRY(tree::serve_team(std::move(port), team_version(), threads));
    return Exit::good;
}

}  // namespace

void add_tree_worker(CommandLine& line) {
    auto verb = line.verb("tree-worker", "Help another process (--hosts starts this)");
    verb.examples("Talks to that process over standard input and output, and ends with it.\n");
    verb.action([] { return work_for_team(); });
}

}  // namespace forebay::cli
