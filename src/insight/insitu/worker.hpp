// The worker of a node: a process of its own, so that whatever happens in an analysis happens to nobody else. The agent
// starts it, tells it what to look at, and ends it; docs/decisions/analyses-in-a-worker.md says why it is as it is.
//
//   agent -> worker   see SLOT SNAPSHOT STEP   a sealed slot, and the id of the save in it; decimal numbers
//   worker -> agent   seen                     the slot is read no more
//                     made COUNT               what this node had to do of the step is done; so many snapshots of
//                                              results were committed, 0 where another node brings the parts together
//                     failed TEXT              the step is not analysed on this node
//                     problem TEXT             one analysis could not be made; the others go on
//                     raise ACTIONS VALUE TEXT after `seen`: the snapshot fulfils a condition. ACTIONS are words of
//                                              describe::action_words with commas between; a snapshot that is to be
//                                              marked is by then. As in "raise mark,stop 3 numbers: */nan > 0"
//
// A line each; text has no line feeds. A save may take the slot while the worker reads it, and then takes the lease
// first (sealed_slot.hpp). So what was read counts only if the lease is still there afterwards.
//
// Threads: one.

#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "core/sys/store.hpp"
#include "insight/insitu/parts.hpp"
#include "path/node/staging.hpp"

namespace forebay::insitu {

class InsituWorker {
public:
    /// `target` must outlive it. `session` and `staging` are of one staging directory.
    InsituWorker(sys::Store& target, node::Staging staging, node::SessionFile session)
        : target_(target), staging_(std::move(staging)), session_(std::move(session)) {}

    /// Answers lines until there are no more.
    void serve(std::istream& in, std::ostream& out);

private:
    struct Seen {
        SeenSnapshot source;
        NodePart part;
        std::vector<Analysis> analyses;
        Schema schema;
    };
    Result<Seen> see(std::uint32_t slot, std::uint64_t id, std::ostream& out);
    Result<std::size_t> finish(const Seen& seen, std::ostream& out);
    Result<std::size_t> bring_together(const Seen& seen, std::ostream& out);
    Result<std::size_t> put_all(const Seen& seen, std::ostream& out);
    Result<bool> is_made(const Seen& seen);
    void act(const SeenSnapshot& source, const AnalysisResults& results, std::ostream& out);
    Result<> put(const SeenSnapshot& source, const AnalysisResults& results);

    sys::Store& target_;
    node::Staging staging_;
    const node::SessionFile session_;
    std::optional<Work> work_;  // of a snapshot of one node, between see() and finish()
};

}  // namespace forebay::insitu
