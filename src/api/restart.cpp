#include <fmt/format.h>

#include <limits>

#include "api/state.hpp"

namespace forebay {

namespace {

Result<restart::Plan> plan_of(const StreamState& stream, const Schema& schema, const restart::Choice& choice) {
    const auto& topology = stream.session->topology;
    return restart::Plan::make(schema, choice.manifest, static_cast<std::uint32_t>(topology.world->rank()),
                               static_cast<std::uint32_t>(topology.world->size()), topology.node_index);
}

// Some variables of a description, and where they lie.
struct Part {
    Schema schema;
    stage::Binding binding;
};
Result<Part> part_of(const StreamState& stream, const std::vector<std::string>& names) {
    Part part{.schema = {.stream = stream.schema.stream, .tables = {}, .variables = {}}, .binding = {}};
    for (const auto& name : names) {
        const auto* variable = find(stream.schema, name);
        if (variable == nullptr)
            return Error{ErrorKind::missing, fmt::format("forebay: no variable '{}' is described.", name)};
        if (variable->kind == Kind::particles)
            return Error{ErrorKind::refused,
                         fmt::format("forebay: '{}' is a column; tables are read with all that is described.", name)};
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
            .store = &sys::posix_store(),
            .window_path = session.staging->directory() + "/restart.window",
            .window_bytes = session.options.restart_window_bytes,
            .kept = &kept};
}

}  // namespace

Result<> StreamState::look_at_heads(RestartState& state) {
    auto plan = plan_of(*this, schema, state.choice);
    FB_TRY(comm::agree(*session->topology.world, plan ? Result<>() : Result<>(plan.error())));
    FB_TRY_ASSIGN(rows, restart::rows_of(reader_of(*this, state.kept), state.choice, *plan, binding));
    state.rows = std::move(rows);
    return restart::map_staged(reader_of(*this, state.kept), state.choice, *plan, binding);
}

Result<std::optional<Restart>> StreamState::choose(std::int64_t below) {
    FB_TRY(session->check_open());
    FB_TRY(comm::agree(*session->topology.world, check(schema)));
    notes.clear();
    const auto note = [this](const std::string& text) {
        notes.push_back(text);
        session->log("forebay: stream '" + schema.stream + "': " + text);
    };
    while (true) {
        auto choice = chooser.newest_below(below);
        for (const auto& text : chooser.notes()) note(text);
        if (!choice) return choice.error();
        if (!*choice) return std::optional<Restart>();
        auto state = std::make_shared<RestartState>();
        state->choice = std::move(**choice);
        const auto step = state->choice.manifest.step;
        auto looked = look_at_heads(*state);
        // The chooser has seen the records alone; a head behind its record may be damaged, here or at the target.
        if (!looked && looked.error().kind == ErrorKind::corrupt && !state->choice.directory.empty() &&
            session->topology.world->max(state->choice.staged.empty() ? 0 : 1) == 1) {
            note(fmt::format("step {}: its staged copies are passed over: {}", step, looked.error().text));
            state->choice.staged.clear();
            state->choice.source = state->choice.directory;
            state->rows.clear();
            state->kept = {};
            looked = look_at_heads(*state);
        }
        if (!looked) {
            if (looked.error().kind != ErrorKind::corrupt) return looked.error();
            note(fmt::format("step {} is passed over: {}", step, looked.error().text));
            below = step;
            continue;
        }
        chosen_step = step;
        reading = state;
        session->log(fmt::format("forebay: stream '{}': restart from step {}, saved by {} ranks, {}", schema.stream,
                                 step, state->choice.manifest.world_ranks, state->choice.source));
        return std::optional(Restart(std::move(state), shared_from_this()));
    }
}

Result<std::optional<Restart>> Stream::newest(std::int64_t below) { return state_->choose(below); }

Result<std::optional<Restart>> Stream::older() {
    return state_->choose(state_->chosen_step < 0 ? std::numeric_limits<std::int64_t>::max() : state_->chosen_step);
}

std::int64_t Restart::step() const { return state_->choice.manifest.step; }
double Restart::time() const { return state_->choice.manifest.time; }
const std::string& Restart::source() const { return state_->choice.source; }
bool Restart::same_ranks() const {
    return state_->choice.manifest.world_ranks == static_cast<std::uint32_t>(stream_->session->topology.world->size());
}
std::uint64_t Restart::rows(const Particles& table) const {
    return table.table_ < state_->rows.size() ? state_->rows[table.table_] : 0;
}

Result<> RestartState::read(StreamState& stream, const Schema& schema, const stage::Binding& binding, Result<> mine) {
    FB_TRY(stream.session->check_open());
    auto plan = plan_of(stream, schema, choice);
    if (mine && !plan) mine = plan.error();
    FB_TRY(comm::agree(*stream.session->topology.world, mine));
    const auto done = restart::read(reader_of(stream, kept), choice, *plan, binding);
    if (done) return {};
    return Error{
        done.error().kind,
        fmt::format(
            "forebay: step {} of stream '{}' cannot be restored: {} Safe: snapshots of other steps. Next: older().",
            choice.manifest.step, schema.stream, done.error().text)};
}

Result<> Restart::read() {
    auto& stream = *stream_;
    auto mine = stream.check_bound({});
    for (std::size_t t = 0; mine && t < stream.binding.tables.size(); ++t) {
        const auto wanted = t < state_->rows.size() ? state_->rows[t] : 0;
        if (stream.binding.tables[t].rows == wanted) continue;
        mine = Error{ErrorKind::refused,
                     fmt::format("forebay: table '{}' is bound to {} rows, but this rank gets {} of step {}. Next: "
                                 "bind rows(table) rows before read().",
                                 stream.schema.tables[t], stream.binding.tables[t].rows, wanted, step())};
    }
    return state_->read(stream, stream.schema, stream.binding, mine);
}

Result<> Restart::read(const std::vector<std::string>& variables) {
    auto part = part_of(*stream_, variables);
    if (part) return state_->read(*stream_, part->schema, part->binding, {});
    return state_->read(*stream_, {.stream = stream_->schema.stream, .tables = {}, .variables = {}}, {}, part.error());
}

}  // namespace forebay
