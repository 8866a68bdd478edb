// A restart, as the public calls newest(), older(), restore() and Restart::read() make it.
//
// Choosing: bring back what a killed replacement left without a name, let the Chooser offer snapshots from the newest
// on, and look at the heads of the node files of the one that it offers. Reading: plan what this rank takes, then read,
// first from staged copies and, where one is damaged, from the target. A snapshot that is damaged or was pruned
// meanwhile is passed over with a note, and the next older one is tried; any other error ends the restart.
//
// Every call here is collective. A step that may fail on one rank alone runs within comm::agree(), so that all ranks
// take the same branch.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "api/state.hpp"
#include "base/try.hpp"
#include "base/units.hpp"
#include "catalog/catalog.hpp"
#include "commit/commit.hpp"

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

}  // namespace

Result<> StreamState::look_at_heads(RestartState& state) {
    std::optional<restart::Plan> plan;
    restart::ReaderContext reader;
    FB_TRY(comm::agree(*session->topology.world, [&]() -> Result<> {
        FB_TRY_ASSIGN(made, plan_of(*this, schema, state.choice));
        plan.emplace(std::move(made));
        reader = reader_of(*this, state.kept);
        return {};
    }));
    FB_TRY_ASSIGN(rows, restart::rows_of(reader, state.choice, *plan, binding));
    state.rows = std::move(rows);
    return restart::map_staged(reader, state.choice, *plan, binding);
}

// By retention, while it was being looked at.
Result<bool> StreamState::was_removed(const RestartState& state, const Error& error) const {
    auto& world = *session->topology.world;
    if (error.kind != ErrorKind::missing || state.choice.copies.directory().empty()) return false;
    std::int64_t gone = 0;
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        if (world.rank() != 0) return {};
        FB_TRY_ASSIGN(there,
                      sys::target_store().exists(state.choice.copies.directory() + "/" + catalog::manifest_name));
        gone = there ? 0 : 1;
        return {};
    }));
    return world.max(gone) != 0;
}

// A writer that was killed between the two renames of a replacement has left the step without its name.
Result<> StreamState::bring_back_replaced() {
    if (std::exchange(looked_for_replaced, true)) return {};
    return comm::agree(*session->topology.world, [&]() -> Result<> {
        if (session->topology.world->rank() != 0) return {};
        auto& store = sys::target_store();
        const auto left = catalog::leftovers(store, session->options.run, schema.stream);
        if (!left) return left.error().kind == ErrorKind::missing ? Result<>() : Result<>(left.error());
        if (std::ranges::none_of(*left, [](const auto& one) { return one.kind == catalog::Leftover::Kind::old; }))
            return {};
        FB_TRY(commit::recover(store, session->options.run, false));
        return {};
    });
}

void StreamState::note(const std::string& text) {
    notes.push_back(text);
    session->log([&] { return "stream '" + schema.stream + "': " + text; });
}

Result<std::optional<Restart>> StreamState::choose(std::int64_t below, std::int64_t named) {
    FB_TRY(session->check_open());
    auto& world = *session->topology.world;
    FB_TRY(comm::agree(world, [&] { return check(schema); }));
    notes.clear();
    FB_TRY(bring_back_replaced());
    std::shared_ptr<RestartState> state;
    FB_TRY_ASSIGN(chosen, chooser.choose_below(below, named, [&](restart::Choice choice) -> Result<bool> {
        FB_TRY(comm::agree(world, [&] { state = std::make_shared<RestartState>(); }));
        state->choice = std::move(choice);
        return looks_whole(*state);
    }));
    if (!chosen) {
        FB_TRY(comm::agree(world, [&] { course.chose_nothing(); }));
        return std::optional<Restart>();
    }
    const auto& manifest = state->choice.manifest;
    FB_TRY(comm::agree(world, [&] { course.chose(manifest.step, manifest.lineage.lines); }));
    chosen_step = manifest.step;
    reading = state;
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
    auto looked = look_at_heads(state);
    FB_TRY_ASSIGN(turned, looked ? Result<bool>(false) : state.turn_to_target(*this, looked.error()));
    if (turned) {
        FB_TRY(comm::agree(world, [&] {
            note(fmt::format("step {}: its staged copies are passed over: {}", step, looked.error().line()));
            state.rows.clear();
        }));
        looked = look_at_heads(state);
    }
    if (looked) return true;
    FB_TRY_ASSIGN(is_gone, was_removed(state, looked.error()));
    if (looked.error().kind != ErrorKind::corrupt && !is_gone) return looked.error();
    FB_TRY(comm::agree(world, [&] { note(fmt::format("step {} is passed over: {}", step, looked.error().line())); }));
    return false;
}

const std::vector<std::string>& Stream::notes() const { return state_->notes; }

Result<std::optional<Restart>> Stream::newest(std::int64_t below) {
    // newest(301) names step 300, which is then taken although it is marked.
    const auto named = below == std::numeric_limits<std::int64_t>::max() ? -1 : below - 1;
    return state_->guarded([&] { return state_->choose(below, named); });
}

Result<std::optional<Restart>> Stream::older() {
    return state_->guarded([&] {
        return state_->choose(state_->chosen_step < 0 ? std::numeric_limits<std::int64_t>::max() : state_->chosen_step);
    });
}

Result<std::optional<Restart>> StreamState::restore(const std::function<Result<>(Restart&)>& bind) {
    auto& world = *session->topology.world;
    auto below = std::numeric_limits<std::int64_t>::max();
    std::vector<std::string> passed;  // choose() begins its notes anew
    while (true) {
        FB_TRY_ASSIGN(found, choose(below));
        FB_TRY(comm::agree(world, [&] { notes.insert(notes.begin(), passed.begin(), passed.end()); }));
        if (!found) return found;
        FB_TRY(comm::agree(world, [&] { return bind ? bind(*found) : Result<>(); }));
        const auto read = found->read();
        if (read) return found;
        FB_TRY_ASSIGN(is_gone, was_removed(*found->state_, read.error()));
        if (read.error().kind != ErrorKind::corrupt && !is_gone) return read.error();
        FB_TRY(comm::agree(world, [&] {
            note(fmt::format("step {} is passed over: {}", found->step(), read.error().line()));
            passed = notes;
        }));
        below = found->step();
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
    if (error.kind != ErrorKind::corrupt || copies.directory().empty() || world.max(copies.in_memory() ? 1 : 0) == 0)
        return false;
    FB_TRY(comm::agree(world, [&] { copies.leave_memory(); }));
    kept = {};
    return true;
}

Result<> RestartState::read(StreamState& stream, const std::function<Result<Part>()>& part_of_mine) {
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
    if (done) return {};
    return because(done.error(),
                   fmt::format("step {} of stream '{}' cannot be restored: {}", choice.manifest.step,
                               stream.schema.stream, done.error().what),
                   "snapshots of other steps", "older()");
}

Result<> Restart::read() {
    auto& stream = *stream_;
    return stream.guarded([&] {
        return state_->read(stream, [&]() -> Result<Part> {
            FB_TRY(stream.check_bound({}));
            for (std::size_t t = 0; t < stream.binding.tables.size(); ++t) {
                const auto wanted = t < state_->rows.size() ? state_->rows[t] : 0;
                if (stream.binding.tables[t].rows == wanted) continue;
                return Error{ErrorKind::refused,
                             fmt::format("table '{}' is bound to {} rows, but this rank gets {} of step {}",
                                         stream.schema.tables[t], stream.binding.tables[t].rows, wanted, step()),
                             "", "bind rows(table) rows before read()"};
            }
            return Part{stream.schema, stream.binding};
        });
    });
}

Result<> Restart::read(const std::vector<std::string>& variables) {
    return stream_->guarded([&] { return state_->read(*stream_, [&] { return part_of(*stream_, variables); }); });
}

}  // namespace forebay
