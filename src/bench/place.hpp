// The places of a benchmark: a new run in a directory at the target, and a new directory on the node for staging and
// for the limits. All other files, such as users' runs, stay unchanged.
//
// Owner: a rank's object removes everything that it made, also after a failure.

#pragma once

#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "bench/own_directory.hpp"
#include "forebay/mpi.hpp"

namespace forebay::bench {

/// $TMPDIR, else /var/tmp.
std::string temporary_directory();
/// The default place of staged snapshots.
inline constexpr const char* default_staging = "/dev/shm";

/// Removes leftovers of dead benchmarks in a directory, if this rank `looks`; rank 0 prints them.
void tell_leftovers(Ranks& ranks, const std::string& directory, bool looks);

class BenchPlace {
public:
    /// Collective.
    static Result<BenchPlace> make(Ranks& ranks, const BenchOptions& options);

    const std::string& run() const { return run_; }
    /// On the node, in the memory of the staged snapshots.
    std::string on_node(const std::string& name) const { return node_ + "/" + name; }
    /// On the file system of the run.
    std::string at_target(const std::string& name) const { return run_ + "/" + name; }

    /// One slot, every snapshot kept, no views: no unmeasured work.
    Result<Session> open(Ranks& ranks, std::uint64_t rate_bytes_per_second = 0, double slowdown_percent_max = 0,
                         bool timings = true) const;
    static StreamOptions stream_options();

    /// Removes all snapshots of the stream. Called by rank 0, between measurements.
    Result<> remove_snapshots(const std::string& stream) const;

private:
    BenchPlace() = default;

    std::string run_, node_;
    AgentOptions agent_;
    int copy_threads_ = 0;
    std::vector<OwnDirectory> created_;  // by this rank
};

}  // namespace forebay::bench
