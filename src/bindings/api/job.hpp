// The job of a session: when it ends, what its first rank knows of it, and what all ranks make of it.

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

/// What one maximum over all ranks carries; each element is the least there is where a rank has nothing to say.
struct JobReport {
    static constexpr std::int64_t nothing = -1;
    std::int64_t wishing_rank = nothing;
    std::int64_t requests = nothing;  // 1 save, 2 stop
    std::int64_t left_ms = nothing;   // and 0 where the limit has passed
    std::int64_t needed_ms = nothing;
    std::int64_t condition = nothing;  // Conditions::urgency()

    bool out_of_time() const { return left_ms != nothing && left_ms <= needed_ms; }
    bool asks_to_save() const { return requests > 0 && (requests & 1) != 0; }
    bool asks_to_stop() const { return requests > 0 && (requests & 2) != 0; }
};

/// The same words on every rank; `flagged` where the report has a condition.
Job judge(const JobReport& report, const std::optional<node::Flagged>& flagged = {});

/// When the job ends, and who says so. Asks a batch system if neither options nor environment tell it.
Result<sys::JobEnd> end_of_job(const JobOptions& options, std::int64_t opened_unix_ns);
/// 0: unknown.
std::int64_t unix_ns_of(const sys::JobEnd& end);

/// When the job ends as far as options or environment tell it, without asking a batch system; 0: they do not.
std::int64_t told_end_of_job(const JobOptions& options, std::int64_t opened_unix_ns);

/// Of the world's first rank.
class JobState {
public:
    /// `ends_at`: the end by the steady clock, where it is a duration from the opening on. Else `end` counts.
    JobState(JobWatch watch, const JobOptions& options, sys::JobEnd end,
             std::optional<sys::Clock::time_point> ends_at = {});

    const sys::JobEnd& end() const { return end_; }
    /// At the end of a step, which is `now` and `unix_ms`. `saves`: of each stream; `drain_seconds`: the mean so far.
    JobReport tell(sys::Clock::time_point now, std::int64_t unix_ms, std::span<const describe::SavesSoFar> saves,
                   double drain_seconds, std::string& problem);
    /// As JobWatch::drop().
    void drop(const node::Flagged& flagged) { watch_.drop(flagged); }

private:
    JobOptions options_;
    sys::JobEnd end_;
    std::optional<sys::Clock::time_point> ends_at_;
    JobWatch watch_;
    /// For saving, draining and ending, beside a step.
    double reserve_seconds(std::span<const describe::SavesSoFar> streams, double drain_seconds) const;

    std::array<std::int64_t, 10> steps_ms_{};  // the last ones
    std::size_t calls_ = 0;
    sys::Clock::time_point last_call_;
};

}  // namespace forebay
