// The ranks of a benchmark: how they start together, how long the slowest takes, and how they wait without disturbing.

#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "core/base/try.hpp"
#include "core/comm/group.hpp"
#include "core/sys/clock.hpp"

namespace forebay::bench {

class Ranks {
public:
    /// Duplicates `comm`. Collective over it.
    explicit Ranks(MPI_Comm comm);

    int rank() const { return group_->rank(); }
    int size() const { return group_->size(); }
    MPI_Comm comm() const { return comm_; }
    comm::Group& group() { return *group_; }
    /// The ranks of this machine.
    comm::Group& node() { return *node_; }

    /// Waits asleep, so that the cores are free for what another rank or an agent does meanwhile.
    void rest();
    /// The first `count` ranks, on those; nothing on the others. Collective.
    std::unique_ptr<Ranks> first(int count);

    Result<> agree(const Result<>& own_result) { return comm::agree(*group_, own_result); }
    double max(double number);
    double min(double number) { return -max(-number); }
    /// Rank 0's.
    std::string broadcast(const std::string& text);
    std::vector<std::uint64_t> gather_on_node(std::uint64_t own_number);

    /// Seconds from the start of the first rank to the end of the last, after a barrier: a rank that the kernel lets
    /// wait for its core counts with its waiting.
    template <class Work>
    Result<double> timed(Work&& work) {
        group_->barrier();
        const auto start = sys::Clock::now();
        const Result<> own_result = work();
        const auto end = sys::Clock::now();
        FB_TRY(agree(own_result));
        return span(start, end);
    }
    /// From the first start to the last end of all ranks, in seconds; clocks are compared on one machine only.
    double span(sys::Clock::time_point start, sys::Clock::time_point end);

private:
    MPI_Comm comm_;
    std::unique_ptr<comm::Group> group_, node_;
};

}  // namespace forebay::bench
