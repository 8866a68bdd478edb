// Decides the step at which a stream of this session begins: at its newest snapshot, or at the request of a user
// (FOREBAY_RESTART, restart_from). It also gives the error if no snapshot can be used. A request counts until the first
// save of its stream: from then on newest() means the session's own snapshots. A first save checks that it may begin
// there.
//
// Ranks: every rank has one, with the same state.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forebay/forebay.hpp"
#include "path/restart/not_taken.hpp"
#include "path/restart/wish.hpp"
#include "path/stage/lineage_policy.hpp"

namespace forebay {

class Beginning {
public:
    /// `session` and `lineage` must outlive it. `restart_from` is the stream's option.
    Beginning(const detail::SessionState& session, const stage::LineagePolicy& lineage, std::string stream,
              std::int64_t restart_from)
        : session_(session), lineage_(lineage), stream_(std::move(stream)), restart_from_(restart_from) {}

    /// The user's request, if the restarts of this session do not begin at the newest snapshot. Logs it once.
    /// Collective.
    Result<std::optional<restart::RestartWish>> wish();
    /// Records that the run went back as requested: a request in a configuration counts only once. Collective.
    Result<> note_wish(const restart::RestartWish& wish) const;
    /// An error if a snapshot below `below` was skipped or could not be read, or if a request was not fulfilled.
    /// Collective.
    Result<> check_has_none(std::int64_t below, const std::optional<restart::RestartWish>& wish,
                            const std::vector<restart::NotTaken>& passed,
                            const std::vector<restart::NotTaken>& unread) const;

    /// Before the first save in a stream without a restart: drops the lines of attempts that the run has given up. Once
    /// a stream. Collective.
    Result<> drop_given_up();
    /// `refused` if the restart before a first save failed; `passed` are the snapshots it skipped.
    Result<> check_restarted(std::int64_t step, const std::vector<restart::NotTaken>& passed) const;
    /// `retry` if the stream holds a snapshot of a later session. Only the world's first rank looks. Local.
    Result<> check_not_filled(std::int64_t step) const;
    /// The error for a snapshot of the later session `of`. `what` begins its text.
    Error filled_meanwhile(const std::string& what, std::uint32_t of) const;
    /// The application now has its state, and a snapshot of it: requests no longer count.
    void saved() {
        wish_counts_ = false;
        is_before_save_ = false;
    }

private:
    const detail::SessionState& session_;
    const stage::LineagePolicy& lineage_;
    std::string stream_;
    std::int64_t restart_from_;
    bool wish_counts_ = true;  // until the first save
    bool wish_is_told_ = false;
    bool is_before_save_ = true;
    bool looked_for_given_up_ = false;
};

}  // namespace forebay
