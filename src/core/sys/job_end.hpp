// The time at which the batch system will end this job, from its environment or its commands.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::sys {

struct JobEnd {
    std::optional<std::int64_t> unix_seconds;  // empty: unknown
    std::string source;                        // where it comes from, or why it is unknown
    bool in_job = false;  // a batch system started this process; if it sets a limit, the limit should be known
};

/// The value of an environment variable; empty if it is unset.
using Environment = std::function<std::string(const char* name)>;
/// Runs a command and returns its output.
using Ask = std::function<Result<std::string>(const std::vector<std::string>& command)>;

/// Bounds of the end of a job, in seconds since 1970: the years 2001 to 2200. Durations, milliseconds and overflows lie
/// outside.
inline constexpr std::int64_t job_end_min = 1'000'000'000, job_end_max = 7'258'118'400;

/// Tries FOREBAY_JOB_END (seconds since 1970), SLURM_JOB_END_TIME, `squeue` and `qstat -f`, in this order. 0 in a
/// variable means "not known". Any other FOREBAY_JOB_END outside the bounds is `refused`. Such a SLURM_JOB_END_TIME
/// counts as not known, and `source` reports it. Slurm's controller ends the job by its own clock. `sdiag` prints that
/// clock, so the answer is in the time of this machine. The earliest end of all parts counts for a heterogeneous job.
Result<JobEnd> find_job_end(const Environment& environment, const Ask& ask, std::int64_t now_unix_seconds);

/// The time of `squeue -o %L`, "[[D-]HH:]MM:SS" or SS; empty for other texts such as UNLIMITED.
std::optional<std::int64_t> seconds_of(std::string_view clock);

/// The end of a running job from the output of `qstat -f` of PBS Pro, OpenPBS or Torque.
std::optional<std::int64_t> end_told_by_qstat(const std::string& text, std::int64_t now_unix_seconds);

}  // namespace forebay::sys
