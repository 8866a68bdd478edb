// The public calls of a stream, most of them the guarded form of a member of StreamState; those that describe are in
// description.cpp.

#include <fmt/format.h>

#include "bindings/api/state.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"

namespace forebay {

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
                    "bind an address to each column"};
        }
    }
    return {};
}

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
    FB_TRY(drop_given_up());
    std::vector<format::LineStart> lines;
    const auto own_result = attempt([&]() -> Result<> {
        if (step < 0 || step > limits::step_max)
            return Error{ErrorKind::refused,
                         fmt::format("step {} is refused: steps are 0 to {}.", step, limits::step_max)};
        FB_TRY(session->check_lost());
        FB_TRY(check_restarted(step));
        FB_TRY(check_not_filled(step));
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
                 "", "begin another save"};
}

Result<void*> DirectSave::block(const std::string& variable, std::size_t piece) {
    return stream_->guarded([&]() -> Result<void*> {
        FB_TRY(check_under_way());
        const auto* found = find(stream_->schema, variable);
        if (found == nullptr || found->kind == Kind::particles)
            return Error{ErrorKind::missing,
                         fmt::format("no array or replicated variable '{}' is described.", variable)};
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
    describe::put_counters(session->staging->control().counts, counters);
    return counters;
}

Counters Stream::counters() const { return state_->counters(); }

}  // namespace forebay
