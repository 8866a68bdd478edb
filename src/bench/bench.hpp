// The benchmarks of `forebay bench`, one file each. Each measures its limit (memcpy, a raw write, a raw read) in the
// same run, alternating with its subject, and reports the ratio of both rates.
//
// Ranks: all ranks call each; rank 0 reports. An error is equal on all ranks.

#pragma once

#include <cstdint>
#include <string>

#include "bench/ranks.hpp"
#include "core/terminal/command_line.hpp"
#include "forebay/options.hpp"
#include "forebay/result.hpp"

namespace forebay::bench {

struct BenchOptions {
    std::uint64_t bytes_per_rank = 266'000'000;
    int repeats = 7;
    std::string run;      // parent of a new run, removed at the end; "": $TMPDIR or /var/tmp
    std::string staging;  // parent of a new directory on each node; "": /dev/shm
    bool json = false;
    int variables = 0;
    int from = 0;  // ranks that save; 0: all
    std::string to;
    int ranks_per_node = 12;
    int nodes = 8100;
    std::uint64_t block_bytes = AgentOptions{}.block_bytes;
    int in_flight = AgentOptions{}.in_flight;
    std::string file;
    double error = 0;
    int copy_threads = 0;  // Options::copy_threads
    double slowdown_percent_max = 5;
};

/// `forebay bench`.
void add_bench(cli::CommandLine& line);
/// `forebay bench run`: options that combine freely, with tables of the results (directory `matrix`).
void add_run(cli::Verb& bench);

Result<> bench_save(Ranks& ranks, const BenchOptions& options);
/// Many small variables: the cost of planning and sealing beside the copy.
Result<> bench_save_variables(Ranks& ranks, const BenchOptions& options);
Result<> bench_drain(Ranks& ranks, const BenchOptions& options);
Result<> bench_pace(Ranks& ranks, const BenchOptions& options);
Result<> bench_restart(Ranks& ranks, const BenchOptions& options);
/// From one number of ranks to other numbers.
Result<> bench_restart_ranks(Ranks& ranks, const BenchOptions& options);
/// The cost of recording timings.
Result<> bench_timings(Ranks& ranks, const BenchOptions& options);
Result<> bench_plan(Ranks& ranks, const BenchOptions& options);
Result<> bench_compress(Ranks& ranks, const BenchOptions& options);

}  // namespace forebay::bench
