// Small snapshots for tests of targets: a field, a particle table and a scalar from two ranks a node, one of them
// without rows. drain_node() writes a node file into its part directory with the steps of an agent.

#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/format/combined.hpp"
#include "core/format/layout.hpp"
#include "core/format/manifest.hpp"
#include "core/format/node_file.hpp"
#include "core/format/shared.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/catalog.hpp"
#include "support/all_in_one.hpp"

namespace forebay::test {

inline constexpr std::uint32_t ranks_per_node = 2;

struct SmallSnapshot {
    std::uint64_t id = 0xf3;
    std::int64_t step = 120;
    std::uint32_t nodes = 1;
    std::string stream = "restart";
    std::uint64_t elements_per_rank = 40;  // of the field
    std::int64_t sealed_unix_ns = 1'700'000'000'000'000'000;
    std::uint32_t nodes_per_file = 1;  // or all_in_one
    std::uint64_t flux_rows = 3;       // rows of the array that only shared files have
    format::Lineage lineage = {};

    std::uint32_t ranks() const { return nodes * ranks_per_node; }
};

inline constexpr std::uint64_t flux_columns = 5;  // of a rank

inline Schema small_schema(const SmallSnapshot& snapshot) {
    Schema schema;
    schema.stream = snapshot.stream;
    schema.tables = {"gas"};
    schema.variables = {
        {"clock/dt", f64, Kind::replicated, {}, 0, Coverage::full, {.unit = "s", .description = "length of a step"}},
        {"fields/density",
         f64,
         Kind::array,
         {snapshot.ranks(), snapshot.elements_per_rank},
         0,
         Coverage::full,
         {.unit = "kg m-3", .dimensions = {"y", "x"}}},
        {"gas/id", i64, Kind::particles, {}, 0, Coverage::full, {}},
        {"gas/x", f32, Kind::particles, {}, 0, Coverage::full, {.unit = "m"}},
    };
    // Cut along the fast dimension, so that ranks of all nodes write into each row.
    if (snapshot.nodes_per_file == all_in_one)
        schema.variables.push_back({"fields/flux",
                                    f64,
                                    Kind::array,
                                    {snapshot.flux_rows, snapshot.ranks() * flux_columns},
                                    0,
                                    Coverage::full,
                                    {.dimensions = {"z", "face"}}});
    return schema;
}

/// Odd world ranks own no particles. Each even rank owns ten more than the even rank before.
inline std::uint64_t rows_of(std::uint32_t rank) { return rank % 2 == 1 ? 0 : 10 + 5 * rank; }

inline format::Layout small_layout(const SmallSnapshot& snapshot, std::uint32_t node) {
    std::vector<format::RankPart> parts;
    for (auto rank = node * ranks_per_node; rank < (node + 1) * ranks_per_node; ++rank) {
        parts.push_back({rank, {{}, {{{rank, 0}, {1, snapshot.elements_per_rank}}}, {}, {}}, {rows_of(rank)}});
        if (snapshot.nodes_per_file == all_in_one)
            parts.back().boxes.push_back({{{0, rank * flux_columns}, {snapshot.flux_rows, flux_columns}}});
    }
    return format::plan_layout(small_schema(snapshot), parts, {}).value();
}

/// The layout of the shared file of a snapshot. Regions lie as close as allowed.
inline format::SharedPlan small_plan(const SmallSnapshot& snapshot) {
    const auto schema = small_schema(snapshot);
    std::uint64_t rows = 0, head_bytes = 0;
    for (std::uint32_t node = 0; node < snapshot.nodes; ++node)
        head_bytes = std::max(head_bytes, small_layout(snapshot, node).data_offset_bytes);
    for (std::uint32_t rank = 0; rank < snapshot.ranks(); ++rank) rows += rows_of(rank);
    const std::vector<std::uint64_t> all{rows};
    return format::place_shared(schema,
                                {.nodes = snapshot.nodes,
                                 .heads_offset = format::shared_heads_offset(schema, format::SharedNaming::own),
                                 .region_bytes = head_bytes + limits::page_bytes,
                                 .alignment_bytes = limits::page_bytes},
                                all);
}

/// The form of the files. Regions of a combined file follow format::place_regions(), but lie closer to save memory.
inline format::Form small_form(const SmallSnapshot& snapshot, std::uint32_t node) {
    if (snapshot.nodes_per_file == all_in_one) return small_plan(snapshot).places;
    const auto per_file = snapshot.nodes_per_file, first = node / per_file * per_file;
    const auto end = std::min(first + per_file, snapshot.nodes);
    if (per_file == 1) return format::OwnFile{};
    format::CombinedFile file{.nodes_per_file = per_file, .first_node = first};
    if (end - first < 2) return file;
    const auto head = format::combined_head_bytes(small_schema(snapshot), end - first);
    file.offsets.push_back(round_up(head, limits::page_bytes));
    for (auto other = first; other < end; ++other)
        file.offsets.push_back(file.offsets.back() + small_layout(snapshot, other).file_bytes + limits::page_bytes);
    return file;
}

/// One sealed node file. Its data depend on the snapshot's id, so that two saves of one step differ.
inline std::vector<std::byte> small_node_file(const SmallSnapshot& snapshot, std::uint32_t node) {
    auto layout = small_layout(snapshot, node);
    std::vector<std::byte> image(layout.file_bytes);
    format::encode(layout, image);
    if (snapshot.nodes_per_file == all_in_one) {
        std::uint64_t before = 0;
        for (std::uint32_t rank = 0; rank < node * ranks_per_node; ++rank) before += rows_of(rank);
        const std::vector<std::uint64_t> rows{before};
        format::patch_shared(layout, format::own_offsets(small_plan(snapshot), layout.schema, rows), image);
    }
    auto words = format::crc_words(layout, image);
    for (const auto& block : layout.blocks) {
        for (std::uint64_t i = 0; i < block.size_bytes; ++i)
            image[block.offset_bytes + i] = static_cast<std::byte>(i + 31 * (block.variable == 0 ? 0 : block.rank) +
                                                                   7 * block.variable + snapshot.id);
        for (std::uint64_t i = 0; i < format::segments_of(block.size_bytes); ++i) {
            const auto skip = i * limits::segment_bytes;
            const auto bytes = std::min(limits::segment_bytes, block.size_bytes - skip);
            words[block.first_segment + i] = crc32c(std::span(image).subspan(block.offset_bytes + skip, bytes));
        }
    }
    format::seal(layout,
                 {.snapshot_id = snapshot.id,
                  .step = snapshot.step,
                  .time = 0.5 * static_cast<double>(snapshot.step),
                  .sealed_unix_ns = snapshot.sealed_unix_ns + node,
                  .node = node,
                  .nodes = snapshot.nodes,
                  .world_ranks = snapshot.ranks(),
                  .form = small_form(snapshot, node),
                  .lineage = snapshot.lineage},
                 image);
    return image;
}

inline std::string part_directory(const std::string& run, const SmallSnapshot& snapshot) {
    return run + "/" + snapshot.stream + "/" + catalog::part_name(snapshot.step, snapshot.id);
}
inline std::string step_directory(const std::string& run, const SmallSnapshot& snapshot) {
    return run + "/" + snapshot.stream + "/" + catalog::step_name(snapshot.step);
}

/// Writes the node file under a temporary name, syncs it and renames it. With `syncs_name` it syncs the directory too;
/// without it, a slow drain is stopped before that sync.
inline Result<> drain_node(sys::Store& store, const std::string& run, const SmallSnapshot& snapshot, std::uint32_t node,
                           bool syncs_name = true) {
    const auto path = part_directory(run, snapshot) + "/" + format::node_path(node, snapshot.nodes);
    const auto directory = path.substr(0, path.rfind('/'));
    FB_TRY(store.make_directories(directory));
    FB_TRY_ASSIGN(file, store.open(path + ".tmp", sys::Access::create));
    FB_TRY(file->write(0, small_node_file(snapshot, node)));
    FB_TRY(file->sync());
    FB_TRY(file->close());
    FB_TRY(store.rename(path + ".tmp", path));
    return syncs_name ? store.sync_directory(directory) : Result<>{};
}

inline Result<> drain_all(sys::Store& store, const std::string& run, const SmallSnapshot& snapshot) {
    for (std::uint32_t node = 0; node < snapshot.nodes; ++node) FB_TRY(drain_node(store, run, snapshot, node));
    return {};
}

}  // namespace forebay::test
