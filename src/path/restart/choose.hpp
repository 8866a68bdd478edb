// Chooses the snapshot for a restart: the newest whole snapshot without a mark, from staged copies first, then from the
// target. It reports why it skipped each newer snapshot. If a snapshot exists and cannot be read now, it is not
// skipped: it ends the restart, because the run would go back without need.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/comm/group.hpp"
#include "core/format/manifest.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/copies.hpp"
#include "path/catalog/history.hpp"
#include "path/node/host.hpp"
#include "path/node/long_wait.hpp"
#include "path/node/staging.hpp"
#include "path/restart/not_taken.hpp"
#include "path/restart/staged_saves.hpp"

namespace forebay::restart {

struct Choice {
    format::Manifest manifest;
    catalog::SnapshotCopies copies;  // of its node files, as this node can read them
};

struct ChooserContext {
    comm::Topology* topology = nullptr;
    node::Staging* staging = nullptr;
    sys::Store* store = nullptr;
    std::string run;
    std::uint64_t run_id = 0;
    std::chrono::milliseconds wait_max{};          // for the drain of snapshots that a dead session staged
    node::Host* host = nullptr;                    // of this node's agent, on the node's first rank
    std::vector<std::string> left = {};            // staging directories of earlier sessions on this machine
    Marked marked = Marked::pass_over;             // what to do with marked snapshots that are not named
    node::Say say = {};                            // for that wait, if it is long
    std::function<void(const std::string&)> note;  // notes for people about the choice; the same on all ranks
    std::function<void(NotTaken)> pass_over;       // likewise
};

class Chooser {
public:
    Chooser(ChooserContext context, std::string stream) : context_(std::move(context)), stream_(std::move(stream)) {}

    /// Checks a snapshot with correct records more closely and keeps it. False skips it, after a report; an error ends
    /// the choice.
    using Accept = std::function<Result<bool>(Choice)>;
    /// Offers whole snapshots of the living line with a step below `below`, newest first, until `accept` takes one.
    /// False if none is taken: then there is none, or ChooserContext::pass_over got all of them. Offers the marked
    /// snapshot of step `named` (-1: none), and other marked snapshots as the context says. An error if a snapshot
    /// below `below` exists and cannot be read now; no older snapshot is offered then. Collective. All ranks get the
    /// same offers, except for Choice::copies, which are the node's.
    Result<bool> choose_below(std::int64_t below, std::int64_t named, const Accept& accept);

    /// Classifies an error that all ranks met when they read a snapshot. `directory` is its directory at the target, or
    /// "". With `corrupt` and `missing` a restart may skip it: it is damaged, or was removed after the list. Any other
    /// kind is the error that ends the restart. Collective.
    Error judge(std::int64_t step, const std::string& directory, const Error& why) const;

private:
    /// A save for the restart. If it cannot be used, `usable` has the reason.
    struct Candidate {
        std::int64_t step = 0;
        format::Save save = {};
        std::string directory = {};  // at the target
        std::string staged = {};     // a staged file that is the whole save, if the target does not have it
        Result<> usable = {};
        bool uncommitted = false;  // whole, but only in the memory of several nodes: it ends the choice
    };

    Result<std::vector<node::StagedFile>> staged_here();
    bool is_whole_alone(const node::StagedFile& file) const;
    Result<std::vector<Candidate>> find(const std::vector<node::StagedFile>& staged,
                                        const std::vector<UncommittedSave>& uncommitted) const;
    Result<> add_target(const Result<catalog::History>& history, std::vector<Candidate>& candidates) const;
    Result<> add_parts(const std::set<std::uint64_t>& known, std::vector<Candidate>& candidates) const;
    Result<std::vector<Candidate>> candidates(const std::vector<node::StagedFile>& staged);
    Result<Choice> load(const Candidate& candidate, const std::vector<node::StagedFile>& staged);
    Result<format::Manifest> manifest_of(const Candidate& candidate);
    Result<format::Manifest> read_manifest(const Candidate& candidate) const;
    Result<bool> takes_marked(const format::Manifest& manifest, std::int64_t named);
    Result<> check_records(const Choice& choice) const;
    Result<> pass_over(const Candidate& candidate, const Error& why) const;
    /// The next older step that a restart would try.
    std::optional<std::int64_t> before(std::int64_t step) const;
    Error not_committed_now(const Candidate& candidate) const;
    StreamPlace place() const { return {context_.run, stream_}; }

    ChooserContext context_;
    std::string stream_;
    std::set<std::int64_t> usable_steps_;  // of the candidates in the last list
    bool settled_ = false;                 // true after the wait for an earlier session's drains
};

}  // namespace forebay::restart
