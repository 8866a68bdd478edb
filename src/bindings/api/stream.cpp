// The public calls of a stream, of its tables and of its saves. Each guards a call of StreamState or of its parts.

#include <fmt/format.h>

#include <limits>

#include "bindings/api/state.hpp"
#include "core/base/try.hpp"

namespace forebay {

Result<> Stream::replicated(const std::string& name, Type type, const Extents& shape, void* data,
                            const Attributes& attributes, Replicated which) {
    return state_->guarded_open([&] {
        return state_->description.add(
            {.name = name, .type = type, .kind = Kind::replicated, .shape = shape, .attributes = attributes}, data, {},
            which);
    });
}

Result<> Stream::array(const std::string& name, Type type, const Extents& shape, std::vector<Piece> pieces,
                       const Attributes& attributes, Coverage coverage) {
    return state_->guarded_open([&] {
        return state_->description.add({.name = name,
                                        .type = type,
                                        .kind = Kind::array,
                                        .shape = shape,
                                        .coverage = coverage,
                                        .attributes = attributes},
                                       nullptr, std::move(pieces));
    });
}

Result<> Stream::rebind(const std::string& name, std::vector<Piece> pieces, const As& as) {
    return state_->guarded([&] { return state_->description.rebind(name, std::move(pieces), as); });
}

Result<> Stream::rebind(const std::string& name, void* data, const As& as) {
    return state_->guarded([&] { return state_->description.rebind(name, data, as); });
}

Result<> Stream::forget(const std::string& name) {
    return state_->guarded([&]() -> Result<> {
        FB_TRY(state_->description.forget(name));
        state_->stager.abandon();  // a direct save under way belongs to the old layout
        return {};
    });
}

Result<Particles> Stream::particles(const std::string& name, const std::vector<Column>& columns) {
    return state_->guarded_open([&]() -> Result<Particles> {
        FB_TRY_ASSIGN(table, state_->description.add_table(name, columns));
        return Particles(state_, table);
    });
}

Particles::Particles(std::shared_ptr<StreamState> stream, std::uint32_t table)
    : stream_(std::move(stream)), table_(table) {}

Result<> Particles::bind(std::uint64_t rows, std::vector<ColumnData> columns, const std::vector<Type>& types) {
    return stream_->guarded([&] { return stream_->description.bind(table_, rows, std::move(columns), types); });
}

std::uint64_t Particles::rows() const { return stream_->description.binding.tables[table_].rows; }

Result<> Stream::prepare() {
    return state_->guarded([&] { return state_->prepare(); });
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
                 fmt::format("stream '{}': the save of step {} {}", stream_->description.schema.stream, saved_.step,
                             saved_.kept ? "is over: it was sealed, or another save was begun"
                                         : "was skipped, so it has no slot"),
                 "", "begin another save"};
}

Result<void*> DirectSave::block(const std::string& variable, std::size_t piece) {
    return stream_->guarded([&]() -> Result<void*> {
        FB_TRY(check_under_way());
        const auto* described = find(stream_->description.schema, variable);
        if (described == nullptr || described->kind == Kind::particles)
            return Error{ErrorKind::missing,
                         fmt::format("no array or replicated variable '{}' is described.", variable)};
        const auto v = static_cast<std::uint32_t>(described - stream_->description.schema.variables.data());
        if (described->kind == Kind::array && piece >= stream_->description.binding.pieces[v].size())
            return Error{ErrorKind::refused, fmt::format("variable '{}' has {} boxes on this rank, not {}.", variable,
                                                         stream_->description.binding.pieces[v].size(), piece + 1)};
        stream_->direct[v] = 1;
        return static_cast<void*>(stream_->stager.block(v, piece).data());
    });
}

Result<void*> DirectSave::column(const Particles& table, std::size_t column) {
    return stream_->guarded([&]() -> Result<void*> {
        FB_TRY(check_under_way());
        const auto& columns = stream_->description.binding.tables[table.table_].variables;
        if (column >= columns.size())
            return Error{ErrorKind::missing, fmt::format("no column number '{}' is described.", column)};
        stream_->direct[columns[column]] = 1;
        return static_cast<void*>(stream_->stager.block(columns[column], 0).data());
    });
}

Result<Saved> DirectSave::seal() {
    if (!saved_.kept) return saved_;
    return stream_->guarded([&]() -> Result<Saved> {
        FB_TRY(stream_->session->check_open());
        FB_TRY(check_under_way());
        // A column without an address on one rank must not make the other ranks wait for its blocks.
        const auto agreed =
            stream_->stager.check_final(stream_->description.schema, stream_->description.binding, stream_->direct,
                                        stream_->description.check_bound(stream_->direct));
        if (agreed) return stream_->finish();
        stream_->stager.abandon();
        stream_->session->compute_again();
        return agreed.error();
    });
}

const std::vector<std::string>& Stream::notes() const { return state_->restarts.notes(); }

Result<std::optional<Restart>> Stream::newest(std::int64_t below) {
    // newest(301) names step 300: it is chosen even if it is marked.
    const auto named = below == std::numeric_limits<std::int64_t>::max() ? -1 : below - 1;
    return state_->guarded([&] { return state_->handle_of(state_->restarts.choose(below, named)); });
}

Result<std::optional<Restart>> Stream::older() {
    return state_->guarded([&] { return state_->handle_of(state_->restarts.choose_older()); });
}

Result<std::optional<Restart>> Stream::restore(const std::function<Result<>(Restart&)>& bind) {
    return state_->guarded([&] {
        return state_->handle_of(state_->restarts.restore([&](const std::shared_ptr<RestartState>& chosen) {
            auto restart = state_->handle_of(chosen);
            return bind ? bind(restart) : Result<>();
        }));
    });
}

Result<> Stream::wait_committed(std::chrono::milliseconds at_most) {
    return state_->guarded([&]() -> Result<> {
        FB_TRY(state_->session->check_open());
        state_->session->leave_computing();
        const auto waited = state_->stager.wait_committed(at_most);
        state_->session->compute_again();
        FB_TRY(waited);
        // A session that has lost its run must learn it here, even if its snapshots are committed.
        return comm::agree(*state_->session->topology.world, [&] { return state_->session->check_lost(); });
    });
}

Counters Stream::counters() const { return state_->counters(); }

}  // namespace forebay
