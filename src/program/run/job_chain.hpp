// The chain of `forebay job --chain`: submits the next job of Slurm if this job made progress.
//
//   RUN/.continue   the session's mark: the time limit ended the simulation before it was done
//   RUN/.chain      "JOB COUNT": the job that was submitted, and the number of jobs in a row without progress before it

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/format/lineage.hpp"
#include "forebay/result.hpp"

namespace forebay::cli {

struct ChainPlan {
    std::string run;
    std::uint64_t limit = 0;           // jobs in a row without progress that get a successor
    std::vector<std::string> options;  // more options for sbatch
};

/// How the command ended.
struct CommandEnd {
    int code = 0;
    bool by_signal = false;  // this job received a signal to end
    bool at_limit = false;   // the time limit of the job was near or over
};

class Chain {
public:
    /// Looks at the run before the command starts, and removes an old `.continue`. `refused` outside of a job of Slurm,
    /// and in jobs whose options cannot be repeated.
    static Result<Chain> begin(const ChainPlan& plan);

    /// Decides when everything is committed. Submits the next job. Returns a text for people.
    Result<std::string> finish(const CommandEnd& end);

private:
    /// The newest living snapshot of each stream: its line and step.
    using Newest = std::map<std::string, std::pair<format::Line, std::int64_t>>;
    explicit Chain(ChainPlan plan) : plan_(std::move(plan)) {}
    Result<Newest> newest() const;
    Result<std::string> submit(std::uint64_t count);

    ChainPlan plan_;
    Newest before_;
    std::uint64_t without_progress_ = 0;  // before this job
    bool is_successor_ = false;           // the chain has submitted this job
};

/// The words of sbatch that repeat a job: `shown` is the text of `scontrol show job`. Options of the first command line
/// are in it. `missing` if the text has no script.
Result<std::vector<std::string>> sbatch_words(const std::string& shown,
                                              const std::function<std::string(const char*)>& environment,
                                              const std::vector<std::string>& more);

}  // namespace forebay::cli
