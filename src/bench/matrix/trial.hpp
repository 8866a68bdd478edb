// One row measured once: dumps, reads, restarts, metadata. What is made is removed at the end of it.
//
// Ranks: all calls are collective over the ranks of the row; errors are agreed.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/matrix/setting.hpp"
#include "bench/ranks.hpp"

namespace forebay::bench {

/// What was measured of a row, under the names of docs/explanation/benchmarks.md, in the order in which it came.
using Samples = std::vector<std::pair<std::string, std::vector<double>>>;
void add_sample(Samples& samples, const std::string& name, double value);
const std::vector<double>* find_samples(const Samples& samples, const std::string& name);

struct RowResult {
    RowSetting setting;
    std::string skipped = {};  // why; "" where it was measured
    std::vector<std::string> remarks = {};
    Samples samples = {};
    int ranks = 0, nodes = 0, ranks_per_node = 0;
    std::uint64_t bytes = 0;  // of a dump, of all ranks: the last one
};

/// Where a trial writes: directories of the bench's own.
struct TrialPlace {
    std::vector<std::string> targets;  // one in each directory that was given
    std::string staging;               // of this node
    std::string name;                  // of the row and its repeat, for what is made in these
    /// The job whose last dump ends by a kill, and nothing else of it.
    bool is_victim = false;
    std::string victim;  // what `--victim` is told, to write at the same place
};

Result<> run_trial(Ranks& ranks, const TrialPlace& place, RowResult& result);

/// The metadata phases of mdtest, in a directory that exists, by all ranks.
Result<> run_tree(Ranks& ranks, const Tree& tree, const std::string& directory, Samples& samples);

/// Starts the same dumps as a job of its own, which kills itself in the last one, and waits for its end. By rank 0.
Result<> run_victim(const RowSetting& setting, int ranks, const TrialPlace& place);
/// In that job: this process is killed (SIGKILL) when so much time has gone.
Result<> be_killed_in(std::chrono::duration<double> time);
/// What says that the victim has come to its last dump.
std::string victim_mark(const TrialPlace& place);

}  // namespace forebay::bench
