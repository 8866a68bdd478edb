// Chooses the snapshot that a restart reads: the newest whole snapshot that is not marked, from staged copies first,
// then from the target. It says of each newer one why it was passed over. A snapshot that is there and cannot be read
// now is not passed over: it ends the restart, since the run would go back for nothing.

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
    std::chrono::milliseconds wait_max{};          // for what a dead session left staged to be drained
    node::Host* host = nullptr;                    // of this node's agent, on the node's first rank
    std::vector<std::string> left = {};            // staging directories that earlier sessions left on this machine
    Marked marked = Marked::pass_over;             // what becomes of marked ones that are not named
    node::Say say = {};                            // for that wait, when it lasts
    std::function<void(const std::string&)> note;  // what people should know of the choice; the same on all ranks
    std::function<void(NotTaken)> pass_over;       // likewise
};

class Chooser {
public:
    Chooser(ChooserContext context, std::string stream) : context_(std::move(context)), stream_(std::move(stream)) {}

    /// Looks closer at a snapshot whose records are right, and keeps it. False passes it over, and says so; an error
    /// ends the choosing.
    using Accept = std::function<Result<bool>(Choice)>;
    /// Offers whole snapshots of the living line with a step below `below`, newest first, until one is accepted; false
    /// when none is. Then nothing is there, or ChooserContext::pass_over was given all of it. Of marked ones that of
    /// step `named` (-1: none) is offered, and others as the context says. An error where something below `below` is
    /// there and cannot be read now, before an older one is offered.
    /// Collective; all ranks are offered the same but for Choice::copies, which are those of the node.
    Result<bool> choose_below(std::int64_t below, std::int64_t named, const Accept& accept);

    /// What an error means that all ranks have met at reading a snapshot; `directory` is the one at the target, or "".
    /// `corrupt` and `missing` let a restart pass it over: it is damaged, or was removed since it was listed. Of any
    /// other kind is the error that ends the restart. Collective.
    Error judge(std::int64_t step, const std::string& directory, const Error& why) const;

private:
    /// One save that may be restored, unless `usable` says why not.
    struct Candidate {
        std::int64_t step = 0;
        format::Save save = {};
        std::string directory = {};  // at the target
        std::string staged = {};     // the staged file that is all of it, where the target does not have it
        Result<> usable = {};
        bool uncommitted = false;  // it is whole in the memory of several nodes alone: it ends the choosing
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
    std::set<std::int64_t> usable_steps_;  // of the candidates, as they were listed last
    bool settled_ = false;                 // whether what an earlier session left was waited for
};

}  // namespace forebay::restart
