// When the batch system will end this job: what its environment or its commands say.

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
    std::optional<std::int64_t> unix_seconds;  // empty: no limit is known
    std::string source;                        // who said so, or why nobody did
    bool in_job = false;  // a batch system started this process; if it sets a limit, the limit should be known
};

/// The value of an environment variable; empty where there is none.
using Environment = std::function<std::string(const char* name)>;
/// What a command prints.
using Ask = std::function<Result<std::string>(const std::vector<std::string>& command)>;

/// Ends of jobs are between these, in seconds since 1970: the years 2001 to 2200. A duration, milliseconds and what
/// overflows lie outside.
inline constexpr std::int64_t job_end_min = 1'000'000'000, job_end_max = 7'258'118'400;

/// Asks FOREBAY_JOB_END (seconds since 1970), SLURM_JOB_END_TIME, `squeue` and `qstat -f`, and takes the first answer. 0
/// in a variable means "not known". Any other FOREBAY_JOB_END that is no end of a job is `refused`. Such a value of SLURM
/// counts as not known, and `source` says so. Slurm's controller ends the job by its own clock. `sdiag` prints that
/// clock, so the answer is in the time of this machine. The earliest end of all parts counts for a heterogeneous job.
Result<JobEnd> find_job_end(const Environment& environment, const Ask& ask, std::int64_t now_unix_seconds);

/// The time of `squeue -o %L`, "[[D-]HH:]MM:SS" or SS; nothing where it is none, as in UNLIMITED.
std::optional<std::int64_t> seconds_of(std::string_view clock);

/// The end of a running job as `qstat -f` of PBS Pro, OpenPBS or Torque tells it.
std::optional<std::int64_t> end_told_by_qstat(const std::string& text, std::int64_t now_unix_seconds);

}  // namespace forebay::sys
