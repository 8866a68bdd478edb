// Where a benchmark writes: a new run in a directory at the target, and a new directory on the node for what is staged
// and for its limits. Whatever else is there, as runs of users, stays as it is.
//
// Owner: what a rank's object has made it removes, also where the benchmark has failed.

#pragma once

#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "bench/own_directory.hpp"
#include "forebay/mpi.hpp"

namespace forebay::bench {

/// $TMPDIR, else /var/tmp.
std::string temporary_directory();
/// Where snapshots are staged unless somebody says otherwise.
inline constexpr const char* default_staging = "/dev/shm";

/// Removes what dead benchmarks have left in a directory, if this rank `looks`; rank 0 tells what it has found.
void tell_leftovers(Ranks& ranks, const std::string& directory, bool looks);

class BenchPlace {
public:
    /// Collective.
    static Result<BenchPlace> make(Ranks& ranks, const BenchOptions& options);

    const std::string& run() const { return run_; }
    /// On the node, in memory where the staged snapshots are.
    std::string on_node(const std::string& name) const { return node_ + "/" + name; }
    /// On the file system of the run.
    std::string at_target(const std::string& name) const { return run_ + "/" + name; }

    /// One slot, every snapshot kept, no views: nothing goes on that is not measured.
    Result<Session> open(Ranks& ranks, std::uint64_t rate_bytes_per_second = 0, double slowdown_percent_max = 0,
                         bool timings = true) const;
    static StreamOptions stream_options();

    /// Removes all snapshots of the stream. By rank 0, between measurements.
    Result<> remove_snapshots(const std::string& stream) const;

private:
    BenchPlace() = default;

    std::string run_, node_;
    AgentOptions agent_;
    int copy_threads_ = 0;
    std::vector<OwnDirectory> created_;  // by this rank
};

}  // namespace forebay::bench
