// The restarts of a stream: choosing a snapshot, reading it, and the state to keep between the two and after failures.
//
// Ranks: every rank has one, with the same state, except for the files that a rank keeps open. All calls that choose or
// read are collective.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/api/beginning.hpp"
#include "bindings/api/description.hpp"
#include "forebay/forebay.hpp"
#include "path/restart/choose.hpp"
#include "path/restart/plan.hpp"
#include "path/restart/reader.hpp"
#include "path/stage/lineage_policy.hpp"

namespace forebay {

/// The state of a Restart.
class detail::RestartState {
public:
    restart::Choice choice;
    restart::Kept kept;
    std::vector<std::uint64_t> rows;  // of each table of the stream
};

class Restarts {
public:
    /// Null if no snapshot exists.
    using Found = Result<std::shared_ptr<detail::RestartState>>;
    using Bind = std::function<Result<>(const std::shared_ptr<detail::RestartState>&)>;

    /// All arguments must outlive it.
    Restarts(detail::SessionState& session, const StreamDescription& description, stage::LineagePolicy& lineage,
             Beginning& beginning, Marked marked);
    Restarts(const Restarts&) = delete;
    Restarts& operator=(const Restarts&) = delete;

    /// Chooses the newest snapshot below a step. A marked snapshot counts only if its step is `named`.
    Found choose(std::int64_t below, std::int64_t named = -1);
    /// Chooses the newest snapshot below the last choice.
    Found choose_older();
    /// Chooses, calls `bind`, and reads. If the data are damaged, it goes on with the snapshot before.
    Found restore(const Bind& bind);
    /// Reads everything described.
    Result<> read(detail::RestartState& state);
    Result<> read(detail::RestartState& state, const std::vector<std::string>& variables);

    /// Returns the memory of a restart to the simulation. A later read opens everything again. Local.
    void let_go() {
        if (const auto read = reading_.lock()) read->kept = {};
    }
    /// The application now has its state, and a snapshot of it. Local.
    void saved() {
        unread_.clear();
        beginning_.saved();
    }
    /// The reasons for skipped snapshots.
    const std::vector<std::string>& notes() const { return notes_; }
    /// Snapshots that the last call skipped, if it failed.
    const std::vector<restart::NotTaken>& passed() const { return passed_; }

private:
    restart::ChooserContext chooser_context(Marked marked);
    /// choose(), with the snapshots that were skipped before.
    Found choose_next(std::int64_t below, std::int64_t named);
    Found restore_next(const Bind& bind);
    /// Records the answer of a restart for the check of a first save: after an error that save is refused.
    Found answered(Found match);
    /// Once a stream.
    Result<> bring_back_replaced();
    /// Reads the heads of the node files of the offered snapshot. False, with a note, if the snapshot is to be skipped.
    Result<bool> looks_whole(detail::RestartState& state);
    /// Reads the heads of the chosen node files: it learns the rows of this rank's tables, and the staged copies to
    /// map.
    Result<> look_at_heads(detail::RestartState& state, const restart::Plan& plan);
    /// Reads the variables of `own_part`, unless that is an error on some rank. True if all data were there, false if
    /// they had holes.
    Result<bool> read_part(detail::RestartState& state, const std::function<Result<Part>()>& own_part);
    Result<bool> read_whole(detail::RestartState& state);
    /// After an error on all ranks: if staged copies are damaged and the target has the snapshot too, uses the target
    /// instead.
    Result<bool> turn_to_target(detail::RestartState& state, const Error& error) const;
    restart::ReaderContext reader_of(restart::Kept& kept) const;
    /// Logs a fact about a choice, and adds it to notes().
    void note(const std::string& text);
    /// Notes it, and counts it: the answer can then not be "no snapshot exists".
    void pass_over(restart::NotTaken passed);
    /// Prints a line for each damaged snapshot that a restart skipped, on the first rank, if there is no log.
    void warn_of_damage() const;
    const std::string& stream() const { return description_.schema.stream; }

    detail::SessionState& session_;
    const StreamDescription& description_;
    stage::LineagePolicy& lineage_;
    Beginning& beginning_;
    restart::Chooser chooser_;
    std::int64_t step_ = -1;  // of the last choice
    bool looked_for_replaced_ = false;
    std::weak_ptr<detail::RestartState> reading_;  // the last choice
    std::vector<std::string> notes_;
    std::vector<restart::NotTaken> passed_;  // skipped by the call under way, or by the last call if it failed
    std::vector<restart::NotTaken> unread_;  // failed reads since the last good read: their bytes are in memory
};

}  // namespace forebay
