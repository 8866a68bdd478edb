// Where a stream of this session begins: at its newest snapshot, or where people wish instead; and the answer when
// nothing can be taken. A wish counts until the first save of its stream: from then on newest() means what the session
// itself has saved. A first save looks whether it may begin there.
//
// Ranks: every rank has one, and they are alike.

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
    /// `session` and `lineage` must outlive it. `restart_from` is the option of the stream.
    Beginning(const detail::SessionState& session, const stage::LineagePolicy& lineage, std::string stream,
              std::int64_t restart_from)
        : session_(session), lineage_(lineage), stream_(std::move(stream)), restart_from_(restart_from) {}

    /// Where the restarts of this session begin, if not at the newest; told once. Collective.
    Result<std::optional<restart::RestartWish>> wish();
    /// After it has decided; a configuration has it decide once. Collective.
    Result<> note_wish(const restart::RestartWish& wish) const;
    /// An error where something is there below `below` that was passed over, or could not be read, or a wish was not
    /// fulfilled. Collective.
    Result<> check_has_none(std::int64_t below, const std::optional<restart::RestartWish>& wish,
                            const std::vector<restart::NotTaken>& passed,
                            const std::vector<restart::NotTaken>& unread) const;

    /// Before a first save in a stream that was not restored: lines of attempts that the run has given up do not count.
    /// Once a stream. Collective.
    Result<> drop_given_up();
    /// `refused` where the restart before a first save has failed, by what it has `passed` over.
    Result<> check_restarted(std::int64_t step, const std::vector<restart::NotTaken>& passed) const;
    /// `retry` where the stream holds a snapshot of a later session. Local; the world's first rank looks.
    Result<> check_not_filled(std::int64_t step) const;
    /// `what` is what stands there, of session `of`.
    Error filled_meanwhile(const std::string& what, std::uint32_t of) const;
    /// The application has its state, and a snapshot of it.
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
