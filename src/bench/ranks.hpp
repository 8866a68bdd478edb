// The ranks of a benchmark: common starts, times of the slowest rank, and waits that use no CPU.

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

    /// Waits asleep, so that the cores are free for other ranks and the agent.
    void rest();
    /// On the first `count` ranks: these ranks; null on the other ranks. Collective.
    std::unique_ptr<Ranks> first(int count);

    Result<> agree(const Result<>& own_result) { return comm::agree(*group_, own_result); }
    double max(double number);
    double min(double number) { return -max(-number); }
    /// The text of rank 0.
    std::string broadcast(const std::string& text);
    std::vector<std::uint64_t> gather_on_node(std::uint64_t own_number);

    /// Seconds from the first rank's start to the last rank's end, after a barrier. A rank's wait for its core counts.
    template <class Work>
    Result<double> timed(Work&& work) {
        group_->barrier();
        const auto start = sys::Clock::now();
        const Result<> own_result = work();
        const auto end = sys::Clock::now();
        FB_TRY(agree(own_result));
        return span(start, end);
    }
    /// From the first start to the last end of all ranks, in seconds. Clocks are only compared on one machine.
    double span(sys::Clock::time_point start, sys::Clock::time_point end);

private:
    MPI_Comm comm_;
    std::unique_ptr<comm::Group> group_, node_;
};

}  // namespace forebay::bench
