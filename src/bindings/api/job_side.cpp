#include "bindings/api/job_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bindings/api/log.hpp"
#include "bindings/api/state.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "path/catalog/flagged.hpp"
#include "path/catalog/names.hpp"

namespace forebay {

namespace {

constexpr double ns_to_seconds = 1e-9;

// Copies this node's counts of each stream into `saves`. A commit is one of all nodes.
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
        // The rest of this drain, if it takes as long as the longest drain so far.
        of_stream.ahead_seconds += std::max(0.0, of_stream.durable_seconds - std::max(age, 0.0));
    }
}

}  // namespace

Result<> JobSide::look() {
    FB_TRY_ASSIGN(end, end_of_job(session_.options.job, session_.opening.unix_ns));
    session_.staging->control().job_ends_unix_ns = unix_ns_of(end);
    // The file is from the job before: it was written for the job that this session belongs to.
    const auto mark = session_.options.run + "/" + catalog::continue_mark;
    FB_TRY(within(
        session_.options.open_wait, mark, [mark, target = session_.target()] { return target->remove(mark); },
        session_.say()));
    // Shared with the thread, which may hang.
    struct Kept {
        std::vector<node::Flagged> all;
        std::string problem;
    };
    const auto kept = std::make_shared<Kept>();
    FB_TRY(within(
        session_.options.open_wait, "the conditions that " + session_.options.run + " keeps",
        [kept, run = session_.options.run, target = session_.target()]() -> Result<> {
            FB_TRY_ASSIGN(all, catalog::kept_flagged(*target, run, kept->problem));
            kept->all = std::move(all);
            return {};
        },
        session_.say()));
    if (!kept->problem.empty()) session_.log([&] { return kept->problem; });
    conditions_.take(std::move(kept->all));
    auto watch = JobWatch::start(session_.target(), session_.options.run);
    if (!watch)
        return with_context(watch.error(),
                            fmt::format("requests of forebay stop cannot be read: {}", watch.error().what),
                            "the staged copies", "a later call tries again");
    std::optional<sys::Clock::time_point> ends_at;
    if (session_.options.job.wall_time.count() > 0) ends_at = session_.opening.steady + session_.options.job.wall_time;
    state_ = std::make_unique<JobState>(std::move(*watch), session_.options.job, std::move(end), ends_at);
    if (state_->end().unix_seconds) {
        const auto left =
            ends_at ? std::chrono::duration<double>(*ends_at - sys::Clock::now()).count()
                    : static_cast<double>(*state_->end().unix_seconds) - static_cast<double>(sys::unix_ns()) * 1e-9;
        session_.log(
            [&] { return fmt::format("the job ends in {}, by {}", show_seconds(left), state_->end().source); });
    } else {
        const auto text = [&] { return fmt::format("the time limit of the job is unknown: {}", state_->end().source); };
        // Without a limit the simulation is killed between two saves. People must see that even without a log.
        const bool has_log = static_cast<bool>(session_.say());
        if (state_->end().in_job && !has_log) static_cast<void>(attempt([&] { warn(text()); }));
        else session_.log(text);
    }
    return {};
}

void JobSide::mark_to_continue() const {
    const auto written = attempt([&] {
        const auto mark = session_.options.run + "/" + catalog::continue_mark;
        return within(
            session_.options.open_wait, mark,
            [mark, target = session_.target()] {
                return sys::write_text_durable(*target, mark, "the simulation ended at the limit of its job\n");
            },
            session_.say());
    });
    if (!written)
        session_.log([&] {
            return fmt::format("{}/{} is not written, so a script that waits for it will not submit the next job: {}",
                               session_.options.run, catalog::continue_mark, written.error().line());
        });
}

void JobSide::note_save(const std::string& stream, const Saved& saved) {
    auto& longest = save_seconds_max_[stream];
    longest = std::max(longest, saved.blocked_seconds - saved.wait_seconds);
}

JobReport JobSide::own_report(bool stop_wanted) {
    JobReport report;
    auto& page = session_.staging->control();
    const auto rank = session_.topology.world->rank();
    if (rank == 0) {
        const auto drains = static_cast<double>(std::max<std::uint64_t>(page.counts.drains.load(), 1));
        std::string problem;
        constexpr std::int64_t ns_per_ms = 1'000'000;
        take_saves(page, save_seconds_max_, saves_);
        report = state_->tell(sys::Clock::now(), sys::unix_ns() / ns_per_ms, saves_,
                              page.counts.drain_seconds.load() / drains, problem);
        if (!problem.empty()) session_.log([&] { return problem; });
        // The agent uses the system clock, which may have been set since the opening.
        if (session_.options.job.wall_time.count() > 0)
            page.job_ends_unix_ns = sys::unix_ns() + report.left_ms * ns_per_ms;
    }
    if (stop_wanted) report.wishing_rank = rank;
    if (!session_.topology.leads()) return report;
    // If memory is short now, the conditions are delivered at the next step.
    static_cast<void>(attempt([&] {
        conditions_.take(page);
        report.condition = conditions_.urgency(rank, [&](const node::Flagged& flagged) -> std::optional<bool> {
            const auto stream = session_.living(flagged.stream);
            // Without a handle nobody goes back. Conditions of an earlier session wait for a handle.
            if (!stream) return flagged.line.session == session_.claim.session ? std::optional(false) : std::nullopt;
            const auto has_left = stream->lineage.has_left(flagged.line, flagged.step);
            if (state_ && has_left == true) state_->drop(flagged);
            return has_left;
        });
    }));
    return report;
}

Result<std::optional<node::Flagged>> JobSide::hear_condition(std::int64_t urgency) {
    std::optional<node::Flagged> flagged;
    if (urgency == JobReport::nothing) return flagged;
    auto& world = *session_.topology.world;
    const auto from = Conditions::rank_of(urgency);
    std::string text;
    FB_TRY(comm::agree(world, [&] {
        if (world.rank() == from) text = conditions_.text();
    }));
    FB_TRY(world.broadcast_sized(text, from));
    FB_TRY(comm::agree(world, [&] {
        flagged = conditions_.given(text);
        if (state_) state_->drop(*flagged);
    }));
    return flagged;
}

Result<Job> JobSide::ask(bool stop_wanted) {
    auto& world = *session_.topology.world;
    const bool first_rank = world.rank() == 0;
    if (!looked_) FB_TRY(comm::agree(world, [&] { return first_rank ? look() : Result<>(); }));
    looked_ = true;
    auto report = own_report(stop_wanted);
    std::array<std::int64_t, 5> maxima{report.wishing_rank, report.requests, report.left_ms, report.needed_ms,
                                       report.condition};
    world.max(maxima);
    const auto [wishing_rank, requests, left_ms, needed_ms, condition] = maxima;
    report = {wishing_rank, requests, left_ms, needed_ms, condition};
    // All ranks have the same maxima, so all take part in the broadcast or none does.
    FB_TRY_ASSIGN(flagged, hear_condition(report.condition));
    const auto agreed = judge(report, flagged);
    if (agreed.save)
        session_.log([&] { return fmt::format("save now{}: {}", agreed.stop ? " and end" : "", agreed.reason); });
    else if (flagged)
        session_.log([&] { return fmt::format("the application gets the condition: {}", agreed.condition); });
    if (first_rank && report.out_of_time()) mark_to_continue();
    return agreed;
}

}  // namespace forebay
