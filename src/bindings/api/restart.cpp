// A restart, as the public calls newest(), older(), restore() and Restart::read() make it.
//
// Choosing: bring back what a killed replacement left without a name, let the Chooser offer snapshots from the newest
// on, and look at the heads of the node files of the one that it offers. Reading: plan what this rank takes, then read,
// first from staged copies and, where one is damaged, from the target. A snapshot that is damaged or was pruned
// meanwhile is passed over with a note, and the next older one is tried; any other error ends the restart. If nothing
// is left after something was passed over, that is an error too: "none" means that nothing is there, and an application
// that hears it begins anew.
//
// Every call here is collective. A step that may fail on one rank alone runs within comm::agree(), so that all ranks
// take the same branch.

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

Result<restart::Plan> plan_of(const StreamState& stream, const Schema& schema, const restart::Choice& choice) {
    const auto& topology = stream.session->topology;
    return restart::Plan::make(schema, choice.manifest, static_cast<std::uint32_t>(topology.world->rank()),
                               static_cast<std::uint32_t>(topology.world->size()), topology.node_index);
}

Result<Part> part_of(const StreamState& stream, const std::vector<std::string>& names) {
    Part part{.schema = {.stream = stream.schema.stream, .tables = {}, .variables = {}}, .binding = {}};
    for (const auto& name : names) {
        const auto* variable = find(stream.schema, name);
        if (variable == nullptr) return Error{ErrorKind::missing, fmt::format("no variable '{}' is described.", name)};
        if (variable->kind == Kind::particles)
            return Error{ErrorKind::refused,
                         fmt::format("'{}' is a column; tables are read with all that is described.", name)};
        const auto index = static_cast<std::size_t>(variable - stream.schema.variables.data());
        part.schema.variables.push_back(*variable);
        part.binding.data.push_back(stream.binding.data[index]);
        part.binding.first_rank.push_back(stream.binding.first_rank[index]);
        part.binding.pieces.push_back(stream.binding.pieces[index]);
    }
    return part;
}

restart::ReaderContext reader_of(const StreamState& stream, restart::Kept& kept) {
    auto& session = *stream.session;
    return {.topology = &session.topology,
            .store = &sys::target_store(),
            .window_path = session.staging->directory() + "/restart.window",
            .window_bytes = session.options.restart_window_bytes,
            .kept = &kept,
            .crew = session.crew()};
}

// "None", and a newest snapshot, are answers for the run that was opened alone: its file system may be unmounted since,
// or somebody has moved another run there. Collective.
Result<> check_run(const StreamState& stream) {
    const auto& session = *stream.session;
    return comm::agree(*session.topology.world, [&]() -> Result<> {
        if (session.topology.world->rank() != 0) return {};
        const auto seen = catalog::check_identity(sys::target_store(), session.options.run, session.claim.run_id);
        if (seen) return {};
        auto error =
            because(seen.error(),
                    fmt::format("the snapshots of stream '{}' cannot be looked at: {}", stream.schema.stream,
                                seen.error().what),
                    "the run, where it lies now; nothing is removed and nothing begins anew",
                    fmt::format("mount {0}, or move the run back to {0}, then start again", session.options.run));
        if (error.kind == ErrorKind::missing) error.kind = ErrorKind::retry;  // some take `missing` for "none"
        return error;
    });
}

// What Chooser::judge() has left as a fault of the snapshot itself.
bool can_be_passed_over(const Error& judged) {
    return judged.kind == ErrorKind::corrupt || judged.kind == ErrorKind::missing;
}

std::string passed_over(std::int64_t step, const Error& why) {
    return fmt::format("step {} is passed over: {}", step, why.line());
}

}  // namespace

restart::ChooserContext StreamState::chooser_context(Marked marked) {
    return {.topology = &session->topology,
            .staging = &*session->staging,
            .store = &sys::target_store(),
            .run = session->options.run,
            .run_id = session->claim.run_id,
            .wait_max = session->options.close_wait,
            .host = session->host(),
            .left = session->opening.left,
            .marked = marked,
            .say = session->say(),
            .note = [this](const std::string& text) { note(text); },
            .pass_over = [this](restart::NotTaken passed) { pass_over(std::move(passed)); }};
}

Result<> StreamState::look_at_heads(RestartState& state, const restart::Plan& plan) {
    restart::ReaderContext reader;
    FB_TRY(comm::agree(*session->topology.world, [&] { reader = reader_of(*this, state.kept); }));
    FB_TRY_ASSIGN(rows, restart::rows_of(reader, state.choice, plan, binding));
    state.rows = std::move(rows);
    return restart::map_staged(reader, state.choice, plan, binding);
}

// A writer that was killed between the two renames of a replacement has left the step without its name.
Result<> StreamState::bring_back_replaced() {
    if (restarts.looked_for_replaced) return {};
    FB_TRY(comm::agree(*session->topology.world, [&]() -> Result<> {
        if (session->topology.world->rank() != 0) return {};
        auto& store = sys::target_store();
        const auto left = catalog::leftovers(store, session->options.run, schema.stream);
        if (!left && left.error().kind == ErrorKind::missing) return {};
        if (!left)
            return because(left.error(),
                           fmt::format("the snapshots of stream '{}' of {} cannot be looked at: {}", schema.stream,
                                       session->options.run, left.error().what),
                           "all of them; nothing is removed",
                           fmt::format("repair the mount or the permissions of {}/{} (ls -ld), then start again",
                                       session->options.run, schema.stream));
        if (std::ranges::none_of(*left, [](const auto& one) { return one.kind == catalog::Leftover::Kind::old; }))
            return {};
        FB_TRY(commit::recover(store, session->options.run, false));
        return {};
    }));
    restarts.looked_for_replaced = true;
    return {};
}

void StreamState::note(const std::string& text) {
    restarts.notes.push_back(text);
    session->log([&] { return "stream '" + schema.stream + "': " + text; });
}

void StreamState::pass_over(restart::NotTaken passed) {
    note(passed_over(passed.step, passed.why));
    restarts.passed.push_back(std::move(passed));
}

Result<std::optional<Restart>> StreamState::choose(std::int64_t below, std::int64_t named) {
    FB_TRY(session->check_open());
    restarts.notes.clear();
    restarts.passed.clear();
    if (below == std::numeric_limits<std::int64_t>::max()) restarts.unread.clear();  // they are offered again
    return answered(choose_next(below, named));
}

// Damage that costs a simulation hours of work is seen without a log too.
void StreamState::warn_of_damage() const {
    if (session->topology.world->rank() != 0 || session->say()) return;
    for (const auto& [step, why] : restarts.passed)
        if (why.kind == ErrorKind::corrupt)
            static_cast<void>(
                attempt([&] { warn(fmt::format("stream '{}': {}", schema.stream, passed_over(step, why))); }));
}

// What is passed over is left there where the call failed: a first save looks there.
Result<std::optional<Restart>> StreamState::answered(Result<std::optional<Restart>> found) {
    if (found) warn_of_damage();
    if (found) restarts.passed.clear();
    else FB_TRY(comm::agree(*session->topology.world, [&] { restarts.passed.push_back({-1, found.error()}); }));
    return found;
}

Result<std::optional<Restart>> StreamState::choose_next(std::int64_t below, std::int64_t named) {
    auto& world = *session->topology.world;
    FB_TRY(comm::agree(world, [&] { return check(schema); }));
    FB_TRY_ASSIGN(wished, wish());
    if (below <= 0 || (wished && wished->anew)) {  // steps begin at 0
        FB_TRY(comm::agree(world, [&] { course.chose_nothing(); }));
        return std::optional<Restart>();
    }
    // newest(301) in code goes further back than FOREBAY_RESTART=400.
    if (wished && below <= wished->step) wished.reset();
    if (wished) {
        below = wished->step + 1;
        named = wished->step;
    }
    FB_TRY(check_run(*this));
    FB_TRY(bring_back_replaced());
    std::shared_ptr<RestartState> state;
    FB_TRY_ASSIGN(chosen, chooser.choose_below(below, named, [&](restart::Choice choice) -> Result<bool> {
        FB_TRY(comm::agree(world, [&] { state = std::make_shared<RestartState>(); }));
        state->choice = std::move(choice);
        return looks_whole(*state);
    }));
    if (const auto same = check_run(*this); !same) {
        restarts.looked_for_replaced = false;
        return same.error();
    }
    if (!chosen) {
        FB_TRY(check_has_none(below, wished));
        FB_TRY(comm::agree(world, [&] { course.chose_nothing(); }));
        return std::optional<Restart>();
    }
    const auto& manifest = state->choice.manifest;
    // Sessions are numbered from what is there when they open. A copy that goes on has brought a later line since.
    if (manifest.lineage.line().session > session->claim.session)
        return filled_meanwhile(fmt::format("step {} of stream '{}' is", manifest.step, schema.stream),
                                manifest.lineage.line().session);
    if (wished) FB_TRY(note_wish(*wished));
    FB_TRY(comm::agree(world, [&] {
        course.chose(manifest.step, manifest.lineage.lines);
        session->claim.went_on[schema.stream] = {manifest.step, manifest.lineage.lines};
    }));
    restarts.step = manifest.step;
    restarts.reading = state;
    session->log([&] {
        return fmt::format("stream '{}': restart from step {}, saved by {}, {}", schema.stream, manifest.step,
                           show_count(manifest.world_ranks, "rank"), state->choice.copies.source());
    });
    return std::optional(Restart(std::move(state), shared_from_this()));
}

// The chooser has seen the records alone; a head behind its record may be damaged, here or at the target.
Result<bool> StreamState::looks_whole(RestartState& state) {
    auto& world = *session->topology.world;
    const auto step = state.choice.manifest.step;
    std::optional<restart::Plan> plan;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        FB_TRY_ASSIGN(made, plan_of(*this, schema, state.choice));
        plan.emplace(std::move(made));
        return {};
    }));
    auto looked = look_at_heads(state, *plan);
    FB_TRY_ASSIGN(turned, looked ? Result<bool>(false) : state.turn_to_target(*this, looked.error()));
    if (turned) {
        FB_TRY(comm::agree(world, [&] {
            note(fmt::format("step {}: its staged copies are passed over: {}", step, looked.error().line()));
            state.rows.clear();
        }));
        looked = look_at_heads(state, *plan);
    }
    if (looked) return true;
    const auto judged = chooser.judge(step, state.choice.copies.directory(), looked.error());
    if (!can_be_passed_over(judged)) return judged;
    FB_TRY(comm::agree(world, [&] { pass_over({step, judged}); }));
    return false;
}

const std::vector<std::string>& Stream::notes() const { return state_->restarts.notes; }

Result<std::optional<Restart>> Stream::newest(std::int64_t below) {
    // newest(301) names step 300, which is then taken although it is marked.
    const auto named = below == std::numeric_limits<std::int64_t>::max() ? -1 : below - 1;
    return state_->guarded([&] { return state_->choose(below, named); });
}

Result<std::optional<Restart>> Stream::older() {
    return state_->guarded([&] {
        const auto last = state_->restarts.step;
        return state_->choose(last < 0 ? std::numeric_limits<std::int64_t>::max() : last);
    });
}

Result<std::optional<Restart>> StreamState::restore(const std::function<Result<>(Restart&)>& bind) {
    FB_TRY(session->check_open());
    restarts.notes.clear();
    restarts.passed.clear();
    restarts.unread.clear();
    return answered(restore_next(bind));
}

Result<std::optional<Restart>> StreamState::restore_next(const std::function<Result<>(Restart&)>& bind) {
    auto& world = *session->topology.world;
    for (auto below = std::numeric_limits<std::int64_t>::max();;) {
        FB_TRY_ASSIGN(found, choose_next(below, -1));
        if (!found) return found;
        FB_TRY(comm::agree(world, [&] { return bind ? bind(*found) : Result<>(); }));
        const auto unread = restarts.unread.size();  // what failed before has written into memory
        const auto step = found->step();
        const auto read = read_whole(*found->state_);
        if (read && unread > 0 && !*read)
            return Error{
                ErrorKind::corrupt,
                fmt::format("stream '{}': step {} has holes in arrays of partial coverage, and in memory lies there "
                            "what was read of step {}, which turned out to be damaged",
                            schema.stream, step, below),
                "all snapshots", fmt::format("start again with FOREBAY_RESTART={}", step)};
        if (read) return found;
        if (restarts.unread.size() == unread || !can_be_passed_over(read.error())) return read.error();
        FB_TRY(comm::agree(world, [&] { pass_over(restarts.unread.back()); }));
        below = step;
    }
}

Result<std::optional<Restart>> Stream::restore(const std::function<Result<>(Restart&)>& bind) {
    return state_->guarded([&] { return state_->restore(bind); });
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

Result<bool> RestartState::turn_to_target(const StreamState& stream, const Error& error) {
    auto& world = *stream.session->topology.world;
    auto& copies = choice.copies;
    // `directory` and the error are those of all ranks, so all of them take part in the maximum.
    if (error.kind != ErrorKind::corrupt || copies.directory().empty() ||
        world.max(copies.can_fall_back() ? 1 : 0) == 0)
        return false;
    FB_TRY(comm::agree(world, [&] { copies.fall_back(); }));
    kept = {};
    return true;
}

Result<bool> RestartState::read(StreamState& stream, const std::function<Result<Part>()>& part_of_mine) {
    FB_TRY(stream.session->check_open());
    auto& world = *stream.session->topology.world;
    Part part;
    std::optional<restart::Plan> plan;
    restart::ReaderContext reader;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        FB_TRY_ASSIGN(own_part, part_of_mine());
        part = std::move(own_part);
        FB_TRY_ASSIGN(made, plan_of(stream, part.schema, choice));
        plan.emplace(std::move(made));
        reader = reader_of(stream, kept);
        return {};
    }));
    auto done = restart::read(reader, choice, *plan, part.binding);
    FB_TRY_ASSIGN(turned, done ? Result<bool>(false) : turn_to_target(stream, done.error()));
    if (turned) {
        stream.session->log([&] {
            return fmt::format("stream '{}': step {} is read from {}, since a staged copy is damaged: {}",
                               stream.schema.stream, choice.manifest.step, choice.copies.directory(),
                               done.error().line());
        });
        done = restart::read(reader, choice, *plan, part.binding);
    }
    if (done) return done;
    const auto step = choice.manifest.step;
    const auto judged = stream.chooser.judge(step, choice.copies.directory(), done.error());
    FB_TRY(comm::agree(world, [&] { stream.restarts.unread.push_back({step, judged}); }));
    if (!can_be_passed_over(judged)) return judged;
    return because(
        judged, fmt::format("step {} of stream '{}' cannot be restored: {}", step, stream.schema.stream, judged.what),
        "snapshots of other steps", "older()");
}

Result<bool> StreamState::read_whole(RestartState& state) {
    return state.read(*this, [&]() -> Result<Part> {
        FB_TRY(check_bound({}));
        for (std::size_t t = 0; t < binding.tables.size(); ++t) {
            const auto wanted = t < state.rows.size() ? state.rows[t] : 0;
            if (binding.tables[t].rows == wanted) continue;
            return Error{ErrorKind::refused,
                         fmt::format("table '{}' is bound to {} rows, but this rank gets {} of step {}",
                                     schema.tables[t], binding.tables[t].rows, wanted, state.choice.manifest.step),
                         "", "bind rows(table) rows before read()"};
        }
        return Part{schema, binding};
    });
}

Result<> Restart::read() {
    return stream_->guarded([&]() -> Result<> {
        FB_TRY(stream_->read_whole(*state_));
        stream_->restarts.unread.clear();
        return {};
    });
}

Result<> Restart::read(const std::vector<std::string>& variables) {
    return stream_->guarded([&]() -> Result<> {
        FB_TRY(state_->read(*stream_, [&] { return part_of(*stream_, variables); }));
        return {};
    });
}

}  // namespace forebay
