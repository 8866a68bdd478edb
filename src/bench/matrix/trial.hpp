// Measures one row once: dumps, reads, restarts, metadata. At the end everything that it made is removed.
//
// Ranks: all calls are collective over the ranks of the row; errors are agreed.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/matrix/setting.hpp"
#include "bench/ranks.hpp"

namespace forebay::bench {

/// Measurements of a row by the names of docs/explanation/benchmarks.md, in order of measurement.
using Samples = std::vector<std::pair<std::string, std::vector<double>>>;
void add_sample(Samples& samples, const std::string& name, double value);
const std::vector<double>* find_samples(const Samples& samples, const std::string& name);

struct RowResult {
    RowSetting setting;
    std::string skipped = {};  // the reason; "" if it was measured
    std::vector<std::string> remarks = {};
    Samples samples = {};
    int ranks = 0, nodes = 0, ranks_per_node = 0;
    std::uint64_t bytes = 0;  // of a dump, of all ranks: the last dump
};

/// Places of a trial: directories of the benchmark.
struct TrialPlace {
    std::vector<std::string> targets;  // one in each given directory
    std::string staging;               // of this node
    std::string name;                  // of the row and its repeat, for files in these directories
    /// The job whose last dump ends by a kill; it measures nothing else.
    bool is_victim = false;
    std::string victim;  // argument of `--victim`, so that it writes to the same place
};

Result<> run_trial(Ranks& ranks, const TrialPlace& place, RowResult& result);

/// The metadata phases of mdtest, in an existing directory, by all ranks.
Result<> run_tree(Ranks& ranks, const Tree& tree, const std::string& directory, Samples& samples);

/// Starts the same dumps as a separate job, which kills itself in the last dump, and waits for its end. Called by rank
/// 0.
Result<> run_victim(const RowSetting& setting, int ranks, const TrialPlace& place);
/// In that job: kills this process (SIGKILL) after this time.
Result<> be_killed_in(std::chrono::duration<double> time);
/// The file that shows that the victim has begun its last dump.
std::string victim_mark(const TrialPlace& place);

}  // namespace forebay::bench
