// Session::job() on each rank: collects this rank's facts about the job, agrees with all ranks, and delivers conditions
// of analyses.
//
// Life: with its session. The first call asks for the end of the job and starts to watch for requests. stop() ends the
// watch.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/api/conditions.hpp"
#include "bindings/api/job.hpp"
#include "core/describe/durable_time.hpp"
#include "forebay/forebay.hpp"

namespace forebay {

class JobSide {
public:
    /// `session` must outlive it, and be open in every call.
    explicit JobSide(detail::SessionState& session) : session_(session) {}

    /// Returns the same answer on every rank. Collective.
    Result<Job> ask(bool stop_wanted);
    /// Records the duration of a save of this rank, for the reserve at the end of the job. Local.
    void note_save(const std::string& stream, const Saved& saved);
    /// Stops taking requests: later requests are for the next session. Local.
    void stop() { state_.reset(); }

private:
    /// Only on the world's first rank.
    Result<> look();
    void mark_to_continue() const;
    /// This rank's facts about the job. Local.
    JobReport own_report(bool stop_wanted);
    /// Broadcasts the condition of the rank in `urgency`. Collective.
    Result<std::optional<node::Flagged>> hear_condition(std::int64_t urgency);

    detail::SessionState& session_;
    bool looked_ = false;
    std::unique_ptr<JobState> state_;  // only on the world's first rank, after the first call
    Conditions conditions_;
    std::map<std::string, double, std::less<>>
        save_seconds_max_;                     // by stream: this rank's longest save, without waiting for slots
    std::vector<describe::SavesSoFar> saves_;  // of each stream, at the last call
};

}  // namespace forebay
