// The ranks that opened a file together, and the work of their first rank for all of them.

#pragma once

#include <memory>
#include <string>

#include "core/base/try.hpp"
#include "core/comm/group.hpp"
#include "core/sys/store.hpp"

namespace forebay::made {

/// One process, or the ranks of a communicator.
struct FileRanks {
    std::shared_ptr<comm::Group> world;
    /// Equal for communicators of the same processes in the same order. Empty for a single process.
    std::string key;

    bool is_first() const { return world->rank() == 0; }
};

/// alone: files that end with the process. by_ranks: files that end with MPI.
enum class Which { alone, by_ranks };
inline bool is_of(Which which, const FileRanks& ranks) { return ranks.key.empty() == (which == Which::alone); }

/// The first rank does `work`. Every rank gets its error. Collective.
template <class Work>
Result<> on_first_rank(const FileRanks& ranks, Work&& work) {
    return comm::agree(*ranks.world, ranks.is_first() ? Result<>(work()) : Result<>());
}

/// True if the first rank sees the path. Every rank gets its answer. Collective.
inline Result<bool> exists_on_first_rank(const FileRanks& ranks, const std::string& path) {
    bool exists = false;
    FB_TRY(on_first_rank(ranks, [&]() -> Result<> {
        FB_TRY_ASSIGN(is_there, sys::posix_store().exists(path));
        exists = is_there;
        return {};
    }));
    return ranks.world->max(exists ? 1 : 0) != 0;
}

}  // namespace forebay::made
