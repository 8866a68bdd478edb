// The restarts of a stream: choosing a snapshot, reading it, and what is remembered between the two and of failures.
//
// Ranks: every rank has one, and they are alike but for what a rank keeps open of the snapshot. All calls that choose
// or read are collective.

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

/// What stands behind a Restart.
class detail::RestartState {
public:
    restart::Choice choice;
    restart::Kept kept;
    std::vector<std::uint64_t> rows;  // by table of the stream
};

class Restarts {
public:
    /// Null where nothing is there.
    using Found = Result<std::shared_ptr<detail::RestartState>>;
    using Bind = std::function<Result<>(const std::shared_ptr<detail::RestartState>&)>;

    /// All of them must outlive it.
    Restarts(detail::SessionState& session, const StreamDescription& description, stage::LineagePolicy& lineage,
             Beginning& beginning, Marked marked);
    Restarts(const Restarts&) = delete;
    Restarts& operator=(const Restarts&) = delete;

    /// The newest below a step; a marked one of step `named` as well.
    Found choose(std::int64_t below, std::int64_t named = -1);
    /// The newest below the one that was chosen last.
    Found choose_older();
    /// Chooses, has `bind` bind, reads, and goes back further where what was read is damaged.
    Found restore(const Bind& bind);
    /// Reads all that is described.
    Result<> read(detail::RestartState& state);
    Result<> read(detail::RestartState& state, const std::vector<std::string>& variables);

    /// The memory of a restart is the simulation's again; a read after this one opens all anew. Local.
    void let_go() {
        if (const auto read = reading_.lock()) read->kept = {};
    }
    /// The application has its state, and a snapshot of it. Local.
    void saved() {
        unread_.clear();
        beginning_.saved();
    }
    /// Why newer snapshots were passed over.
    const std::vector<std::string>& notes() const { return notes_; }
    /// By the last call, if it failed.
    const std::vector<restart::NotTaken>& passed() const { return passed_; }

private:
    restart::ChooserContext chooser_context(Marked marked);
    /// choose(), after what was passed over before.
    Found choose_next(std::int64_t below, std::int64_t named);
    Found restore_next(const Bind& bind);
    /// The answer of a restart as a first save sees it: after an error it is refused.
    Found answered(Found match);
    /// Once a stream.
    Result<> bring_back_replaced();
    /// Looks at the heads of what the chooser offers; false, and a note, when it is to be passed over.
    Result<bool> looks_whole(detail::RestartState& state);
    /// Reads the heads of the chosen node files: the rows of this rank's tables, and which staged copies to map.
    Result<> look_at_heads(detail::RestartState& state, const restart::Plan& plan);
    /// Reads what `own_part` gives unless that is an error on some rank. Whether it was all there, or had holes.
    Result<bool> read_part(detail::RestartState& state, const std::function<Result<Part>()>& own_part);
    Result<bool> read_whole(detail::RestartState& state);
    /// After an error that all ranks share: gives the staged copies up where they were damaged and the target has the
    /// snapshot too.
    Result<bool> turn_to_target(detail::RestartState& state, const Error& error) const;
    restart::ReaderContext reader_of(restart::Kept& kept) const;
    /// What people should know of a choice.
    void note(const std::string& text);
    /// Notes it, and counts it against the answer that there is nothing.
    void pass_over(restart::NotTaken passed);
    /// Prints a line for each damaged snapshot that a restart has passed over, by the first rank, if no log has it.
    void warn_of_damage() const;
    const std::string& stream() const { return description_.schema.stream; }

    detail::SessionState& session_;
    const StreamDescription& description_;
    stage::LineagePolicy& lineage_;
    Beginning& beginning_;
    restart::Chooser chooser_;
    std::int64_t step_ = -1;  // of the snapshot that was chosen last
    bool looked_for_replaced_ = false;
    std::weak_ptr<detail::RestartState> reading_;  // what was chosen last
    std::vector<std::string> notes_;
    std::vector<restart::NotTaken> passed_;  // by the call under way, or by the last one, which failed
    std::vector<restart::NotTaken> unread_;  // reads that failed since one was right: memory holds what they left
};

}  // namespace forebay
