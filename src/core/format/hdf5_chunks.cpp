// The version-1 B-tree over the chunks of a dataset (HDF5 file format specification 3.0, section III.A.1).

#include <algorithm>

#include "core/format/hdf5_messages.hpp"

namespace forebay::format::hdf5 {
namespace {

// A superblock of version 0 does not give the size of these nodes. It is then 64 children.
constexpr std::size_t children_max = 64;
constexpr std::size_t key_bytes = 24;
constexpr std::size_t node_bytes = 24 + children_max * 8 + (children_max + 1) * key_bytes;
constexpr std::uint32_t all_filters_skipped = 1;  // bit 0: the only filter

struct Child {
    std::uint64_t address = 0;
    std::uint64_t first_element = 0;
    std::uint32_t bytes = 0;  // with `skipped`: of the first chunk below
    std::uint32_t skipped = 0;
};

void put_key(HeaderBytes& output, const Child& child) {
    output.put(child.bytes);
    output.put(child.skipped);
    output.put(child.first_element);
    output.put<std::uint64_t>(0);  // offset within an element
}

/// Writes one node; `end` is the first element after it.
void put_node(HeaderBytes& output, std::span<const Child> children, int level, std::uint64_t left, std::uint64_t right,
              std::uint64_t end) {
    const auto from = output.at();
    output.text("TREE");
    output.put<std::uint8_t>(1);  // a node of chunks
    output.put(static_cast<std::uint8_t>(level));
    output.put(static_cast<std::uint16_t>(children.size()));
    output.put(left);
    output.put(right);
    for (const auto& child : children) {
        put_key(output, child);
        output.put(child.address);
    }
    put_key(output, {.first_element = end});
    output.zeros(node_bytes - (output.at() - from));
}

}  // namespace

std::uint64_t put_chunks(HeaderBytes& output, const Chunking& chunking) {
    const std::uint64_t end = chunking.chunks.size() * std::uint64_t{chunking.elements};
    std::vector<Child> children;
    children.reserve(chunking.chunks.size());
    for (const auto& chunk : chunking.chunks)
        children.push_back({chunk.address, children.size() * std::uint64_t{chunking.elements}, chunk.bytes,
                            chunk.filtered ? 0 : all_filters_skipped});
    // Level by level: the nodes of a level lie side by side, and are the children of the next level.
    for (int level = 0;; ++level) {
        std::vector<Child> nodes;
        const auto count = (children.size() + children_max - 1) / children_max;
        for (std::size_t i = 0; i < count; ++i) {
            const auto from = i * children_max;
            const auto own = std::span(children).subspan(from, std::min(children_max, children.size() - from));
            const auto at = output.at();
            const auto next = from + own.size();
            put_node(output, own, level, i == 0 ? undefined_address : at - node_bytes,
                     i + 1 == count ? undefined_address : at + node_bytes,
                     next < children.size() ? children[next].first_element : end);
            nodes.push_back({at, own.front().first_element, own.front().bytes, own.front().skipped});
        }
        if (count == 1) return nodes.front().address;
        children = std::move(nodes);
    }
}

}  // namespace forebay::format::hdf5
