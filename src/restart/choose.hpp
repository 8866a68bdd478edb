// Chooses the snapshot that a restart reads: the newest whole one that is not marked, from staged copies first, then
// from the target. Says of each newer one why it was passed over.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "catalog/copies.hpp"
#include "comm/group.hpp"
#include "format/manifest.hpp"
#include "node/long_wait.hpp"
#include "node/staging.hpp"
#include "sys/store.hpp"

namespace forebay::restart {

struct Choice {
    format::Manifest manifest;
    catalog::Copies copies;  // of its node files, as this node can read them
};

struct ChooserContext {
    comm::Topology* topology = nullptr;
    node::Staging* staging = nullptr;
    sys::Store* store = nullptr;
    std::string run;
    std::uint64_t run_id = 0;
    std::chrono::milliseconds wait_max{};          // for what a dead session left staged to be drained
    Marked marked = Marked::pass_over;             // what becomes of marked ones that are not named
    node::Say say = {};                            // for that wait, when it lasts
    std::function<void(const std::string&)> note;  // which snapshot is passed over and why; the same on all ranks
};

class Chooser {
public:
    Chooser(ChooserContext context, std::string stream) : context_(std::move(context)), stream_(std::move(stream)) {}

    /// Looks closer at a snapshot whose records are right, and keeps it. False passes it over, and says so; an error
    /// ends the choosing.
    using Accept = std::function<Result<bool>(Choice)>;
    /// Offers whole snapshots of the living line with a step below `below`, newest first, until one is accepted; false
    /// when none is. Of marked ones that of step `named` (-1: none) is offered, and others as the context says. `full`
    /// where this process has no more memory or descriptors, and `retry` where storage fails now: that is no fault of a
    /// snapshot, which would be passed over.
    /// Collective; all ranks are offered the same but for Choice::copies, which are those of the node.
    Result<bool> choose_below(std::int64_t below, std::int64_t named, const Accept& accept);

private:
    /// One save that may be restored, or of which is said `why` not.
    struct Candidate {
        std::int64_t step = 0;
        format::Save save = {};
        std::string directory = {};  // at the target
        std::string staged = {};     // the staged file that is all of it, where the target does not have it
        std::string why = {};
    };

    Result<std::vector<node::StagedFile>> staged_here();
    bool is_whole_alone(const node::StagedFile& file) const;
    Result<std::vector<Candidate>> find(const std::vector<node::StagedFile>& staged) const;
    Result<std::vector<Candidate>> candidates(const std::vector<node::StagedFile>& staged);
    Result<Choice> load(const Candidate& candidate, const std::vector<node::StagedFile>& staged);
    Result<format::Manifest> manifest_of(const Candidate& candidate);
    Result<format::Manifest> read_manifest(const Candidate& candidate) const;
    Result<bool> takes_marked(const format::Manifest& manifest, std::int64_t named);
    Result<> check_records(const Choice& choice) const;
    Result<> pass_over(std::int64_t step, const char* what, const Error& why);

    ChooserContext context_;
    std::string stream_;
    bool settled_ = false;  // whether what an earlier session left was waited for
};

}  // namespace forebay::restart
