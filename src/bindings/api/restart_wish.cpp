// Where people have restarts begin instead of at the newest snapshot, and the answer when nothing can be taken. A wish
// counts until the first save of its stream: from then on newest() means what the session itself has saved.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "bindings/api/state.hpp"
#include "core/base/try.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/went_back.hpp"

namespace forebay {

// Each rank may have an environment of its own.
Result<> SessionState::share_wish() {
    auto& world = *topology.world;
    std::string value;
    FB_TRY(comm::agree(world, [&] {
        const auto* own = world.rank() == 0 ? std::getenv("FOREBAY_RESTART") : nullptr;
        if (own != nullptr) value = own;
    }));
    FB_TRY(world.broadcast_sized(value, 0));
    return comm::agree(world, [&]() -> Result<> {
        FB_TRY_ASSIGN(wish, restart::wish_of(value));
        claim.wish = std::move(wish);
        return {};
    });
}

// restart_from stays in a configuration, so it counts once; an environment is that of one start.
Result<std::optional<restart::RestartWish>> StreamState::wish() {
    auto wish = session->claim.wish;
    const auto from = stager.options().restart_from;
    if (!restarts.wish_counts || (!wish && from < 0)) return std::optional<restart::RestartWish>();
    auto& world = *session->topology.world;
    const bool is_option = !wish;
    std::int64_t is_done = 0;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        if (!is_option) return {};
        wish = restart::RestartWish{.step = from, .words = fmt::format("restart_from = {}", from)};
        if (world.rank() != 0) return {};
        FB_TRY_ASSIGN(done, catalog::has_gone_back(sys::target_store(), session->options.run, schema.stream, from));
        is_done = done ? 1 : 0;
        return {};
    }));
    is_done = world.max(is_done);
    if (!std::exchange(restarts.wish_is_told, true))
        session->log([&] {
            return fmt::format("stream '{}': {}: {}", schema.stream, wish->words,
                               is_done != 0 ? "the run has gone back so, and goes on from its newest snapshot; "
                                              "FOREBAY_RESTART goes back once more"
                               : wish->anew ? "it begins anew, whatever is there"
                                            : "it begins at or below that step, whatever is newer");
        });
    if (is_done != 0) {
        restarts.wish_counts = false;
        wish.reset();
    }
    return wish;
}

Result<> StreamState::note_wish(const restart::RestartWish& wish) {
    auto& world = *session->topology.world;
    return comm::agree(world, [&]() -> Result<> {
        if (session->claim.wish || world.rank() != 0) return {};
        return catalog::note_going_back(sys::target_store(), session->options.run, schema.stream, wish.step,
                                        session->claim.session);
    });
}

Result<> StreamState::check_has_none(std::int64_t below, const std::optional<restart::RestartWish>& wish) {
    return comm::agree(*session->topology.world, [&]() -> Result<> {
        auto all = restarts.passed;
        for (const auto& one : restarts.unread)
            if (std::ranges::find(all, one.step, &restart::NotTaken::step) == all.end()) all.push_back(one);
        const restart::StreamPlace place{session->options.run, schema.stream};
        if (all.empty() && !wish) return {};
        if (all.empty())
            return Error{ErrorKind::refused,
                         fmt::format("{}: stream '{}' of {} has no snapshot at or below that step", wish->words,
                                     place.stream, place.run),
                         "what is there",
                         fmt::format("forebay ls {} shows the steps; or {}", place.run, restart::begin_anew)};
        const bool is_all = below == std::numeric_limits<std::int64_t>::max() || !restarts.unread.empty();
        auto error = none_usable(place, all, is_all ? "" : fmt::format(" below step {}", below));
        if (wish) error.what = wish->words + ": " + error.what;
        return error;
    });
}

// One rank decides for all, by a mark that all agents see. A target that does not answer now keeps no simulation from
// saving: the next save looks again.
Result<> StreamState::drop_given_up() {
    const auto& claim = session->claim;
    if (restarts.looked_for_given_up || !course.is_new() || !catalog::may_have_given_up(claim.went_on, claim.session))
        return {};
    auto& world = *session->topology.world;
    std::int64_t is_done = 0;
    FB_TRY(comm::agree(world, [&] {
        if (world.rank() != 0) return;
        auto& store = sys::target_store();
        const auto& run = session->options.run;
        const auto dropped = [&]() -> Result<std::vector<format::Line>> {
            FB_TRY(catalog::check_identity(store, run, claim.run_id));
            return catalog::drop_given_up(store, run, schema.stream, claim.went_on, claim.session);
        }();
        if (!dropped)
            return session->log([&] {
                return fmt::format(
                    "stream '{}': whether sessions before have left lines that do not count is not "
                    "known yet: {}",
                    schema.stream, dropped.error().line());
            });
        is_done = 1;
        for (const auto& line : *dropped)
            session->log([&] {
                return fmt::format(
                    "stream '{}': line {} does not count: session {} went back, and ended before it "
                    "saved what this session goes on from; what line {} has saved is abandoned",
                    schema.stream, format::name_of(line), line.session, format::name_of(line));
            });
    }));
    restarts.looked_for_given_up = world.max(is_done) != 0;
    return {};
}

// An error of a restart that the application overlooks must not become a new beginning.
Result<> StreamState::check_restarted(std::int64_t step) const {
    if (!restarts.wish_counts || restarts.passed.empty()) return {};
    const auto& why = restarts.passed.back().why;
    const auto advice = why.next.find(restart::begin_anew) != std::string::npos
                            ? std::string("newest(0) begins anew in code")
                            : fmt::format("{}, as newest(0) does in code", restart::begin_anew);
    return Error{
        ErrorKind::refused,
        fmt::format("step {} of stream '{}' is not saved: the restart before it failed, and nothing begins anew "
                    "over snapshots that are there: {}",
                    step, schema.stream, why.what),
        "what is there; nothing is removed", why.next.empty() ? advice : fmt::format("{}; or {}", why.next, advice)};
}

// A first save looks once more: what was copied into the run since this session opened may be of a later session, and
// would abandon this save. A target that does not answer now holds no save up: the agent looks before it removes
// anything of the stream.
Result<> StreamState::check_not_filled(std::int64_t step) const {
    if (!restarts.is_before_save || session->topology.world->rank() != 0) return {};
    const auto last = session->last_saver(schema.stream);
    if (!last || *last <= session->claim.session) return {};
    return filled_meanwhile(
        fmt::format("step {} of stream '{}' is not saved: it holds a snapshot", step, schema.stream), *last);
}

Error StreamState::filled_meanwhile(const std::string& what, std::uint32_t of) const {
    return {ErrorKind::retry,
            fmt::format("{} of session {} of run {}, and this is session {}: the run's directory was filled while this "
                        "session opened",
                        what, of, session->options.run, session->claim.session),
            "all snapshots", "wait for the copy to end, then start again"};
}

}  // namespace forebay
