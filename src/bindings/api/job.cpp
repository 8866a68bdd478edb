#include "bindings/api/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/attempt.hpp"
#include "core/base/units.hpp"
#include "core/sys/environment.hpp"
#include "core/sys/process.hpp"

namespace forebay {

namespace {

// Before the first durable save, the time of a drain is unknown. Closing a session, MPI_Finalize() and the launcher
// take seconds, whatever the size of the data.
constexpr std::chrono::seconds reserve_unknown{35}, reserve_to_end{10};

bool asks(const std::optional<node::Flagged>& flagged, Analysis::Action action) {
    return flagged && (flagged->actions & node::bit_of(action)) != 0;
}

std::string reason_of(const JobReport& report, const Job& job, bool by_condition) {
    std::vector<std::string> why;
    if (!job.stop && report.asks_to_save()) why.emplace_back("forebay stop --save");
    if (by_condition) why.push_back(fmt::format("the condition {}", job.condition));
    if (report.out_of_time())
        why.push_back(fmt::format("the job ends in {}, but {} are needed for a step, saving, draining and ending",
                                  show_seconds(job.seconds_left),
                                  show_seconds(static_cast<double>(report.needed_ms) / 1000)));
    if (report.asks_to_stop()) why.emplace_back("forebay stop");
    if (report.wishing_rank != JobReport::nothing)
        why.push_back(fmt::format("the application, on rank {}", report.wishing_rank));
    return fmt::format("{}", fmt::join(why, "; "));
}

}  // namespace

Job judge(const JobReport& report, const std::optional<node::Flagged>& flagged) {
    using Action = Analysis::Action;
    Job job;
    if (report.left_ms != JobReport::nothing) job.seconds_left = static_cast<double>(report.left_ms) / 1000;
    job.stop = report.out_of_time() || report.asks_to_stop() || report.wishing_rank != JobReport::nothing ||
               asks(flagged, Action::stop);
    job.save = job.stop || report.asks_to_save() || asks(flagged, Action::save);
    // A rank without memory for the texts must still decide like all other ranks.
    static_cast<void>(attempt([&] {
        if (flagged) {
            job.value = flagged->value;
            job.condition_step = flagged->step;
            job.condition = fmt::format("{}.{}, at step {}", flagged->stream, flagged->text, flagged->step);
        }
        job.reason = reason_of(report, job, asks(flagged, Action::stop) || asks(flagged, Action::save));
    }));
    return job;
}

JobState::JobState(JobWatch watch, const JobOptions& options, sys::JobEnd end,
                   std::optional<sys::Clock::time_point> ends_at)
    : options_(options), end_(std::move(end)), ends_at_(ends_at), watch_(std::move(watch)) {}

// At the end each stream is saved once more, and the drains follow each other.
double JobState::reserve_seconds(std::span<const describe::SavesSoFar> streams, double drain_seconds) const {
    const auto seconds = [](std::chrono::milliseconds given) { return std::chrono::duration<double>(given).count(); };
    if (options_.reserve.count() > 0) return seconds(options_.reserve) + drain_seconds;
    double needed = seconds(reserve_to_end);
    bool is_known = !streams.empty();
    for (const auto& saves : streams) {
        if (saves.durable > 0) needed += describe::seconds_to_durable(saves);
        else is_known = false;
    }
    return is_known ? needed : needed + seconds(reserve_unknown - reserve_to_end) + drain_seconds;
}

JobReport JobState::tell(sys::Clock::time_point now, std::int64_t unix_ms, std::span<const describe::SavesSoFar> saves,
                         double drain_seconds, std::string& problem) {
    if (calls_ > 0)
        steps_ms_[calls_ % steps_ms_.size()] =
            std::chrono::duration_cast<std::chrono::milliseconds>(now - last_call_).count();
    last_call_ = now;
    ++calls_;
    auto news = watch_.take();
    problem.swap(news.problem);  // whatever else fails, a request that was taken is not lost
    JobReport report;
    report.requests = (news.save ? 1 : 0) + (news.stop ? 2 : 0);
    if (ends_at_ || end_.unix_seconds) {
        // A duration from the opening uses the steady clock, since the system clock may be set meanwhile.
        const auto left_ms = ends_at_ ? std::chrono::duration_cast<std::chrono::milliseconds>(*ends_at_ - now).count()
                                      : *end_.unix_seconds * 1000 - unix_ms;
        // A limit in the past is 0: -1 means that no limit is known.
        report.left_ms = std::max<std::int64_t>(0, left_ms);
        report.needed_ms = *std::ranges::max_element(steps_ms_) +
                           static_cast<std::int64_t>(reserve_seconds(saves, drain_seconds) * 1000);
    }
    return report;
}

namespace {

// squeue and qstat ask a server that may be busy.
constexpr std::chrono::seconds ask_max{20};

}  // namespace

Result<sys::JobEnd> end_of_job(const JobOptions& options, std::int64_t opened_unix_ns) {
    constexpr std::int64_t ns_per_second = 1'000'000'000;
    if (options.wall_time.count() > 0) {
        const auto end_ns = opened_unix_ns + std::chrono::nanoseconds(options.wall_time).count();
        return sys::JobEnd{end_ns / ns_per_second, "job.wall_time"};
    }
    return sys::find_job_end(
        sys::environment_value, [](const auto& command) { return sys::output_of(command, ask_max); },
        sys::unix_ns() / ns_per_second);
}

std::int64_t unix_ns_of(const sys::JobEnd& end) {
    constexpr auto seconds_max = std::numeric_limits<std::int64_t>::max() / 1'000'000'000;
    // A far end would overflow as nanoseconds.
    return end.unix_seconds ? std::min(*end.unix_seconds, seconds_max) * 1'000'000'000 : 0;
}

// Ignores a bad value of FOREBAY_JOB_END: job() returns the error.
std::int64_t told_end_of_job(const JobOptions& options, std::int64_t opened_unix_ns) {
    if (options.wall_time.count() > 0) return opened_unix_ns + std::chrono::nanoseconds(options.wall_time).count();
    const auto nobody = [](const auto&) { return Result<std::string>(Error{ErrorKind::unsupported, "not asked"}); };
    const auto end = sys::find_job_end(sys::environment_value, nobody, 0);
    return end ? unix_ns_of(*end) : 0;
}

}  // namespace forebay
