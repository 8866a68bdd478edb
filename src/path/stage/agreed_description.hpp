// A stream's description, as agreed by all ranks. In each save the ranks check that they make the same call, describe
// the same variables and have equal replicated values. This node's slots are laid out by the agreed description.
//
// Ranks: every rank has one. Life: agree, in each save -> gather_rows -> lay_out for slots that do not fit. While the
// description does not change, agree() costs one maximum over the world.

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
    /// `final`: the replicated values are the saved values. `not_yet`: the application still changes them.
    enum class Values { final, not_yet };

    /// `topology` and `clock` must outlive this object. `clock` is the clock of the current save.
    AgreedDescription(const comm::Topology& topology, SaveClock& clock) : topology_(topology), clock_(clock) {}
    AgreedDescription(const AgreedDescription&) = delete;
    AgreedDescription& operator=(const AgreedDescription&) = delete;

    /// Call it if nodes share files. `block_bytes` is the size of the agent's writes. Collective over the first ranks
    /// of all nodes.
    void share_files(const TargetFile& file, std::uint64_t block_bytes);

    /// `own_result` is an earlier error of this rank; then every rank gets it. Collective.
    Result<> agree(const Call& call, const Schema& schema, const describe::Binding& binding, bool changed,
                   Values values, const Result<>& own_result);
    /// The check that agree() leaves out if values are not final: the replicated values are equal on every rank, except
    /// variables marked in `direct`. Collective.
    Result<> check_final(const Schema& schema, const describe::Binding& binding, std::span<const char> direct,
                         const Result<>& own_result);
    /// Call it once a save. Allocates nothing. Collective over the node.
    void gather_rows(const describe::Binding& binding) { parts_.gather_rows(*topology_.node, binding); }
    /// Plans the slot, maps its file at `path` and faults it in. The node's first rank makes the file. Local.
    Result<> lay_out(Slot& slot, const std::string& path, const Schema& schema, std::uint64_t alignment_bytes) const;

    /// The version of this description. A slot laid out for another version does not fit.
    std::uint64_t version() const { return version_; }
    /// By table; for each table by rank of the node.
    std::span<const std::uint64_t> rows() const { return parts_.rows(); }
    /// Only on the node's first rank, and only if nodes share files; else nullptr.
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
