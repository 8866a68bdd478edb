// Threads as ranks: the ranks of a Group are threads of one process. For tests of collective code without MPI.

#pragma once

#include <functional>
#include <memory>

#include "core/comm/group.hpp"

namespace forebay::test {

/// Runs `body` on `ranks` threads, each with its Group of all ranks, and returns when all have ended. If a rank throws,
/// as REQUIRE of doctest does, ranks that wait for it fail as well. The first exception is rethrown after all have
/// ended.
void with_threads(int ranks, const std::function<void(std::unique_ptr<comm::Group>)>& body);

/// Like with_threads, but split_shared() divides the ranks into `machines` machines of neighbouring ranks.
void with_machines(int ranks, int machines, const std::function<void(std::unique_ptr<comm::Group>)>& body);

}  // namespace forebay::test
