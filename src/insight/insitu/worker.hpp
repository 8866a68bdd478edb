// The analysis worker of a node. It is its own process, so a crash in an analysis harms no other process. The agent
// starts it, sends it work, and ends it. docs/decisions/analyses-in-a-worker.md gives the reasons.
//
//   agent -> worker   see SLOT SNAPSHOT STEP   a sealed slot, and the id of the save in it; decimal numbers
//   worker -> agent   seen                     the worker no longer reads the slot
//                     made COUNT               this node's work on the step is done. COUNT snapshots of results
//                                              were committed; 0 if another node joins the parts
//                     failed TEXT              the step is not analysed on this node
//                     problem TEXT             one analysis failed; the rest goes on
//                     raise ACTIONS VALUE TEXT after `seen`: the snapshot fulfils a condition. ACTIONS are words of
//                                              describe::action_words, joined by commas. `mark` is already done.
//                                              Example: "raise mark,stop 3 numbers: */nan > 0"
//
// Each message is one line; TEXT has no line feeds. A save may take the slot while the worker reads it. It takes the
// lease first (sealed_slot.hpp), so data counts only if the lease is still there after reading.
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

    /// Answers lines until the input ends.
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
    std::optional<Work> work_;  // for a snapshot of one node, between see() and finish()
};

}  // namespace forebay::insitu
