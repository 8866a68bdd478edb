// The public calls of a stream, most of them the guarded form of a member of StreamState. A description changes only
// once nothing can fail: schema and binding need an entry for each variable, or a save would read nobody's memory.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "api/state.hpp"
#include "base/limits.hpp"
#include "base/try.hpp"
#include "describe/geometry.hpp"

namespace forebay {

namespace {

Error unknown(const std::string& name, const char* what) {
    return {ErrorKind::missing, fmt::format("no {} '{}' is described.", what, name)};
}

// What tells a box of a variable from one of another, where nobody says its type.
Result<> check_piece(const Variable& variable, const Piece& piece) {
    const auto refuse = [&](const std::string& why) {
        return Error{ErrorKind::refused,
                     fmt::format("variable '{}' is refused: {} It stays where it was bound.", variable.name, why)};
    };
    const int dims = variable.shape.dims();
    if (piece.box.lo.dims() != dims || piece.box.size.dims() != dims)
        return refuse(fmt::format("a box of {} dimensions, of a global shape of {} ({}).", piece.box.size.dims(), dims,
                                  show_shape(variable.shape)));
    for (int dim = 0; dim < dims; ++dim) {
        const auto stride = piece.stride_bytes[static_cast<std::size_t>(dim)];
        if (piece.box.size[dim] > 1 && stride != 0 && std::abs(stride) < variable.type.size_bytes)
            return refuse(fmt::format("neighbours along dimension {} lie {} bytes apart, and an element, {}, has {}.",
                                      dim, stride, name_of(variable.type), variable.type.size_bytes));
    }
    return {};
}

}  // namespace

StreamState::StreamState(std::shared_ptr<SessionState> owner, const std::string& name, const StreamOptions& options)
    : session(std::move(owner)),
      schema{.stream = name, .tables = {}, .variables = {}},
      stager({.topology = &session->topology,
              .staging = &*session->staging,
              .timings = session->timings ? &*session->timings : nullptr,
              .session_id = session->id,
              .run_id = session->claim.run_id,
              .alignment_bytes = session->alignment_bytes,
              .block_bytes = session->options.agent.block_bytes,
              .host = session->host(),
              .stall_wait = session->options.stall_wait,
              .say = session->say()},
             name, options),
      chooser(chooser_context(options.marked), name),
      course(session->claim.session) {}

Result<> StreamState::add(Variable variable, void* data, std::vector<Piece> pieces, Replicated which) {
    FB_TRY(session->check_open());
    std::erase_if(pieces, [](const Piece& piece) { return piece.box.size.dims() > 0 && volume(piece.box.size) == 0; });
    auto wider = schema;
    wider.variables.push_back(std::move(variable));
    FB_TRY(check(wider));
    // From here on nothing can fail: a description without its binding would be read past its end.
    binding.data.reserve(schema.variables.size() + 1);
    binding.pieces.reserve(schema.variables.size() + 1);
    schema = std::move(wider);
    binding.data.push_back(data);
    binding.first_rank.push_back(which == Replicated::first_rank ? 1 : 0);
    binding.pieces.push_back(std::move(pieces));
    changed = true;
    return {};
}

Result<std::uint32_t> StreamState::add_table(const std::string& name, const std::vector<Column>& columns) {
    FB_TRY(session->check_open());
    if (std::ranges::find(schema.tables, name) != schema.tables.end())
        return Error{ErrorKind::refused, fmt::format("table '{}' is refused: it is described twice.", name)};
    if (columns.empty())
        return Error{ErrorKind::refused, fmt::format("table '{}' is refused: it has no columns.", name)};
    auto wider = schema;
    const auto table = static_cast<std::uint32_t>(wider.tables.size());
    wider.tables.push_back(name);
    describe::TableBinding bound;
    for (const auto& column : columns) {
        bound.variables.push_back(static_cast<std::uint32_t>(wider.variables.size()));
        wider.variables.push_back({.name = name + "/" + column.name,
                                   .type = column.type,
                                   .kind = Kind::particles,
                                   .table = table,
                                   .attributes = column.attributes});
    }
    bound.columns.resize(columns.size());
    FB_TRY(check(wider));
    binding.data.reserve(wider.variables.size());
    binding.pieces.reserve(wider.variables.size());
    binding.tables.reserve(wider.tables.size());
    schema = std::move(wider);
    binding.data.resize(schema.variables.size(), nullptr);
    binding.first_rank.resize(schema.variables.size(), 0);
    binding.pieces.resize(schema.variables.size());
    binding.tables.push_back(std::move(bound));
    changed = true;
    return table;
}

Result<std::size_t> StreamState::index_of(const std::string& variable, Kind kind, const As& as) const {
    const auto* found = find(schema, variable);
    if (found == nullptr) return unknown(variable, name_of(kind));
    const auto type = as.type.value_or(found->type);
    const auto shape = as.shape.value_or(found->shape);
    if (found->kind == kind && found->type == type && found->shape == shape)
        return static_cast<std::size_t>(found - schema.variables.data());
    return Error{
        ErrorKind::refused,
        fmt::format("variable '{}' is described as {} {} of {}, and comes as {} {} of {}. It stays where it was bound",
                    variable, name_of(found->type), name_of(found->kind), show_shape(found->shape), name_of(type),
                    name_of(kind), show_shape(shape)),
        "", "give it as it is described, or forget it and describe it anew"};
}

Result<> StreamState::check_bound(std::span<const char> written) const {
    for (std::size_t t = 0; t < binding.tables.size(); ++t) {
        const auto& table = binding.tables[t];
        for (std::size_t c = 0; c < table.variables.size(); ++c) {
            const auto v = table.variables[c];
            if (table.rows == 0 || (v < written.size() && written[v] != 0)) continue;
            if (table.columns[c].data == nullptr)
                return Error{
                    ErrorKind::refused,
                    fmt::format("column '{}' has {} rows but no address", schema.variables[v].name, table.rows), "",
                    "Particles::bind"};
        }
    }
    return {};
}

Result<> Stream::replicated(const std::string& name, Type type, const Extents& shape, void* data,
                            const Attributes& attributes, Replicated which) {
    return state_->guarded([&] {
        return state_->add(
            {.name = name, .type = type, .kind = Kind::replicated, .shape = shape, .attributes = attributes}, data, {},
            which);
    });
}

Result<> Stream::array(const std::string& name, Type type, const Extents& shape, std::vector<Piece> pieces,
                       const Attributes& attributes, Coverage coverage) {
    return state_->guarded([&] {
        return state_->add({.name = name,
                            .type = type,
                            .kind = Kind::array,
                            .shape = shape,
                            .coverage = coverage,
                            .attributes = attributes},
                           nullptr, std::move(pieces));
    });
}

Result<> Stream::rebind(const std::string& name, std::vector<Piece> pieces, const As& as) {
    return state_->guarded([&]() -> Result<> {
        FB_TRY_ASSIGN(index, state_->index_of(name, Kind::array, as));
        for (const auto& piece : pieces) FB_TRY(check_piece(state_->schema.variables[index], piece));
        std::erase_if(pieces, [](const Piece& piece) { return volume(piece.box.size) == 0; });
        auto& bound = state_->binding.pieces[index];
        if (!std::ranges::equal(bound, pieces, {}, &Piece::box, &Piece::box)) state_->changed = true;
        bound = std::move(pieces);
        return {};
    });
}

Result<> Stream::rebind(const std::string& name, void* data, const As& as) {
    return state_->guarded([&]() -> Result<> {
        FB_TRY_ASSIGN(index, state_->index_of(name, Kind::replicated, as));
        if (data == nullptr)
            return Error{ErrorKind::refused, fmt::format("variable '{}' is refused: it has no address.", name)};
        state_->binding.data[index] = data;
        return {};
    });
}

Result<> StreamState::forget(const std::string& name) {
    auto& [stream, tables, variables] = schema;
    const auto* found = find(schema, name);
    if (found == nullptr) return unknown(name, "variable");
    if (found->kind == Kind::particles)
        return Error{ErrorKind::refused, fmt::format("'{}' is a column; tables stay described.", name)};
    const auto index = found - variables.data();
    stager.abandon();  // blocks that are being written belong to the old layout
    variables.erase(variables.begin() + index);
    binding.data.erase(binding.data.begin() + index);
    binding.first_rank.erase(binding.first_rank.begin() + index);
    binding.pieces.erase(binding.pieces.begin() + index);
    for (auto& table : binding.tables)
        for (auto& column : table.variables) column -= column > static_cast<std::uint32_t>(index) ? 1 : 0;
    changed = true;
    return {};
}

Result<> Stream::forget(const std::string& name) {
    return state_->guarded([&] { return state_->forget(name); });
}

Result<Particles> Stream::particles(const std::string& name, const std::vector<Column>& columns) {
    return state_->guarded([&]() -> Result<Particles> {
        FB_TRY_ASSIGN(table, state_->add_table(name, columns));
        return Particles(state_, table);
    });
}

Particles::Particles(std::shared_ptr<StreamState> stream, std::uint32_t table)
    : stream_(std::move(stream)), table_(table) {}

Result<> StreamState::bind(std::uint32_t index, std::uint64_t rows, std::vector<ColumnData> columns,
                           const std::vector<Type>& types) {
    auto& table = binding.tables[index];
    if (!columns.empty() && columns.size() != table.variables.size())
        return Error{ErrorKind::refused, fmt::format("table '{}' has {} columns, bind() was given {}.",
                                                     schema.tables[index], table.variables.size(), columns.size())};
    for (std::size_t c = 0; c < std::min(types.size(), table.variables.size()); ++c) {
        const auto& described = schema.variables[table.variables[c]];
        if (types[c] != described.type)
            return Error{ErrorKind::refused,
                         fmt::format("column '{}' is described as {}, and comes as {}. The table stays bound as it was",
                                     described.name, name_of(described.type), name_of(types[c])),
                         "", "give the columns in the order and of the types of the description"};
    }
    columns.resize(table.variables.size());
    table.rows = rows;
    table.columns = std::move(columns);
    return {};
}

Result<> Particles::bind(std::uint64_t rows, std::vector<ColumnData> columns, const std::vector<Type>& types) {
    return stream_->guarded([&] { return stream_->bind(table_, rows, std::move(columns), types); });
}

std::uint64_t Particles::rows() const { return stream_->binding.tables[table_].rows; }

Result<> StreamState::prepare() {
    FB_TRY(session->check_open());
    FB_TRY(stager.prepare(schema, binding, changed));
    changed = false;
    return {};
}

Result<> Stream::prepare() {
    return state_->guarded([&] { return state_->prepare(); });
}

Result<Saved> StreamState::begin(std::int64_t step, double time, stage::Stager::Values values) {
    FB_TRY(session->check_open());
    std::vector<format::LineStart> lines;
    const auto own_result = attempt([&]() -> Result<> {
        if (step < 0 || step > limits::step_max)
            return Error{ErrorKind::refused,
                         fmt::format("step {} is refused: steps are 0 to {}.", step, limits::step_max)};
        FB_TRY(session->check_lost());
        FB_TRY(check_restarted(step));
        direct.assign(schema.variables.size(), 0);
        if (values == stage::Stager::Values::final) FB_TRY(check_bound({}));
        lines = course.lines_of(step);
        return {};
    });
    // The memory of a restart is the simulation's again; a read after this one opens all anew.
    if (const auto read = restarts.reading.lock()) read->kept = {};
    session->leave_computing(stager.stream_index());
    auto saved = stager.begin(step, time, schema, binding, changed, values, own_result);
    if (!saved || !saved->kept) session->compute_again();
    if (!saved) return saved;
    changed = false;
    if (saved->kept) {
        stager.stand(std::move(lines));
        course.saved(step);
        restarts.saved();
    }
    if (saved->replaced >= 0)
        session->log([&] {
            return fmt::format("stream '{}': step {} replaces step {}, which was not drained yet.", schema.stream, step,
                               saved->replaced);
        });
    if (!saved->kept)
        session->log(
            [&] { return fmt::format("stream '{}': step {} is skipped: no slot is free.", schema.stream, step); });
    return saved;
}

Result<Saved> StreamState::finish() {
    auto saved = stager.finish(binding, direct, *session->crew());
    session->end_save(schema.stream, saved);
    return saved;
}

Result<DirectSave> Stream::begin(std::int64_t step, double time) {
    return state_->guarded([&]() -> Result<DirectSave> {
        FB_TRY_ASSIGN(begun, state_->begin(step, time, stage::Stager::Values::not_yet));
        return DirectSave(state_, begun);
    });
}

Result<Saved> Stream::save(std::int64_t step, double time) {
    return state_->guarded([&]() -> Result<Saved> {
        FB_TRY_ASSIGN(begun, state_->begin(step, time, stage::Stager::Values::final));
        return begun.kept ? state_->finish() : begun;
    });
}

DirectSave::DirectSave(std::shared_ptr<StreamState> stream, Saved saved)
    : stream_(std::move(stream)), saved_(saved), number_(stream_->stager.under_way()) {}

Result<> DirectSave::check_under_way() const {
    if (saved_.kept && number_ == stream_->stager.under_way()) return {};
    return Error{ErrorKind::refused,
                 fmt::format("stream '{}': the save of step {} {}", stream_->schema.stream, saved_.step,
                             saved_.kept ? "is not under way any more: it was sealed, or another was begun"
                                         : "was skipped, so it has no slot to write to"),
                 "", "Stream::begin"};
}

Result<void*> DirectSave::block(const std::string& variable, std::size_t piece) {
    return stream_->guarded([&]() -> Result<void*> {
        FB_TRY(check_under_way());
        const auto* found = find(stream_->schema, variable);
        if (found == nullptr || found->kind == Kind::particles)
            return unknown(variable, "array or replicated variable");
        const auto v = static_cast<std::uint32_t>(found - stream_->schema.variables.data());
        if (found->kind == Kind::array && piece >= stream_->binding.pieces[v].size())
            return Error{ErrorKind::refused, fmt::format("variable '{}' has {} boxes on this rank, not {}.", variable,
                                                         stream_->binding.pieces[v].size(), piece + 1)};
        stream_->direct[v] = 1;
        return static_cast<void*>(stream_->stager.block(v, piece).data());
    });
}

Result<void*> DirectSave::column(const Particles& table, std::size_t column) {
    return stream_->guarded([&]() -> Result<void*> {
        FB_TRY(check_under_way());
        const auto& columns = stream_->binding.tables[table.table_].variables;
        if (column >= columns.size()) return unknown(fmt::format("{}", column), "column number");
        stream_->direct[columns[column]] = 1;
        return static_cast<void*>(stream_->stager.block(columns[column], 0).data());
    });
}

Result<Saved> DirectSave::seal() {
    if (!saved_.kept) return saved_;
    return stream_->guarded([&]() -> Result<Saved> {
        FB_TRY(stream_->session->check_open());
        FB_TRY(check_under_way());
        // A column without an address on one rank must not leave the others waiting for its blocks.
        const auto agreed = stream_->stager.check_final(stream_->schema, stream_->binding, stream_->direct,
                                                        stream_->check_bound(stream_->direct));
        if (agreed) return stream_->finish();
        stream_->stager.abandon();
        stream_->session->compute_again();
        return agreed.error();
    });
}

Result<> Stream::wait_committed(std::chrono::milliseconds at_most) {
    return state_->guarded([&]() -> Result<> {
        FB_TRY(state_->session->check_open());
        state_->session->leave_computing();
        const auto waited = state_->stager.wait_committed(at_most);
        state_->session->compute_again();
        FB_TRY(waited);
        return comm::agree(*state_->session->topology.world, [&] { return state_->session->check_lost(); });
    });
}

Counters StreamState::counters() const {
    if (!session->staging) return at_close;
    auto counters = stager.counters();
    const auto& page = session->staging->control();
    counters.commits = page.commits.load();
    counters.aborts = page.aborts.load();
    counters.bytes_drained = page.bytes_drained.load();
    counters.bytes_stored = page.bytes_stored.load();
    counters.drain_seconds = static_cast<double>(page.drain_ns.load()) * 1e-9;
    counters.drain_cpu_seconds = static_cast<double>(page.drain_cpu_ns.load()) * 1e-9;
    counters.overtakes = page.overtakes.load();
    counters.limits_overruled = page.limits_overruled.load();
    counters.steps_counted = page.steps_counted.load();
    counters.slowdown_percent = page.slowdown_percent.load();
    counters.drain_rate_bytes_per_second = page.drain_rate_bytes_per_second.load();
    return counters;
}

Counters Stream::counters() const { return state_->counters(); }

}  // namespace forebay
