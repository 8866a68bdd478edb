// Threads as ranks: a Group whose members are threads of one process, for tests of collective code without MPI.

#pragma once

#include <functional>
#include <memory>

#include "core/comm/group.hpp"

namespace forebay::test {

/// Runs `body` on `ranks` threads, each with its own Group of all of them, and returns when all have ended. An
/// exception in one (as doctest's REQUIRE throws) is rethrown after all have ended; ranks that wait for it are
/// released by failing too.
void with_threads(int ranks, const std::function<void(std::unique_ptr<comm::Group>)>& body);

/// As with_threads, but split_shared() cuts the ranks into `machines` machines of neighbouring ranks.
void with_machines(int ranks, int machines, const std::function<void(std::unique_ptr<comm::Group>)>& body);

}  // namespace forebay::test
