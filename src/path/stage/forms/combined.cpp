// A combined file. In each save its nodes send each other the lengths of their files, because a node may change its
// layout alone, and its length changes with it.

#include "core/format/combined.hpp"
#include "path/stage/forms/places.hpp"

namespace forebay::stage {

namespace {

class CombinedPlaces final : public FilePlaces {
public:
    CombinedPlaces(std::unique_ptr<comm::Group> sharers, std::uint32_t nodes_per_file, std::uint32_t first_node,
                   std::uint64_t block_bytes)
        : sharers_(std::move(sharers)),
          nodes_per_file_(nodes_per_file),
          first_node_(first_node),
          block_bytes_(block_bytes) {}

    void describe(const Schema& schema) override {
        const auto nodes = static_cast<std::size_t>(sharers_->size());
        head_bytes_ = format::combined_head_bytes(schema, static_cast<std::uint32_t>(nodes));
        file_bytes_.resize(nodes);
    }

    void place(Slot& slot) override {
        const auto own_bytes = slot.layout().file_bytes;
        sharers_->gather_all(std::as_bytes(std::span(&own_bytes, 1)), std::as_writable_bytes(std::span(file_bytes_)));
        form_ = format::place_regions(head_bytes_, nodes_per_file_, first_node_, file_bytes_, block_bytes_);
    }

private:
    std::unique_ptr<comm::Group> sharers_;  // the first ranks of the file's nodes
    const std::uint32_t nodes_per_file_, first_node_;
    const std::uint64_t block_bytes_;
    std::uint64_t head_bytes_ = 0;
    std::vector<std::uint64_t> file_bytes_;  // for each of these nodes
};

}  // namespace

std::unique_ptr<FilePlaces> combined_places(const comm::Topology& topology, int nodes_per_file,
                                            std::uint64_t block_bytes) {
    const auto per_file = static_cast<std::uint32_t>(nodes_per_file);
    const auto file = topology.node_index / per_file;
    auto sharers = topology.leaders->split(static_cast<int>(file));
    return std::make_unique<CombinedPlaces>(std::move(sharers), per_file, file * per_file, block_bytes);
}

}  // namespace forebay::stage
