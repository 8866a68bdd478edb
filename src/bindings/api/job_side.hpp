// Session::job(), on each rank: what this rank knows of the job, what all ranks make of it, and the conditions of
// analyses that the application is given.
//
// Life: with its session. The first call asks for the end of the job and begins to look for requests; stop() ends that.

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

    /// The same answer on every rank. Collective.
    Result<Job> ask(bool stop_wanted);
    /// Notes what a save of this rank took, for the end of the job. Local.
    void note_save(const std::string& stream, const Saved& saved);
    /// Takes no more requests: later ones are meant for the next session. Local.
    void stop() { state_.reset(); }

private:
    /// By the world's first rank.
    Result<> look();
    void mark_to_continue() const;
    /// What this rank knows of the job. Local.
    JobReport own_report(bool stop_wanted);
    /// The condition that all are given, of the rank that `urgency` names. Collective.
    Result<std::optional<node::Flagged>> hear_condition(std::int64_t urgency);

    detail::SessionState& session_;
    bool looked_ = false;
    std::unique_ptr<JobState> state_;  // on the world's first rank, from the first call on
    Conditions conditions_;
    std::map<std::string, double, std::less<>>
        save_seconds_max_;                     // of a stream, this rank's, without waiting for slots
    std::vector<describe::SavesSoFar> saves_;  // of each stream, at the last call
};

}  // namespace forebay
