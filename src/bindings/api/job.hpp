// The job of a session: its end, the facts that the first rank knows, and the decision for all ranks.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bindings/api/job_watch.hpp"
#include "core/describe/durable_time.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/job_end.hpp"
#include "forebay/forebay.hpp"
#include "forebay/options.hpp"
#include "path/node/flagged.hpp"

namespace forebay {

/// The numbers of one maximum over all ranks. `nothing` is the smallest value: a rank that has nothing to report.
struct JobReport {
    static constexpr std::int64_t nothing = -1;
    std::int64_t wishing_rank = nothing;
    std::int64_t requests = nothing;  // bits: 1 save, 2 stop
    std::int64_t left_ms = nothing;   // 0 if the limit has passed
    std::int64_t needed_ms = nothing;
    std::int64_t condition = nothing;  // Conditions::urgency()

    bool out_of_time() const { return left_ms != nothing && left_ms <= needed_ms; }
    bool asks_to_save() const { return requests > 0 && (requests & 1) != 0; }
    bool asks_to_stop() const { return requests > 0 && (requests & 2) != 0; }
};

/// The decision, with the same text on every rank. `flagged` is the condition of the report, if it has one.
Job judge(const JobReport& report, const std::optional<node::Flagged>& flagged = {});

/// The end of the job, and its source. Asks the batch system if neither options nor environment have it.
Result<sys::JobEnd> end_of_job(const JobOptions& options, std::int64_t opened_unix_ns);
/// Nanoseconds since 1970; 0: unknown.
std::int64_t unix_ns_of(const sys::JobEnd& end);

/// The end of the job from options or environment, without the batch system; 0: unknown.
std::int64_t told_end_of_job(const JobOptions& options, std::int64_t opened_unix_ns);

/// The first rank's knowledge of the job. Only on the world's first rank.
class JobState {
public:
    /// `ends_at`: the end by the steady clock, if the limit is a duration from the opening on. Else `end` counts.
    JobState(JobWatch watch, const JobOptions& options, sys::JobEnd end,
             std::optional<sys::Clock::time_point> ends_at = {});

    const sys::JobEnd& end() const { return end_; }
    /// Reports at the end of a step. The time is `now` on the steady clock, and `unix_ms`. `saves` has an entry for
    /// each stream. `drain_seconds` is the mean of drains so far. `problem` gets a text for the log, if a request
    /// cannot be removed.
    JobReport tell(sys::Clock::time_point now, std::int64_t unix_ms, std::span<const describe::SavesSoFar> saves,
                   double drain_seconds, std::string& problem);
    /// See JobWatch::drop().
    void drop(const node::Flagged& flagged) { watch_.drop(flagged); }

private:
    JobOptions options_;
    sys::JobEnd end_;
    std::optional<sys::Clock::time_point> ends_at_;
    JobWatch watch_;
    /// Time to leave for saving, draining and ending, beside a step.
    double reserve_seconds(std::span<const describe::SavesSoFar> streams, double drain_seconds) const;

    std::array<std::int64_t, 10> steps_ms_{};  // of the last ten steps
    std::size_t calls_ = 0;
    sys::Clock::time_point last_call_;
};

}  // namespace forebay
