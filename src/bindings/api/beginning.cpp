#include "bindings/api/beginning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <utility>

#include "bindings/api/session_opening.hpp"
#include "core/base/try.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/savers.hpp"
#include "path/catalog/went_back.hpp"

namespace forebay {

namespace {

// The time for a list and a read of 4 KiB. A save waits for it.
constexpr std::chrono::seconds saver_look_max{2};

// The last session that saved in a stream, by its newest snapshot and by its names.
Result<std::uint32_t> last_saver(const SessionState& session, const std::string& stream) {
    const auto& options = session.options;
    const auto last = std::make_shared<std::atomic<std::uint32_t>>(0);  // shared with the thread, which may hang
    FB_TRY(within(
        std::min<std::chrono::milliseconds>(options.open_wait, saver_look_max), "the run directory " + options.run,
        [store = session.target(), run = options.run, run_id = session.claim.run_id, stream, last]() -> Result<> {
            FB_TRY_ASSIGN(saver, catalog::last_saver(*store, run, stream, run_id));
            *last = saver;
            return {};
        },
        session.say()));
    return last->load();
}

}  // namespace

// Only rank 0's environment counts: the ranks may have different environments.
Result<std::optional<restart::RestartWish>> share_wish(comm::Group& world) {
    std::string value;
    std::optional<restart::RestartWish> wish;
    FB_TRY(comm::agree(world, [&] {
        const auto* own = world.rank() == 0 ? std::getenv("FOREBAY_RESTART") : nullptr;
        if (own != nullptr) value = own;
    }));
    // Every rank parses the same text, so all get the same answer or the same error.
    FB_TRY(world.broadcast_sized(value, 0));
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        FB_TRY_ASSIGN(read, restart::wish_of(value));
        wish = std::move(read);
        return {};
    }));
    return wish;
}

// restart_from stays in a configuration file, so it counts once. FOREBAY_RESTART belongs to one start, so it always
// counts.
Result<std::optional<restart::RestartWish>> Beginning::wish() {
    auto wish = session_.claim.wish;
    if (!wish_counts_ || (!wish && restart_from_ < 0)) return std::optional<restart::RestartWish>();
    auto& world = *session_.topology.world;
    const bool is_option = !wish;
    std::int64_t is_done = 0;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        // Only rank 0 reads the run's record; the maximum below shares its answer.
        if (!is_option) return {};
        wish = restart::RestartWish{.step = restart_from_, .words = fmt::format("restart_from = {}", restart_from_)};
        if (world.rank() != 0) return {};
        FB_TRY_ASSIGN(done, catalog::has_gone_back(sys::target_store(), session_.options.run, stream_, restart_from_));
        is_done = done ? 1 : 0;
        return {};
    }));
    is_done = world.max(is_done);
    if (!std::exchange(wish_is_told_, true))
        session_.log([&] {
            return fmt::format("stream '{}': {}: {}", stream_, wish->words,
                               is_done != 0 ? "the run has gone back already, and continues from its newest snapshot. "
                                              "FOREBAY_RESTART goes back once more"
                               : wish->anew ? "it begins anew, and ignores existing snapshots"
                                            : "it begins at or below that step, and ignores newer snapshots");
        });
    // The option counts once. The run has already gone back so, and the newest snapshot is right again.
    if (is_done != 0) {
        wish_counts_ = false;
        wish.reset();
    }
    return wish;
}

Result<> Beginning::note_wish(const restart::RestartWish& wish) const {
    auto& world = *session_.topology.world;
    return comm::agree(world, [&]() -> Result<> {
        // FOREBAY_RESTART belongs to one start, so only restart_from is recorded.
        if (session_.claim.wish || world.rank() != 0) return {};
        return catalog::note_going_back(sys::target_store(), session_.options.run, stream_, wish.step,
                                        session_.claim.session);
    });
}

Result<> Beginning::check_has_none(std::int64_t below, const std::optional<restart::RestartWish>& wish,
                                   const std::vector<restart::NotTaken>& passed,
                                   const std::vector<restart::NotTaken>& unread) const {
    return comm::agree(*session_.topology.world, [&]() -> Result<> {
        auto all = passed;
        // Snapshots that failed to read since the last good read exist too: "no snapshot" would be wrong.
        for (const auto& item : unread)
            if (std::ranges::find(all, item.step, &restart::NotTaken::step) == all.end()) all.push_back(item);
        const restart::StreamPlace place{session_.options.run, stream_};
        if (all.empty() && !wish) return {};
        if (all.empty())
            return Error{ErrorKind::refused,
                         fmt::format("{}: stream '{}' of {} has no snapshot at or below that step", wish->words,
                                     place.stream, place.run),
                         "all snapshots",
                         fmt::format("forebay ls {} shows the steps. Or {}", place.run, restart::begin_anew)};
        const bool is_all = below == std::numeric_limits<std::int64_t>::max() || !unread.empty();
        auto error = none_usable(place, all, is_all ? "" : fmt::format(" below step {}", below));
        if (wish) error.what = wish->words + ": " + error.what;
        return error;
    });
}

// One rank decides for all, with a mark that all agents see. If the target does not answer now, the save goes on and
// the next save looks again.
Result<> Beginning::drop_given_up() {
    const auto& claim = session_.claim;
    if (looked_for_given_up_ || !lineage_.is_new() || !catalog::may_have_given_up(claim.went_on, claim.session))
        return {};
    auto& world = *session_.topology.world;
    std::int64_t is_done = 0;
    FB_TRY(comm::agree(world, [&] {
        if (world.rank() != 0) return;
        auto& store = sys::target_store();
        const auto& run = session_.options.run;
        const auto dropped = [&]() -> Result<std::vector<format::Line>> {
            // Another run may lie at this path since: its lines are not ours to drop.
            FB_TRY(catalog::check_identity(store, run, claim.run_id));
            return catalog::drop_given_up(store, run, stream_, claim.went_on, claim.session);
        }();
        if (!dropped)
            return session_.log([&] {
                return fmt::format("stream '{}': the lines of earlier sessions cannot be read yet: {}", stream_,
                                   dropped.error().line());
            });
        is_done = 1;
        for (const auto& line : *dropped)
            session_.log([&] {
                return fmt::format(
                    "stream '{}': line {} does not count: session {} went back, and ended before it saved the snapshot "
                    "from which this session continues. The snapshots of line {} are abandoned",
                    stream_, format::name_of(line), line.session, format::name_of(line));
            });
    }));
    looked_for_given_up_ = world.max(is_done) != 0;
    return {};
}

// An application that ignores the error of a restart must not begin anew.
Result<> Beginning::check_restarted(std::int64_t step, const std::vector<restart::NotTaken>& passed) const {
    if (!wish_counts_ || passed.empty()) return {};
    const auto& why = passed.back().why;
    const auto advice = why.next.find(restart::begin_anew) != std::string::npos
                            ? std::string("call newest(0) to begin anew in code")
                            : fmt::format("{}, as newest(0) does in code", restart::begin_anew);
    return Error{ErrorKind::refused,
                 fmt::format("step {} of stream '{}' was not saved: the restart before it failed, and a new beginning "
                             "would lose the existing snapshots: {}",
                             step, stream_, why.what),
                 "all snapshots. Nothing is removed",
                 why.next.empty() ? advice : fmt::format("{}. Or {}", why.next, advice)};
}

// A first save looks once more. Snapshots copied into the run since this session opened may belong to a later session,
// and this save would then be abandoned. If the target does not answer now, the save goes on: the agent looks before it
// removes anything of the stream.
Result<> Beginning::check_not_filled(std::int64_t step) const {
    if (!is_before_save_ || session_.topology.world->rank() != 0) return {};
    const auto last = last_saver(session_, stream_);
    if (!last || *last <= session_.claim.session) return {};
    return filled_meanwhile(fmt::format("step {} of stream '{}' was not saved: it holds a snapshot", step, stream_),
                            *last);
}

Error Beginning::filled_meanwhile(const std::string& what, std::uint32_t of) const {
    return {ErrorKind::retry,
            fmt::format("{} of session {} of run {}, and this is session {}: the run's directory was filled while this "
                        "session opened",
                        what, of, session_.options.run, session_.claim.session),
            "all snapshots", "wait for the copy to end, then start again"};
}

}  // namespace forebay
