#include <fmt/format.h>

#include "bindings/api/state.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"

namespace forebay {

StreamState::StreamState(std::shared_ptr<SessionState> owner, const std::string& name, const StreamOptions& options)
    : session(std::move(owner)),
      description(name),
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
      lineage(session->claim.session),
      beginning(*session, lineage, name, options.restart_from),
      restarts(*session, description, lineage, beginning, options.marked) {}

Result<> StreamState::prepare() {
    FB_TRY(session->check_open());
    FB_TRY(stager.prepare(description.schema, description.binding, description.changed));
    description.changed = false;
    return {};
}

Result<Saved> StreamState::begin(std::int64_t step, double time, stage::Stager::Values values) {
    FB_TRY(session->check_open());
    FB_TRY(beginning.drop_given_up());
    std::vector<format::LineStart> lines;
    // An error of this rank is not returned here: the stager's agreement takes it along, so a save sends no extra
    // message.
    const auto own_result = attempt([&]() -> Result<> {
        if (step < 0 || step > limits::step_max)
            return Error{ErrorKind::refused,
                         fmt::format("step {} is refused: steps are 0 to {}.", step, limits::step_max)};
        FB_TRY(session->check_lost());
        FB_TRY(beginning.check_restarted(step, restarts.passed()));
        FB_TRY(beginning.check_not_filled(step));
        direct.assign(description.schema.variables.size(), 0);
        if (values == stage::Stager::Values::final) FB_TRY(description.check_bound({}));
        lines = lineage.lines_of(step);
        return {};
    });
    // From here on the simulation needs the memory that the restart kept.
    restarts.let_go();
    // The wait for a slot and the copy count in no step of the simulation.
    session->leave_computing(stager.stream_index());
    auto saved =
        stager.begin(step, time, description.schema, description.binding, description.changed, values, own_result);
    if (!saved || !saved->kept) session->compute_again();
    if (!saved) return saved;
    description.changed = false;
    if (saved->kept) {
        stager.stand(std::move(lines));
        lineage.saved(step);
        restarts.saved();
    }
    if (saved->replaced >= 0)
        session->log([&] {
            return fmt::format("stream '{}': step {} replaces step {}, which was not drained yet.",
                               description.schema.stream, step, saved->replaced);
        });
    if (!saved->kept)
        session->log([&] {
            return fmt::format("stream '{}': step {} is skipped: no slot is free.", description.schema.stream, step);
        });
    return saved;
}

Result<Saved> StreamState::finish() {
    auto saved = stager.finish(description.binding, direct, *session->crew());
    session->end_save(description.schema.stream, saved);
    return saved;
}

Restart StreamState::handle_of(std::shared_ptr<RestartState> state) {
    return Restart(std::move(state), shared_from_this());
}

Result<std::optional<Restart>> StreamState::handle_of(Restarts::Found match) {
    if (!match) return match.error();
    if (*match == nullptr) return std::optional<Restart>();
    return std::optional(handle_of(std::move(*match)));
}

Counters StreamState::counters() const {
    if (!session->staging) return at_close;
    auto counters = stager.counters();
    describe::put_counters(session->staging->control().counts, counters);
    return counters;
}

}  // namespace forebay
