// Sessions over threads as ranks, whose agent is a thread too. For tests of the application's calls.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/api/state.hpp"
#include "path/catalog/catalog.hpp"
#include "support/temp_directory.hpp"
#include "support/thread_group.hpp"

namespace forebay::test {

inline Options options_in(const TempDirectory& folder, int nodes, const std::string& run = "run") {
    Options options{.run = folder / run, .staging = folder.path()};
    options.virtual_nodes = nodes;
    options.agent.mode = AgentMode::thread;
    options.restart_window_bytes = 4u << 20;
    return options;
}

/// Runs `body` on each rank between open and close.
inline void with_session(int ranks, const Options& options, const std::function<void(Session&, comm::Group&)>& body) {
    with_threads(ranks, [&](std::unique_ptr<comm::Group> world) {
        const auto own = world->split(0);
        auto session = detail::open_over(std::make_unique<GroupHolder>(std::move(world)), options).value();
        body(session, *own);
        session.close().value();
    });
}

/// The committed steps of a stream, newest first.
inline std::vector<std::int64_t> committed(const Options& options, const std::string& stream = "restart") {
    std::vector<std::int64_t> steps;
    for (const auto& snapshot : catalog::snapshots(sys::posix_store(), options.run, stream).value())
        steps.push_back(snapshot.step);
    return steps;
}

}  // namespace forebay::test
