// A shared file. The rows of all nodes and the longest of their heads decide the places of all variables. The first
// ranks plan them with one exchange, only after a change on a node.

#include <algorithm>
#include <numeric>

#include "core/format/shared.hpp"
#include "path/stage/forms/places.hpp"

namespace forebay::stage {

namespace {

class SharedPlaces final : public FilePlaces {
public:
    SharedPlaces(const comm::Topology& topology, format::SharedNaming naming, std::uint64_t block_bytes)
        : topology_(topology), naming_(naming), block_bytes_(block_bytes) {}

    void describe(const Schema& schema) override {
        heads_offset_ = format::shared_heads_offset(schema, naming_);
        planned_ = false;
    }

    bool must_plan(const format::Layout& layout) override {
        new_share_ = share_of(layout);
        // Make room always: another node may have changed.
        all_shares_.resize(new_share_.size() * topology_.nodes);
        return !planned_ || new_share_ != share_;
    }

    void plan(const Schema& schema) override {
        topology_.leaders->gather_all(std::as_bytes(std::span(new_share_)),
                                      std::as_writable_bytes(std::span(all_shares_)));
        std::vector<std::uint64_t> rows(new_share_.size() - 1), before(rows);
        std::uint64_t head_bytes = 0;
        for (std::size_t node = 0; node < topology_.nodes; ++node) {
            if (node == topology_.node_index) before = rows;
            const auto theirs = std::span(all_shares_).subspan(node * new_share_.size(), new_share_.size());
            for (std::size_t table = 0; table < rows.size(); ++table) rows[table] += theirs[table];
            head_bytes = std::max(head_bytes, theirs.back());
        }
        const auto plan = format::place_shared(schema,
                                               {.nodes = topology_.nodes,
                                                .naming = static_cast<std::uint32_t>(naming_),
                                                .heads_offset = heads_offset_,
                                                .region_bytes = format::shared_region_bytes(head_bytes),
                                                .alignment_bytes = block_bytes_},
                                               rows);
        offsets_ = format::own_offsets(plan, schema, before);
        form_ = plan.places;
        share_.swap(new_share_);
        planned_ = true;
    }

    void place(Slot& slot) override { slot.share(offsets_); }

private:
    // The rows of this node, one number for each table, and its longest head so far.
    std::vector<std::uint64_t> share_of(const format::Layout& layout) const {
        const auto ranks = layout.ranks.size();
        std::vector<std::uint64_t> share;
        for (std::size_t table = 0; table < layout.row_capacity.size(); ++table)
            share.push_back(std::accumulate(layout.rows.begin() + static_cast<std::ptrdiff_t>(table * ranks),
                                            layout.rows.begin() + static_cast<std::ptrdiff_t>((table + 1) * ranks),
                                            std::uint64_t{0}));
        share.push_back(layout.data_offset_bytes);
        // Slots may differ: the other slot may have been laid out for more rows.
        if (planned_) share.back() = std::max(share.back(), share_.back());
        return share;
    }

    const comm::Topology& topology_;
    const format::SharedNaming naming_;
    const std::uint64_t block_bytes_;
    std::uint64_t heads_offset_ = 0;
    bool planned_ = false;                               // for this description
    std::vector<std::uint64_t> share_;                   // this node's numbers in the last plan
    std::vector<std::uint64_t> new_share_, all_shares_;  // for the next plan
    std::vector<std::uint64_t> offsets_;                 // of this node's bytes in each variable
};

}  // namespace

std::unique_ptr<FilePlaces> shared_places(const comm::Topology& topology, bool as_h5part, std::uint64_t block_bytes) {
    return std::make_unique<SharedPlaces>(
        topology, as_h5part ? format::SharedNaming::h5part : format::SharedNaming::own, block_bytes);
}

}  // namespace forebay::stage
