// The other ranks, as an interface: alone, threads as ranks (tests), or MPI (comm/mpi_group).
// Every call but rank() and size() is collective over the group, in the same order on all ranks.

#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/attempt.hpp"
#include "forebay/result.hpp"

namespace forebay::comm {

class Group {
public:
    virtual ~Group() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    virtual void barrier() = 0;
    /// Element-wise maximum, minimum or sum over all ranks; every rank gets it.
    virtual void max(std::span<std::int64_t> numbers) = 0;
    virtual void sum(std::span<std::int64_t> numbers) = 0;
    /// Every rank's `own_bytes` (equal sizes), in rank order, into `all`.
    virtual void gather_all(std::span<const std::byte> own_bytes, std::span<std::byte> all) = 0;
    virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
    /// New groups of the ranks with equal colour, ordered by rank; a negative colour gives nullptr.
    virtual std::unique_ptr<Group> split(int colour) = 0;
    /// New groups of the ranks that share memory.
    virtual std::unique_ptr<Group> split_shared() = 0;

    /// `refused` where no other call can be made any more, or yet: outside of MPI_Init and MPI_Finalize. Local.
    virtual Result<> check() const { return {}; }

    std::int64_t max(std::int64_t number);
    std::int64_t sum(std::int64_t number);
    /// Byte strings of any sizes from every rank, in rank order. A rank that has no memory for them is every rank's
    /// error.
    Result<std::vector<std::vector<std::byte>>> gather_all_sized(std::span<const std::byte> own_bytes);
    Result<> broadcast_sized(std::vector<std::byte>& bytes, int root);
    Result<> broadcast_sized(std::string& text, int root);
};

/// A group of one.
std::unique_ptr<Group> alone();

/// Every rank gets the error of the lowest rank that has one, so that no rank waits for one that left; the text
/// names that rank, once. Needs no memory but for the text. Collective.
Result<> agree(Group& group, const Result<>& own_outcome);

/// The same of what `work` answers, a Result<> or nothing; what it throws is this rank's error. Work between two calls
/// of a group belongs in here unless it can throw nothing: a rank that left by an exception would be waited for.
template <std::invocable Work>
Result<> agree(Group& group, Work&& work) {
    return agree(group, Result<>(attempt(std::forward<Work>(work))));
}

/// The world cut into nodes. `leaders` holds one rank a node (nullptr on the others), ordered by world rank.
struct Topology {
    std::unique_ptr<Group> world;
    std::unique_ptr<Group> machine;  // the ranks that share memory, whatever nodes they are cut into
    std::unique_ptr<Group> node;
    std::unique_ptr<Group> leaders;
    std::uint32_t node_index = 0;
    std::uint32_t nodes = 1;
    std::uint32_t virtual_index = 0;        // which of the machine's virtual nodes this is
    std::vector<std::uint32_t> node_ranks;  // world ranks of this node, ascending

    bool leads() const { return node->rank() == 0; }
};

/// Cuts `world` by shared memory, then each machine into `virtual_nodes` parts of neighbouring ranks (at most
/// one a rank). Collective.
Result<Topology> find_topology(std::unique_ptr<Group> world, int virtual_nodes);

}  // namespace forebay::comm
