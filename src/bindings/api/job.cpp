#include "bindings/api/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "bindings/api/state.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/process.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/raised.hpp"
#include "path/node/timing_ring.hpp"

namespace forebay {

namespace {

// Until a save of this job is durable nothing tells how long that takes. Closing a session, MPI_Finalize() and the
// launcher take seconds, whatever is saved.
constexpr std::chrono::seconds reserve_unknown{35}, reserve_to_end{10};

bool asks(const std::optional<node::Raised>& raised, Analysis::Action action) {
    return raised && (raised->actions & node::bit_of(action)) != 0;
}

std::string reason_of(const JobReport& report, const Job& job, bool by_condition) {
    std::vector<std::string> why;
    if (!job.stop && report.asks_to_save()) why.emplace_back("forebay stop --save");
    if (by_condition) why.push_back(fmt::format("the condition {}", job.condition));
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

Job judge(const JobReport& report, const std::optional<node::Raised>& raised) {
    using Action = Analysis::Action;
    Job job;
    if (report.left_ms != JobReport::nothing) job.seconds_left = static_cast<double>(report.left_ms) / 1000;
    job.stop = report.out_of_time() || report.asks_to_stop() || report.wishing_rank != JobReport::nothing ||
               asks(raised, Action::stop);
    job.save = job.stop || report.asks_to_save() || asks(raised, Action::save);
    // A rank without memory for the words must do the same as the others.
    static_cast<void>(attempt([&] {
        if (raised) {
            job.value = raised->value;
            job.condition_step = raised->step;
            job.condition = fmt::format("{}.{}, at step {}", raised->stream, raised->text, raised->step);
        }
        job.reason = reason_of(report, job, asks(raised, Action::stop) || asks(raised, Action::save));
    }));
    return job;
}

JobState::JobState(JobWatch watch, const JobOptions& options, sys::JobEnd end,
                   std::optional<sys::Clock::time_point> ends_at)
    : options_(options), end_(std::move(end)), ends_at_(ends_at), watch_(std::move(watch)) {}

// At the end each stream is saved once more, and one drain follows the other.
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
    auto found = watch_.take();
    problem.swap(found.problem);  // whatever else fails, a request that was taken is not lost
    JobReport report;
    report.requests = (found.save ? 1 : 0) + (found.stop ? 2 : 0);
    if (ends_at_ || end_.unix_seconds) {
        const auto left_ms = ends_at_ ? std::chrono::duration_cast<std::chrono::milliseconds>(*ends_at_ - now).count()
                                      : *end_.unix_seconds * 1000 - unix_ms;
        report.left_ms = std::max<std::int64_t>(0, left_ms);
        report.needed_ms = *std::ranges::max_element(steps_ms_) +
                           static_cast<std::int64_t>(reserve_seconds(saves, drain_seconds) * 1000);
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

Result<sys::JobEnd> end_of_job(const JobOptions& options, std::int64_t opened_unix_ns) {
    constexpr std::int64_t ns_per_second = 1'000'000'000;
    if (options.wall_time.count() > 0) {
        const auto end_ns = opened_unix_ns + std::chrono::nanoseconds(options.wall_time).count();
        return sys::JobEnd{end_ns / ns_per_second, "job.wall_time"};
    }
    return sys::find_job_end(
        environment, [](const auto& command) { return sys::output_of(command, ask_max); },
        sys::unix_ns() / ns_per_second);
}

}  // namespace

std::int64_t unix_ns_of(const sys::JobEnd& end) {
    constexpr auto seconds_max = std::numeric_limits<std::int64_t>::max() / 1'000'000'000;
    return end.unix_seconds ? std::min(*end.unix_seconds, seconds_max) * 1'000'000'000 : 0;
}

// A value of FOREBAY_JOB_END that is none is an error of job().
std::int64_t told_end_of_job(const JobOptions& options, std::int64_t opened_unix_ns) {
    if (options.wall_time.count() > 0) return opened_unix_ns + std::chrono::nanoseconds(options.wall_time).count();
    const auto nobody = [](const auto&) { return Result<std::string>(Error{ErrorKind::unsupported, "not asked"}); };
    const auto end = sys::find_job_end(environment, nobody, 0);
    return end ? unix_ns_of(*end) : 0;
}

Result<> SessionState::look_at_job() {
    FB_TRY_ASSIGN(end, end_of_job(options.job, opening.unix_ns));
    staging->control().job_ends_unix_ns = unix_ns_of(end);
    const auto mark = options.run + "/" + catalog::continue_mark;
    FB_TRY(within(
        options.open_wait, mark, [mark, target = target_] { return target->remove(mark); }, say_));
    // Shared with the thread that may hang in it.
    struct Kept {
        std::vector<node::Raised> all;
        std::string problem;
    };
    const auto kept = std::make_shared<Kept>();
    FB_TRY(within(
        options.open_wait, "the conditions that " + options.run + " keeps",
        [kept, run = options.run, target = target_]() -> Result<> {
            FB_TRY_ASSIGN(all, catalog::kept_raised(*target, run, kept->problem));
            kept->all = std::move(all);
            return {};
        },
        say_));
    if (!kept->problem.empty()) log([&] { return kept->problem; });
    job_.conditions.take(std::move(kept->all));
    auto watch = JobWatch::start(target_, options.run);
    if (!watch)
        return because(watch.error(),
                       fmt::format("requests of forebay stop cannot be looked for: {}", watch.error().what),
                       "what is staged", "a later call tries again");
    std::optional<sys::Clock::time_point> ends_at;
    if (options.job.wall_time.count() > 0) ends_at = opening.steady + options.job.wall_time;
    job_.state = std::make_unique<JobState>(std::move(*watch), options.job, std::move(end), ends_at);
    if (job_.state->end().unix_seconds) {
        const auto left =
            ends_at ? std::chrono::duration<double>(*ends_at - sys::Clock::now()).count()
                    : static_cast<double>(*job_.state->end().unix_seconds) - static_cast<double>(sys::unix_ns()) * 1e-9;
        log([&] { return fmt::format("the job ends in {}, by {}", show_seconds(left), job_.state->end().source); });
    } else {
        log([&] { return fmt::format("no limit of the job is known: {}", job_.state->end().source); });
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

namespace {

constexpr double ns_to_seconds = 1e-9;

// What the agent of this node has seen of each stream, into `saves`. A commit is one of all nodes.
void take_saves(const node::Control& page, const std::map<std::string, double, std::less<>>& save_seconds,
                std::vector<describe::SavesSoFar>& saves) {
    saves.clear();
    const auto streams = std::min(page.stream_count.load(std::memory_order_acquire), node::streams_max);
    for (std::uint32_t i = 0; i < streams; ++i) {
        const auto& stream = page.streams[i];
        const auto known = save_seconds.find(std::string_view(stream.name.data()));
        saves.push_back({.durable = stream.commits.load(),
                         .save_seconds = known == save_seconds.end() ? 0 : known->second,
                         .durable_seconds = static_cast<double>(stream.durable_ns_max.load()) * ns_to_seconds});
    }
    const auto now = node::steady_ns(sys::Clock::now());
    for (std::uint32_t i = 0; i < page.slot_count.load(std::memory_order_acquire); ++i) {
        const auto& slot = page.slots[i];
        const auto state = slot.state.load();
        if (state == node::SlotState::empty || state == node::SlotState::filling ||
            state == node::SlotState::committed || slot.inherited.load() != 0 || slot.stream >= saves.size())
            continue;
        auto& of_stream = saves[slot.stream];
        const double age = static_cast<double>(now - slot.sealed_steady_ns.load()) * ns_to_seconds;
        of_stream.ahead_seconds += std::max(0.0, of_stream.durable_seconds - std::max(age, 0.0));
    }
}

}  // namespace

void SessionState::end_save(const std::string& stream, const Result<Saved>& saved) {
    if (saved) {
        auto& longest = job_.save_seconds_max[stream];
        longest = std::max(longest, saved->blocked_seconds - saved->wait_seconds);
    }
    compute_again();
    if (saved) watch_profile(*saved);
}

JobReport SessionState::report_job(bool stop_wanted) {
    JobReport report;
    auto& page = staging->control();
    const auto rank = topology.world->rank();
    if (rank == 0) {
        const auto drains = static_cast<double>(std::max<std::uint64_t>(page.counts.drains.load(), 1));
        std::string problem;
        constexpr std::int64_t ns_per_ms = 1'000'000;
        take_saves(page, job_.save_seconds_max, job_.saves);
        report = job_.state->tell(sys::Clock::now(), sys::unix_ns() / ns_per_ms, job_.saves,
                                  page.counts.drain_seconds.load() / drains, problem);
        if (!problem.empty()) log([&] { return problem; });
        // For the agent, which goes by the machine's clock: that may have been set since.
        if (options.job.wall_time.count() > 0) page.job_ends_unix_ns = sys::unix_ns() + report.left_ms * ns_per_ms;
    }
    if (stop_wanted) report.wishing_rank = rank;
    if (!topology.leads()) return report;
    // Without memory for them now they are given at the next step.
    static_cast<void>(attempt([&] {
        job_.conditions.take(page);
        report.condition = job_.conditions.urgency(rank, [&](const node::Raised& raised) -> std::optional<bool> {
            const auto found = streams_.find(raised.stream);
            const auto stream = found == streams_.end() ? nullptr : found->second.lock();
            // Without a handle nobody goes back; and what an earlier session has saved waits for one.
            if (!stream) return raised.line.session == claim.session ? std::optional(false) : std::nullopt;
            const auto has_left = stream->course.has_left(raised.line, raised.step);
            if (job_.state && has_left == true) job_.state->drop(raised);
            return has_left;
        });
    }));
    return report;
}

Result<std::optional<node::Raised>> SessionState::hear_condition(std::int64_t urgency) {
    std::optional<node::Raised> raised;
    if (urgency == JobReport::nothing) return raised;
    auto& world = *topology.world;
    const auto from = Conditions::rank_of(urgency);
    std::string text;
    FB_TRY(comm::agree(world, [&] {
        if (world.rank() == from) text = job_.conditions.text();
    }));
    FB_TRY(world.broadcast_sized(text, from));
    FB_TRY(comm::agree(world, [&] {
        raised = job_.conditions.given(text);
        if (job_.state) job_.state->drop(*raised);
    }));
    return raised;
}

Result<Job> SessionState::job(bool stop_wanted) {
    FB_TRY(check_open());
    auto& world = *topology.world;
    const bool first_rank = world.rank() == 0;
    if (!job_.looked) FB_TRY(comm::agree(world, [&] { return first_rank ? look_at_job() : Result<>(); }));
    job_.looked = true;
    auto report = report_job(stop_wanted);
    std::array<std::int64_t, 5> numbers{report.wishing_rank, report.requests, report.left_ms, report.needed_ms,
                                        report.condition};
    world.max(numbers);
    report = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
    FB_TRY_ASSIGN(raised, hear_condition(report.condition));
    const auto agreed = judge(report, raised);
    if (agreed.save) log([&] { return fmt::format("save now{}: {}", agreed.stop ? " and end" : "", agreed.reason); });
    else if (raised) log([&] { return fmt::format("the application is told: {}", agreed.condition); });
    if (first_rank && report.out_of_time()) mark_to_continue();
    if (topology.leads()) step_clock_.step(staging->control(), sys::Clock::now());
    return agreed;
}

}  // namespace forebay
