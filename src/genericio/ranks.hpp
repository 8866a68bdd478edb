// Who uses a file: one process, or the ranks of a communicator.

#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "comm/group.hpp"
#include "forebay/forebay.hpp"

namespace forebay::genericio {

struct Ranks {
    std::shared_ptr<comm::Group> world;
    /// Equal for communicators of the same processes in the same order; empty for a process alone.
    std::string key;
    /// A session over them. Collective.
    std::function<Result<Session>(const Options&)> open;
    bool is_grid = false;  // of a Cartesian communicator
    std::array<std::uint64_t, 3> dims{1, 1, 1}, coords{};

    bool is_first() const { return world->rank() == 0; }
};

Ranks alone();

/// `work` of the first rank; its error on every rank. Collective.
template <class Work>
Result<> by_first(const Ranks& ranks, Work&& work) {
    return comm::agree(*ranks.world, ranks.is_first() ? Result<>(work()) : Result<>());
}

}  // namespace forebay::genericio
