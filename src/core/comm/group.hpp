// The other ranks, as an interface: no others, threads as ranks (tests), or MPI (comm/mpi_group). All ranks of the
// group must make each call except rank(), size() and check(), in the same order.

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
    /// Element-wise maximum or sum over all ranks; every rank gets it.
    virtual void max(std::span<std::int64_t> numbers) = 0;
    virtual void sum(std::span<std::int64_t> numbers) = 0;
    /// Every rank's `own_bytes` (equal sizes), in rank order, into `all`.
    virtual void gather_all(std::span<const std::byte> own_bytes, std::span<std::byte> all) = 0;
    virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
    /// New groups of the ranks with equal colour, ordered by rank; nullptr for a negative colour.
    virtual std::unique_ptr<Group> split(int colour) = 0;
    /// New groups of the ranks that share memory.
    virtual std::unique_ptr<Group> split_shared() = 0;

    /// `refused` if no other call can be made: before MPI_Init or after MPI_Finalize. Local.
    virtual Result<> check() const { return {}; }

    std::int64_t max(std::int64_t number);
    std::int64_t sum(std::int64_t number);
    /// Byte strings of any sizes from every rank, in rank order. If a rank lacks the memory, every rank gets the error.
    Result<std::vector<std::vector<std::byte>>> gather_all_sized(std::span<const std::byte> own_bytes);
    Result<> broadcast_sized(std::vector<std::byte>& bytes, int root);
    Result<> broadcast_sized(std::string& text, int root);
};

/// A group of one rank.
std::unique_ptr<Group> alone();

/// Every rank gets the error of the lowest failing rank, so that no rank waits for a rank that left. The text contains
/// that rank, once. Needs memory only for the text. Collective.
Result<> agree(Group& group, const Result<>& own_outcome);

/// The same with the result of `work`, a Result<> or nothing; an exception is this rank's error. Put work between two
/// calls of a group in here unless it cannot throw: the other ranks would wait for a rank that left by an exception.
template <std::invocable Work>
Result<> agree(Group& group, Work&& work) {
    return agree(group, Result<>(attempt(std::forward<Work>(work))));
}

/// The world cut into nodes. `leaders` holds one rank of each node, ordered by world rank; nullptr on all other ranks.
struct Topology {
    std::unique_ptr<Group> world;
    std::unique_ptr<Group> machine;  // the ranks that share memory, in one or more virtual nodes
    std::unique_ptr<Group> node;
    std::unique_ptr<Group> leaders;
    std::uint32_t node_index = 0;
    std::uint32_t nodes = 1;
    std::uint32_t virtual_index = 0;        // number of this node among the machine's virtual nodes
    std::vector<std::uint32_t> node_ranks;  // world ranks of this node, ascending

    bool leads() const { return node->rank() == 0; }
};

/// Cuts `world` by shared memory, then each machine into `virtual_nodes` parts of neighbouring ranks, at most one part
/// for each rank. Collective.
Result<Topology> find_topology(std::unique_ptr<Group> world, int virtual_nodes);

}  // namespace forebay::comm
