// A stream's description as all ranks have agreed on it. In each save they compare whether they make the same call,
// describe the same and have the same replicated values. The slots of this node are laid out by what they agreed on.
//
// Ranks: every rank has one. Life: agree, in each save -> gather_rows -> lay_out of slots that do not fit. Between two
// changes of the description agree() is one maximum over the world.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/comm/group.hpp"
#include "core/describe/binding.hpp"
#include "core/describe/schema.hpp"
#include "forebay/options.hpp"
#include "path/stage/alike.hpp"
#include "path/stage/forms/places.hpp"
#include "path/stage/node_parts.hpp"
#include "path/stage/save_clock.hpp"
#include "path/stage/slot.hpp"

namespace forebay::stage {

class AgreedDescription {
public:
    /// Whether the replicated values are what will be saved, or the application still changes them.
    enum class Values { final, not_yet };

    /// `topology` and `clock`, which is that of the save under way, must outlive it.
    AgreedDescription(const comm::Topology& topology, SaveClock& clock) : topology_(topology), clock_(clock) {}
    AgreedDescription(const AgreedDescription&) = delete;
    AgreedDescription& operator=(const AgreedDescription&) = delete;

    /// How nodes share files, if they do. `block_bytes`: of the agent's writes. Collective over the first ranks of all
    /// nodes.
    void share_files(const TargetFile& file, std::uint64_t block_bytes);

    /// `own_result` is what this rank has to complain about before: every rank then gets it. Collective.
    Result<> agree(const Call& call, const Schema& schema, const describe::Binding& binding, bool changed,
                   Values values, const Result<>& own_result);
    /// What agree() has left for later of values that are not final: the replicated ones are equal on every rank, but
    /// for those marked in `direct`. Collective.
    Result<> check_final(const Schema& schema, const describe::Binding& binding, std::span<const char> direct,
                         const Result<>& own_result);
    /// Once a save. Takes no memory. Collective over the node.
    void gather_rows(const describe::Binding& binding) { parts_.gather_rows(*topology_.node, binding); }
    /// Plans the slot and maps its file at `path`, which the node's first rank makes; faults it in. Local.
    Result<> lay_out(Slot& slot, const std::string& path, const Schema& schema, std::uint64_t alignment_bytes) const;

    /// Of this description; slots that were laid out for another do not fit.
    std::uint64_t version() const { return version_; }
    /// Table by table, of each rank of the node.
    std::span<const std::uint64_t> rows() const { return parts_.rows(); }
    /// On the node's first rank, where nodes share files; else none.
    FilePlaces* places() const { return places_.get(); }

private:
    const comm::Topology& topology_;
    SaveClock& clock_;
    bool as_h5part_ = false;
    NodeParts parts_;
    std::unique_ptr<FilePlaces> places_;
    std::uint64_t version_ = 0;
};

}  // namespace forebay::stage
