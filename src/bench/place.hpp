// Where a benchmark writes: a run at the target and a directory beside the staged snapshots for its limits.
//
// Owner: rank 0's object removes what it made.

#pragma once

#include <string>

#include "bench/bench.hpp"
#include "forebay/mpi.hpp"

namespace forebay::bench {

class BenchPlace {
public:
    /// Collective.
    static Result<BenchPlace> make(Ranks& ranks, const BenchOptions& options);
    BenchPlace(BenchPlace&& other) noexcept;
    BenchPlace& operator=(BenchPlace&&) = delete;
    ~BenchPlace();

    const std::string& run() const { return run_; }
    /// On the node, in memory where the staged snapshots are.
    std::string on_node(const std::string& name) const { return node_ + "/" + name; }
    /// On the file system of the run.
    std::string at_target(const std::string& name) const { return run_ + "/" + name; }

    /// One slot, every snapshot kept, no views: nothing goes on that is not measured.
    Result<Session> open(Ranks& ranks, std::uint64_t rate_bytes_per_second = 0, double slowdown_percent_max = 0) const;
    static StreamOptions stream_options();

    /// Removes all snapshots of the stream. By rank 0, between measurements.
    Result<> remove_snapshots(const std::string& stream) const;

private:
    BenchPlace() = default;

    std::string run_, staging_, node_;
    AgentOptions agent_;
    int copy_threads_ = 0;
    bool owns_run_ = false, owns_node_ = false;
};

}  // namespace forebay::bench
