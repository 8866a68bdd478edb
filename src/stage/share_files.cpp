// Where the nodes of a save share a file: what their first ranks tell each other of it.

#include <algorithm>
#include <numeric>

#include "format/combined.hpp"
#include "format/shared.hpp"
#include "stage/stager.hpp"

namespace forebay::stage {

// What the plan of a shared file needs of this node: its rows, and the longest head that it has had.
std::vector<std::uint64_t> Stager::own_share() const {
    const auto& layout = slots_[current_].layout();
    const auto ranks = layout.ranks.size();
    std::vector<std::uint64_t> share;
    for (std::size_t table = 0; table < layout.row_capacity.size(); ++table)
        share.push_back(std::accumulate(layout.rows.begin() + static_cast<std::ptrdiff_t>(table * ranks),
                                        layout.rows.begin() + static_cast<std::ptrdiff_t>((table + 1) * ranks),
                                        std::uint64_t{0}));
    share.push_back(layout.data_offset_bytes);
    // Slots may differ: the other one may have been laid out for more rows.
    if (shared_version_ == version_ && !share_.empty()) share.back() = std::max(share.back(), share_.back());
    return share;
}

bool Stager::share_has_changed() {
    new_share_ = own_share();
    // Another node may have changed.
    all_shares_.resize(new_share_.size() * static_cast<std::size_t>(context_.topology->leaders->size()));
    return shared_version_ != version_ || new_share_ != share_;
}

// One exchange among the first ranks of the nodes plans all variables, and only when a node has changed. The agents,
// which write without a word to each other, find it in the records.
void Stager::plan_share(const Schema& schema) {
    if (!context_.topology->leads()) return;
    const auto naming = options_.file.as_h5part ? format::SharedNaming::h5part : format::SharedNaming::own;
    context_.topology->leaders->gather_all(std::as_bytes(std::span(new_share_)),
                                           std::as_writable_bytes(std::span(all_shares_)));
    if (shared_version_ != version_) shared_head_bytes_ = format::shared_heads_offset(schema, naming);
    std::vector<std::uint64_t> rows(new_share_.size() - 1), before(rows);
    std::uint64_t head_bytes = 0;
    for (std::size_t node = 0; node < context_.topology->nodes; ++node) {
        if (node == context_.topology->node_index) before = rows;
        const auto theirs = std::span(all_shares_).subspan(node * new_share_.size(), new_share_.size());
        for (std::size_t table = 0; table < rows.size(); ++table) rows[table] += theirs[table];
        head_bytes = std::max(head_bytes, theirs.back());
    }
    const auto plan = format::place_shared(schema,
                                           {.nodes = context_.topology->nodes,
                                            .naming = static_cast<std::uint32_t>(naming),
                                            .heads_offset = shared_head_bytes_,
                                            .region_bytes = format::shared_region_bytes(head_bytes),
                                            .alignment_bytes = context_.block_bytes},
                                           rows);
    shared_offsets_ = format::own_offsets(plan, schema, before);
    form_ = plan.places;
    share_.swap(new_share_);
    shared_version_ = version_;
}

void Stager::make_room_to_combine(const Schema& schema) {
    if (!sharers_) return;
    const auto nodes = static_cast<std::size_t>(sharers_->size());
    shared_head_bytes_ = format::combined_head_bytes(schema, static_cast<std::uint32_t>(nodes));
    file_bytes_.resize(nodes);
}

// Each save anew, among the nodes of one file alone: a node that lays out anew, alone, has another length. Nothing of
// it can fail, since the ranks have agreed to save by then.
void Stager::combine_files() {
    if (!sharers_) return;
    const auto mine = slots_[current_].layout().file_bytes;
    sharers_->gather_all(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(file_bytes_)));
    const auto per_file = static_cast<std::uint32_t>(options_.file.nodes);
    form_ = format::place_regions(shared_head_bytes_, per_file, context_.topology->node_index / per_file * per_file,
                                  file_bytes_, context_.block_bytes);
}

}  // namespace forebay::stage
