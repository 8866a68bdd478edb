#include "api/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "api/state.hpp"
#include "base/try.hpp"
#include "base/units.hpp"
#include "catalog/names.hpp"
#include "sys/process.hpp"

namespace forebay {

namespace {

std::string reason_of(const JobReport& report, const Job& job) {
    if (!job.stop) return job.save ? "forebay stop --save" : "";
    std::vector<std::string> why;
    if (report.out_of_time())
        why.push_back(fmt::format("the job ends in {}, and {} are needed for a step, saving, draining and ending",
                                  show_seconds(job.seconds_left),
                                  show_seconds(static_cast<double>(report.needed_ms) / 1000)));
    if (report.asks_to_stop()) why.emplace_back("forebay stop");
    if (report.wishing_rank != JobReport::nothing)
        why.push_back(fmt::format("the application, on rank {}", report.wishing_rank));
    return fmt::format("{}", fmt::join(why, "; "));
}

}  // namespace

Job judge(const JobReport& report) {
    Job job;
    if (report.left_ms != JobReport::nothing) job.seconds_left = static_cast<double>(report.left_ms) / 1000;
    job.stop = report.out_of_time() || report.asks_to_stop() || report.wishing_rank != JobReport::nothing;
    job.save = job.stop || report.asks_to_save();
    // A rank without memory for the words must do the same as the others.
    static_cast<void>(attempt([&] { job.reason = reason_of(report, job); }));
    return job;
}

JobState::JobState(JobWatch watch, const JobOptions& options, JobEnd end)
    : options_(options), end_(std::move(end)), watch_(std::move(watch)) {}

JobReport JobState::tell(sys::Clock::time_point now, std::int64_t unix_ms, double drain_seconds, std::string& problem) {
    if (calls_ > 0)
        steps_ms_[calls_ % steps_ms_.size()] =
            std::chrono::duration_cast<std::chrono::milliseconds>(now - last_call_).count();
    last_call_ = now;
    ++calls_;
    auto found = watch_.take();
    problem.swap(found.problem);  // whatever else fails, a request that was taken is not lost
    JobReport report;
    report.requests = (found.save ? 1 : 0) + (found.stop ? 2 : 0);
    if (end_.unix_seconds) {
        report.left_ms = std::max<std::int64_t>(0, *end_.unix_seconds * 1000 - unix_ms);
        report.needed_ms = options_.reserve.count() + *std::ranges::max_element(steps_ms_) +
                           static_cast<std::int64_t>(drain_seconds * 1000);
    }
    return report;
}

namespace {

// squeue and qstat ask a server that may be busy.
constexpr std::chrono::seconds ask_max{20};

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

Result<JobEnd> end_of_job(const JobOptions& options, std::int64_t opened_unix_ns) {
    constexpr std::int64_t ns_per_second = 1'000'000'000;
    if (options.wall_time.count() > 0) {
        const auto end_ns = opened_unix_ns + std::chrono::nanoseconds(options.wall_time).count();
        return JobEnd{end_ns / ns_per_second, "job.wall_time"};
    }
    return find_job_end(
        environment, [](const auto& command) { return sys::output_of(command, ask_max); },
        sys::unix_ns() / ns_per_second);
}

}  // namespace

Result<> SessionState::look_at_job() {
    FB_TRY_ASSIGN(end, end_of_job(options.job, opened_unix_ns));
    const auto mark = options.run + "/" + catalog::continue_mark;
    FB_TRY(within(
        options.open_wait, mark, [mark, target = target_] { return target->remove(mark); }, say_));
    auto watch = JobWatch::start(target_, options.run);
    if (!watch)
        return because(watch.error(),
                       fmt::format("requests of forebay stop cannot be looked for: {}", watch.error().what),
                       "what is staged", "a later call tries again");
    job_ = std::make_unique<JobState>(std::move(*watch), options.job, std::move(end));
    if (job_->end().unix_seconds) {
        const auto left = static_cast<double>(*job_->end().unix_seconds) - static_cast<double>(sys::unix_ns()) * 1e-9;
        log([&] { return fmt::format("the job ends in {}, by {}", show_seconds(left), job_->end().source); });
    } else {
        log([&] { return fmt::format("no limit of the job is known: {}", job_->end().source); });
    }
    return {};
}

void SessionState::mark_to_continue() {
    const auto written = attempt([&] {
        const auto mark = options.run + "/" + catalog::continue_mark;
        return within(
            options.open_wait, mark,
            [mark, target = target_] {
                return sys::write_text_durable(*target, mark, "the limit of its job ended the simulation\n");
            },
            say_);
    });
    if (!written)
        log([&] {
            return fmt::format(
                "{}/{} is not written, so a script that looks for it will not submit the next "
                "job: {}",
                options.run, catalog::continue_mark, written.error().line());
        });
}

Result<Job> SessionState::job(bool stop_wanted) {
    FB_TRY(check_open());
    auto& world = *topology.world;
    const bool first_rank = world.rank() == 0;
    if (!job_looked_) FB_TRY(comm::agree(world, [&] { return first_rank ? look_at_job() : Result<>(); }));
    job_looked_ = true;
    JobReport report;
    if (first_rank) {
        const auto& page = staging->control();
        const auto drains = static_cast<double>(std::max<std::uint64_t>(page.drains.load(), 1));
        std::string problem;
        constexpr std::int64_t ns_per_ms = 1'000'000;
        report = job_->tell(sys::Clock::now(), sys::unix_ns() / ns_per_ms,
                            static_cast<double>(page.drain_ns.load()) * 1e-9 / drains, problem);
        if (!problem.empty()) log([&] { return problem; });
    }
    if (stop_wanted) report.wishing_rank = world.rank();
    std::array<std::int64_t, 4> numbers{report.wishing_rank, report.requests, report.left_ms, report.needed_ms};
    world.max(numbers);
    report = {numbers[0], numbers[1], numbers[2], numbers[3]};
    const auto agreed = judge(report);
    if (agreed.save) log([&] { return fmt::format("save now{}: {}", agreed.stop ? " and end" : "", agreed.reason); });
    if (first_rank && report.out_of_time()) mark_to_continue();
    if (topology.leads()) step_clock_.step(staging->control(), sys::Clock::now());
    return agreed;
}

}  // namespace forebay
