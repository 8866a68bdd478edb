// Encodes the HDF5 metadata before the data of a node file, combined file or shared file: superblock version 0,
// old-style groups with symbol tables, and an object header for each dataset, at addresses from `offset` on. It does
// not call HDF5, so ranks need not link that library.
//
// tree_of() makes groups from the paths. sizes_for() chooses the two sizes that the superblock sets for all groups.
// Encoder writes children before their group, so each address is known before it is written. The places of the
// datasets' bytes are not known yet: Fields remembers the position, and store_storage() fills it in later.

#include "core/format/hdf5.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "core/base/bytes.hpp"
#include "core/format/hdf5_messages.hpp"

namespace forebay::format::hdf5 {
namespace {

constexpr std::size_t symbol_bytes = 40;
constexpr std::uint64_t heap_without_free_space = 1;

struct HeadGroup;

/// The target of a name in a group: a dataset or a group.
struct Link {
    std::size_t dataset = 0;
    std::unique_ptr<HeadGroup> group;
};

/// Names are ordered by their bytes, because HDF5 searches them in this order.
struct HeadGroup {
    std::map<std::string_view, Link> links;
};

struct Symbol {
    std::string_view name;
    std::uint64_t header_at = 0;
    std::uint64_t tree_at = 0, heap_at = 0;  // only for a group
    std::uint64_t name_at = 0;               // in the heap
};

/// The sizes that the superblock sets for all groups of the file. A group is one tree node over leaves of names.
struct GroupSizes {
    std::uint16_t leaf_k = 4;       // a leaf holds up to 2 * leaf_k names
    std::uint16_t internal_k = 16;  // a tree node holds up to 2 * internal_k leaves
    std::size_t leaf_bytes() const { return 8 + std::size_t{2} * leaf_k * symbol_bytes; }
    std::size_t tree_bytes() const { return 24 + (std::size_t{4} * internal_k + 1) * 8; }
};

HeadGroup tree_of(std::span<const Dataset> datasets) {
    HeadGroup root;
    for (std::size_t i = 0; i < datasets.size(); ++i) {
        std::string_view rest = datasets[i].path;
        HeadGroup* group = &root;
        for (auto slash = rest.find('/'); slash != rest.npos; slash = rest.find('/')) {
            auto& link = group->links[rest.substr(0, slash)];
            if (!link.group) link.group = std::make_unique<HeadGroup>();
            group = link.group.get();
            rest.remove_prefix(slash + 1);
        }
        group->links[rest].dataset = i;
    }
    return root;
}

void collect_sizes(const HeadGroup& group, std::vector<std::size_t>& sizes) {
    sizes.push_back(group.links.size());
    for (const auto& [name, link] : group.links)
        if (link.group) collect_sizes(*link.group, sizes);
}

/// Returns the pair of sizes with the fewest bytes in total. HDF5 reads each tree node and leaf at its full size, so
/// one large group makes all groups large.
GroupSizes sizes_for(const HeadGroup& root) {
    std::vector<std::size_t> counts;
    collect_sizes(root, counts);
    const auto largest = *std::ranges::max_element(counts);
    GroupSizes best;
    std::size_t best_bytes = SIZE_MAX;
    for (std::uint16_t leaf_k = 4; leaf_k <= 4096; leaf_k = static_cast<std::uint16_t>(leaf_k * 2)) {
        const std::size_t names_max = std::size_t{2} * leaf_k;
        const auto leaves = [&](std::size_t count) { return (count + names_max - 1) / names_max; };
        const auto internal_k = std::max<std::size_t>(16, (leaves(largest) + 1) / 2);
        if (internal_k > 32'000) continue;
        const GroupSizes sizes{leaf_k, static_cast<std::uint16_t>(internal_k)};
        std::size_t bytes = 0;
        for (const auto count : counts) bytes += sizes.tree_bytes() + leaves(count) * sizes.leaf_bytes();
        if (bytes >= best_bytes) continue;
        best = sizes;
        best_bytes = bytes;
    }
    return best;
}

class Encoder {
public:
    Encoder(std::span<const Dataset> datasets, std::uint64_t offset, GroupSizes sizes)
        : datasets_(datasets), output_(offset), sizes_(sizes), fields_(datasets.size()) {
        output_.reserve(datasets.size() * 512);
    }

    Headers encode(const HeadGroup& root) {
        const auto symbol = put_group(root);
        Headers headers;
        headers.superblock = superblock(symbol);
        headers.bytes = output_.take();
        headers.fields = std::move(fields_);
        return headers;
    }

private:
    Symbol put_dataset(std::size_t index) {
        const auto& dataset = datasets_[index];
        const auto tree_at = dataset.chunking != nullptr ? put_chunks(output_, *dataset.chunking) : 0;
        Symbol symbol;
        symbol.header_at = output_.at();
        ObjectHeader header(output_);
        if (dataset.chunking != nullptr) header.chunked_dataset(dataset.type, dataset.dims, *dataset.chunking, tree_at);
        else fields_[index] = header.dataset(dataset.type, dataset.dims);
        for (const auto& attribute : dataset.attributes) header.attribute(attribute);
        header.finish();
        return symbol;
    }

    /// Writes children first, so each address is known before it is written.
    Symbol put_group(const HeadGroup& group) {
        std::vector<Symbol> symbols;
        symbols.reserve(group.links.size());
        for (const auto& [name, link] : group.links) {
            symbols.push_back(link.group ? put_group(*link.group) : put_dataset(link.dataset));
            symbols.back().name = name;
        }
        Symbol symbol;
        symbol.heap_at = put_heap(symbols);
        symbol.tree_at = put_tree(symbols);
        symbol.header_at = output_.at();
        ObjectHeader header(output_);
        header.symbol_table(symbol.tree_at, symbol.heap_at);
        header.finish();
        return symbol;
    }

    std::uint64_t put_heap(std::vector<Symbol>& symbols) {
        const auto heap_at = output_.at();
        output_.text("HEAP");
        output_.zeros(4);
        const auto size_at = output_.at();
        output_.zeros(8);
        output_.put(heap_without_free_space);
        output_.put(output_.at() + 8);
        const auto data_at = output_.at();
        output_.zeros(8);  // the empty name: the tree's first key points to it
        for (auto& symbol : symbols) {
            symbol.name_at = output_.at() - data_at;
            output_.text(symbol.name);
            output_.zeros(1);
            output_.pad();
        }
        output_.store(size_at, output_.at() - data_at);
        return heap_at;
    }

    std::uint64_t put_tree(std::span<const Symbol> symbols) {
        const std::size_t per_leaf = std::size_t{2} * sizes_.leaf_k;
        const auto leaves = (symbols.size() + per_leaf - 1) / per_leaf;
        const auto tree_at = output_.at();
        const auto leaf_at = tree_at + sizes_.tree_bytes();
        output_.text("TREE");
        output_.put<std::uint16_t>(0);  // a group's node, at the level above the leaves
        output_.put(static_cast<std::uint16_t>(leaves));
        output_.put(undefined_address);  // no neighbours
        output_.put(undefined_address);
        output_.put<std::uint64_t>(0);
        for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
            const auto last = std::min(symbols.size(), (leaf + 1) * per_leaf) - 1;
            output_.put(leaf_at + leaf * sizes_.leaf_bytes());
            // The key after a leaf is its last name.
            output_.put(symbols[last].name_at);
        }
        output_.zeros(leaf_at - output_.at());
        for (std::size_t leaf = 0; leaf < leaves; ++leaf)
            put_leaf(symbols.subspan(leaf * per_leaf, std::min(per_leaf, symbols.size() - leaf * per_leaf)));
        return tree_at;
    }

    void put_leaf(std::span<const Symbol> symbols) {
        const auto end = output_.at() + sizes_.leaf_bytes();
        output_.text("SNOD");
        output_.put<std::uint16_t>(1);
        output_.put(static_cast<std::uint16_t>(symbols.size()));
        for (const auto& symbol : symbols) put_symbol(output_, symbol);
        output_.zeros(end - output_.at());
    }

    static void put_symbol(HeaderBytes& output, const Symbol& symbol) {
        const bool is_group = symbol.tree_at != 0;
        output.put(symbol.name_at);
        output.put(symbol.header_at);
        output.put<std::uint64_t>(is_group ? 1 : 0);  // 1 if the next two fields give the group's place
        output.put(symbol.tree_at);
        output.put(symbol.heap_at);
    }

    std::array<std::byte, superblock_bytes> superblock(const Symbol& root) const {
        HeaderBytes output(0);
        output.text("\x89HDF\r\n\x1a\n");
        output.zeros(5);  // version 0 of everything
        output.put<std::uint8_t>(8);
        output.put<std::uint8_t>(8);
        output.zeros(1);
        output.put(sizes_.leaf_k);
        output.put(sizes_.internal_k);
        output.zeros(4 + 8);  // flags, base address
        output.put(undefined_address);
        output.zeros(8);  // end of file
        output.put(undefined_address);
        put_symbol(output, root);
        std::array<std::byte, superblock_bytes> block{};
        std::ranges::copy(output.take(), block.begin());
        return block;
    }

    std::span<const Dataset> datasets_;
    HeaderBytes output_;
    GroupSizes sizes_;
    std::vector<Fields> fields_;
};

}  // namespace

Headers encode_headers(std::span<const Dataset> datasets, std::uint64_t offset) {
    const auto root = tree_of(datasets);
    return Encoder(datasets, offset, sizes_for(root)).encode(root);
}

void store_storage(std::span<std::byte> image, const Fields& fields, std::uint64_t address, std::uint64_t bytes) {
    store_le(image.data() + fields.storage_at, bytes == 0 ? undefined_address : address);
    store_le(image.data() + fields.storage_at + 8, bytes);
}

void store_first_dim(std::span<std::byte> image, const Fields& fields, std::uint64_t elements) {
    if (fields.dims_at != 0) store_le(image.data() + fields.dims_at, elements);
}

}  // namespace forebay::format::hdf5
