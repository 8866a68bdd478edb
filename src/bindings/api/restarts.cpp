// The restarts behind the public calls newest(), older(), restore() and Restart::read().
//
// Choosing: a killed replacement may have left a snapshot without its name, so bring it back. Let the Chooser offer
// snapshots from the newest on, and read the heads of the node files of each offer. Reading: plan this rank's part,
// then read it from staged copies, and from the target if a staged copy is damaged. A snapshot that is damaged or was
// just pruned is skipped with a note, and the next older snapshot is tried. Any other error ends the restart. If
// snapshots were skipped and none is left, that is an error too: "none" would make the application begin anew.
//
// Every call here is collective. A step that may fail on a single rank runs within comm::agree(), so that all ranks
// take the same branch.

#include "bindings/api/restarts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "bindings/api/state.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/run.hpp"
#include "path/commit/commit.hpp"

namespace forebay {

namespace {

Result<restart::Plan> plan_of(const comm::Topology& topology, const Schema& schema, const restart::Choice& choice) {
    return restart::Plan::make(schema, choice.manifest, static_cast<std::uint32_t>(topology.world->rank()),
                               static_cast<std::uint32_t>(topology.world->size()), topology.node_index);
}

// Checks that the run is still the one that was opened: its file system may be unmounted, or somebody may have moved
// another run to its path. Collective.
Result<> check_run(const SessionState& session, const std::string& stream) {
    return comm::agree(*session.topology.world, [&]() -> Result<> {
        if (session.topology.world->rank() != 0) return {};
        const auto seen = catalog::check_identity(sys::target_store(), session.options.run, session.claim.run_id);
        if (seen) return {};
        auto error = with_context(
            seen.error(), fmt::format("the snapshots of stream '{}' cannot be read: {}", stream, seen.error().what),
            "the run, at its present place. Nothing is removed, and nothing begins anew",
            fmt::format("mount {0}, or move the run back to {0}, then start again", session.options.run));
        if (error.kind == ErrorKind::missing) error.kind = ErrorKind::retry;  // `missing` may mean "none" to a caller
        return error;
    });
}

// True if Chooser::judge() blames the snapshot itself.
bool can_be_passed_over(const Error& judged) {
    return judged.kind == ErrorKind::corrupt || judged.kind == ErrorKind::missing;
}

std::string passed_over(std::int64_t step, const Error& why) {
    return fmt::format("step {} is skipped: {}", step, why.line());
}

}  // namespace

Restarts::Restarts(SessionState& session, const StreamDescription& description, stage::LineagePolicy& lineage,
                   Beginning& beginning, Marked marked)
    : session_(session),
      description_(description),
      lineage_(lineage),
      beginning_(beginning),
      chooser_(chooser_context(marked), description.schema.stream) {}

restart::ChooserContext Restarts::chooser_context(Marked marked) {
    return {.topology = &session_.topology,
            .staging = &*session_.staging,
            .store = &sys::target_store(),
            .run = session_.options.run,
            .run_id = session_.claim.run_id,
            .wait_max = session_.options.close_wait,
            .host = session_.host(),
            .left = session_.opening.left,
            .marked = marked,
            .say = session_.say(),
            .note = [this](const std::string& text) { note(text); },
            .pass_over = [this](restart::NotTaken passed) { pass_over(std::move(passed)); }};
}

restart::ReaderContext Restarts::reader_of(restart::Kept& kept) const {
    return {.topology = &session_.topology,
            .store = &sys::target_store(),
            .window_path = session_.staging->directory() + "/restart.window",
            .window_bytes = session_.options.restart_window_bytes,
            .kept = &kept,
            .crew = session_.crew()};
}

Result<> Restarts::look_at_heads(RestartState& state, const restart::Plan& plan) {
    restart::ReaderContext reader;
    FB_TRY(comm::agree(*session_.topology.world, [&] { reader = reader_of(state.kept); }));
    FB_TRY_ASSIGN(rows, restart::rows_of(reader, state.choice, plan, description_.binding));
    state.rows = std::move(rows);
    return restart::map_staged(reader, state.choice, plan, description_.binding);
}

// A writer that was killed between the two renames of a replacement leaves the step without its name.
Result<> Restarts::bring_back_replaced() {
    if (looked_for_replaced_) return {};
    FB_TRY(comm::agree(*session_.topology.world, [&]() -> Result<> {
        if (session_.topology.world->rank() != 0) return {};
        auto& store = sys::target_store();
        const auto left = catalog::leftovers(store, session_.options.run, stream());
        // A stream that was never saved has no directory.
        if (!left && left.error().kind == ErrorKind::missing) return {};
        if (!left)
            return with_context(left.error(),
                                fmt::format("the snapshots of stream '{}' of {} cannot be read: {}", stream(),
                                            session_.options.run, left.error().what),
                                "all snapshots. Nothing is removed",
                                fmt::format("repair the mount or the permissions of {}/{} (ls -ld), then start again",
                                            session_.options.run, stream()));
        if (std::ranges::none_of(*left, [](const auto& item) { return item.kind == catalog::Leftover::Kind::old; }))
            return {};
        FB_TRY(commit::recover(store, session_.options.run, false));
        return {};
    }));
    looked_for_replaced_ = true;
    return {};
}

void Restarts::note(const std::string& text) {
    notes_.push_back(text);
    session_.log([&] { return "stream '" + stream() + "': " + text; });
}

void Restarts::pass_over(restart::NotTaken passed) {
    note(passed_over(passed.step, passed.why));
    passed_.push_back(std::move(passed));
}

Restarts::Found Restarts::choose(std::int64_t below, std::int64_t named) {
    FB_TRY(session_.check_open());
    notes_.clear();
    passed_.clear();
    if (below == std::numeric_limits<std::int64_t>::max()) unread_.clear();  // the chooser offers these snapshots again
    return answered(choose_next(below, named));
}

// Damage that costs a simulation hours of work must be noticed without a log too.
void Restarts::warn_of_damage() const {
    if (session_.topology.world->rank() != 0 || session_.say()) return;
    for (const auto& [step, why] : passed_)
        if (why.kind == ErrorKind::corrupt)
            static_cast<void>(attempt([&] { warn(fmt::format("stream '{}': {}", stream(), passed_over(step, why))); }));
}

// If the call failed, the skipped snapshots stay recorded: a first save checks them.
Restarts::Found Restarts::answered(Found match) {
    if (match) warn_of_damage();
    if (match) passed_.clear();
    else FB_TRY(comm::agree(*session_.topology.world, [&] { passed_.push_back({-1, match.error()}); }));
    return match;
}

Restarts::Found Restarts::choose_next(std::int64_t below, std::int64_t named) {
    auto& world = *session_.topology.world;
    FB_TRY(comm::agree(world, [&] { return check(description_.schema); }));
    FB_TRY_ASSIGN(wished, beginning_.wish());
    if (below <= 0 || (wished && wished->anew)) {  // steps begin at 0
        FB_TRY(comm::agree(world, [&] { lineage_.chose_nothing(); }));
        return std::shared_ptr<RestartState>();
    }
    // newest(301) in code goes further back than FOREBAY_RESTART=400.
    if (wished && below <= wished->step) wished.reset();
    if (wished) {
        below = wished->step + 1;
        named = wished->step;
    }
    FB_TRY(check_run(session_, stream()));
    FB_TRY(bring_back_replaced());
    std::shared_ptr<RestartState> state;
    FB_TRY_ASSIGN(chosen, chooser_.choose_below(below, named, [&](restart::Choice choice) -> Result<bool> {
        FB_TRY(comm::agree(world, [&] { state = std::make_shared<RestartState>(); }));
        state->choice = std::move(choice);
        return looks_whole(*state);
    }));
    // Look once more: the run may have been moved while the chooser looked, and its answer would be about another run.
    if (const auto same = check_run(session_, stream()); !same) {
        looked_for_replaced_ = false;
        return same.error();
    }
    if (!chosen) {
        FB_TRY(beginning_.check_has_none(below, wished, passed_, unread_));
        FB_TRY(comm::agree(world, [&] { lineage_.chose_nothing(); }));
        return std::shared_ptr<RestartState>();
    }
    const auto& manifest = state->choice.manifest;
    // Sessions are numbered above all snapshots that exist when they open. A later line means that a copy into the run
    // is still going on.
    if (manifest.lineage.line().session > session_.claim.session)
        return beginning_.filled_meanwhile(fmt::format("step {} of stream '{}' is", manifest.step, stream()),
                                           manifest.lineage.line().session);
    if (wished) FB_TRY(beginning_.note_wish(*wished));
    FB_TRY(comm::agree(world, [&] {
        lineage_.chose(manifest.step, manifest.lineage.lines);
        // A first save of a stream without a restart looks here: Beginning::drop_given_up().
        session_.claim.went_on[stream()] = {manifest.step, manifest.lineage.lines};
    }));
    step_ = manifest.step;
    // let_go() frees its memory when the simulation saves.
    reading_ = state;
    session_.log([&] {
        return fmt::format("stream '{}': restart from step {}, saved by {}, {}", stream(), manifest.step,
                           show_count(manifest.world_ranks, "rank"), state->choice.copies.source());
    });
    return state;
}

// The chooser has only read the records. A head may be damaged even if its record is whole, here or at the target.
Result<bool> Restarts::looks_whole(RestartState& state) {
    auto& world = *session_.topology.world;
    const auto step = state.choice.manifest.step;
    std::optional<restart::Plan> plan;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        FB_TRY_ASSIGN(result, plan_of(session_.topology, description_.schema, state.choice));
        plan.emplace(std::move(result));
        return {};
    }));
    auto looked = look_at_heads(state, *plan);
    FB_TRY_ASSIGN(turned, looked ? Result<bool>(false) : turn_to_target(state, looked.error()));
    if (turned) {
        FB_TRY(comm::agree(world, [&] {
            note(fmt::format("step {}: its staged copies are skipped: {}", step, looked.error().line()));
            state.rows.clear();
        }));
        // Once more, now from the target.
        looked = look_at_heads(state, *plan);
    }
    if (looked) return true;
    const auto judged = chooser_.judge(step, state.choice.copies.directory(), looked.error());
    if (!can_be_passed_over(judged)) return judged;
    FB_TRY(comm::agree(world, [&] { pass_over({step, judged}); }));
    return false;
}

Restarts::Found Restarts::choose_older() {
    return choose(step_ < 0 ? std::numeric_limits<std::int64_t>::max() : step_);
}

Restarts::Found Restarts::restore(const Bind& bind) {
    FB_TRY(session_.check_open());
    notes_.clear();
    passed_.clear();
    unread_.clear();
    return answered(restore_next(bind));
}

Restarts::Found Restarts::restore_next(const Bind& bind) {
    auto& world = *session_.topology.world;
    for (auto below = std::numeric_limits<std::int64_t>::max();;) {
        FB_TRY_ASSIGN(next, choose_next(below, -1));
        if (next == nullptr) return next;
        FB_TRY(comm::agree(world, [&] { return bind(next); }));
        const auto unread = unread_.size();  // failed reads before this one have written into memory
        const auto step = next->choice.manifest.step;
        const auto read = read_whole(*next);
        if (read && unread > 0 && !*read)
            return Error{ErrorKind::corrupt,
                         fmt::format("stream '{}': step {} has holes in arrays of partial coverage, and the memory "
                                     "there now holds damaged data of step {}",
                                     stream(), step, below),
                         "all snapshots", fmt::format("start again with FOREBAY_RESTART={}", step)};
        if (read) return next;
        if (unread_.size() == unread || !can_be_passed_over(read.error())) return read.error();
        FB_TRY(comm::agree(world, [&] { pass_over(unread_.back()); }));
        below = step;
    }
}

Result<bool> Restarts::turn_to_target(RestartState& state, const Error& error) const {
    auto& world = *session_.topology.world;
    auto& copies = state.choice.copies;
    // `directory` and the error are equal on all ranks, so all ranks take part in the maximum.
    if (error.kind != ErrorKind::corrupt || copies.directory().empty() ||
        world.max(copies.can_fall_back() ? 1 : 0) == 0)
        return false;
    // If one rank can fall back, all do: all ranks then read the same copies.
    FB_TRY(comm::agree(world, [&] { copies.fall_back(); }));
    state.kept = {};
    return true;
}

Result<bool> Restarts::read_part(RestartState& state, const std::function<Result<Part>()>& own_part) {
    FB_TRY(session_.check_open());
    auto& world = *session_.topology.world;
    Part part;
    std::optional<restart::Plan> plan;
    restart::ReaderContext reader;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        FB_TRY_ASSIGN(taken, own_part());
        part = std::move(taken);
        FB_TRY_ASSIGN(result, plan_of(session_.topology, part.schema, state.choice));
        plan.emplace(std::move(result));
        reader = reader_of(state.kept);
        return {};
    }));
    auto done = restart::read(reader, state.choice, *plan, part.binding);
    FB_TRY_ASSIGN(turned, done ? Result<bool>(false) : turn_to_target(state, done.error()));
    if (turned) {
        session_.log([&] {
            return fmt::format("stream '{}': step {} is read from {}, since a staged copy is damaged: {}", stream(),
                               state.choice.manifest.step, state.choice.copies.directory(), done.error().line());
        });
        done = restart::read(reader, state.choice, *plan, part.binding);
    }
    if (done) return done;
    const auto step = state.choice.manifest.step;
    const auto judged = chooser_.judge(step, state.choice.copies.directory(), done.error());
    // Memory now holds parts of this snapshot, which a later read with holes would leave there.
    FB_TRY(comm::agree(world, [&] { unread_.push_back({step, judged}); }));
    if (!can_be_passed_over(judged)) return judged;
    return with_context(judged,
                        fmt::format("step {} of stream '{}' cannot be restored: {}", step, stream(), judged.what),
                        "snapshots of other steps", "older()");
}

Result<bool> Restarts::read_whole(RestartState& state) {
    return read_part(state, [&]() -> Result<Part> {
        FB_TRY(description_.check_bound({}));
        for (std::size_t t = 0; t < description_.binding.tables.size(); ++t) {
            const auto wanted = t < state.rows.size() ? state.rows[t] : 0;
            // Fewer rows would lose particles, and more would leave rows with old values.
            if (description_.binding.tables[t].rows == wanted) continue;
            return Error{ErrorKind::refused,
                         fmt::format("table '{}' is bound to {} rows, but this rank gets {} in step {}",
                                     description_.schema.tables[t], description_.binding.tables[t].rows, wanted,
                                     state.choice.manifest.step),
                         "", "bind rows(table) rows before read()"};
        }
        return Part{description_.schema, description_.binding};
    });
}

Result<> Restarts::read(RestartState& state) {
    FB_TRY(read_whole(state));
    unread_.clear();
    return {};
}

Result<> Restarts::read(RestartState& state, const std::vector<std::string>& variables) {
    FB_TRY(read_part(state, [&] { return description_.part(variables); }));
    return {};
}

std::int64_t Restart::step() const { return state_->choice.manifest.step; }
double Restart::time() const { return state_->choice.manifest.time; }
const std::string& Restart::source() const { return state_->choice.copies.source(); }
bool Restart::same_ranks() const {
    return state_->choice.manifest.world_ranks == static_cast<std::uint32_t>(stream_->session->topology.world->size());
}
std::uint64_t Restart::rows(const Particles& table) const {
    return table.table_ < state_->rows.size() ? state_->rows[table.table_] : 0;
}

Result<> Restart::read() {
    return stream_->guarded([&] { return stream_->restarts.read(*state_); });
}

Result<> Restart::read(const std::vector<std::string>& variables) {
    return stream_->guarded([&] { return stream_->restarts.read(*state_, variables); });
}

}  // namespace forebay
