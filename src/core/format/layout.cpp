// plan_layout() computes in this order: check the input, list the blocks, size the tables with headroom, size the
// extents and count the checksum words, encode the HDF5 headers, place the head, the data and the blocks. Sizes come
// before places, because the head lies before the data and must not move later.
//
// change_rows() runs in each save with changed row counts. It moves the blocks of tables within the existing capacity
// and allocates nothing. Sums and products use sums.hpp. They stop at 2^62, so a too large sum is refused at the end
// and never wraps around.

#include "core/format/layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/describe/geometry.hpp"
#include "core/format/head.hpp"
#include "core/format/json_text.hpp"
#include "core/format/node_file.hpp"
#include "core/format/sums.hpp"

namespace forebay::format {
namespace {

constexpr std::uint64_t alignment_bytes_max = std::uint64_t{1} << 30;

std::uint64_t bytes_of_box(const Box& box, std::uint64_t element_bytes) {
    std::uint64_t bytes = element_bytes;
    for (int dim = 0; dim < box.size.dims(); ++dim) bytes = multiply(bytes, box.size[dim]);
    return bytes;
}

Error refusal(const std::string& why, std::string next = {}) {
    return {ErrorKind::refused, fmt::format("no node file can be laid out: {}", why), "", std::move(next)};
}
Error mistake(const std::string& why) {
    return {ErrorKind::broken, fmt::format("a defect of Forebay: {}", why), "the simulation", "report it"};
}

Result<> check_texts(const Schema& schema) {
    const auto check_text = [](const std::string& text, const char* what) -> Result<> {
        if (json::is_text(text)) return {};
        return refusal(fmt::format("{} is not UTF-8 without NUL.", what));
    };
    FB_TRY(check_text(schema.stream, "the stream's name"));
    for (const auto& table : schema.tables) FB_TRY(check_text(table, "a table's name"));
    for (const auto& variable : schema.variables) {
        const auto& attributes = variable.attributes;
        if (!json::is_text(variable.name)) return refusal("a variable's name is not UTF-8 without NUL.");
        if (attributes.others.size() > limits::attributes_max)
            return refusal(fmt::format("'{}' has {} attributes, at most {} are allowed.", variable.name,
                                       attributes.others.size(), limits::attributes_max));
        bool good = json::is_text(attributes.unit) && json::is_text(attributes.description);
        for (const auto& dimension : attributes.dimensions) good = good && json::is_text(dimension);
        for (const auto& [name, value] : attributes.others) {
            const auto* text = std::get_if<std::string>(&value);
            good = good && json::is_text(name) && (text == nullptr || json::is_text(*text));
            if (is_reserved_attribute(name))
                return refusal(
                    fmt::format("attribute '{}' of '{}' has a name that Forebay uses itself. Use unit, description or "
                                "dimensions, or another name.",
                                name, variable.name));
        }
        if (!good) return refusal(fmt::format("an attribute of '{}' is not UTF-8 without NUL.", variable.name));
    }
    return {};
}

Result<> check_parts(const Schema& schema, std::span<const RankPart> parts, const LayoutOptions& options) {
    FB_TRY(check(schema));
    FB_TRY(check_texts(schema));
    if (parts.empty()) return mistake("a node has no ranks.");
    if (parts.size() > limits::ranks_per_node_max)
        return refusal(
            fmt::format("{} ranks on one node, at most {} are allowed.", parts.size(), limits::ranks_per_node_max));
    if (!std::has_single_bit(options.alignment_bytes) || options.alignment_bytes < limits::page_bytes ||
        options.alignment_bytes > alignment_bytes_max)
        return refusal(fmt::format("an alignment of {} bytes; powers of two from {} to {} are allowed.",
                                   options.alignment_bytes, limits::page_bytes, alignment_bytes_max));
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0 && parts[i].rank <= parts[i - 1].rank) return mistake("the ranks of a node are out of order.");
        if (parts[i].rows.size() != schema.tables.size())
            return mistake("row counts do not match the number of tables.");
        if (parts[i].boxes.size() != schema.variables.size())
            return mistake("boxes do not match the number of variables.");
    }
    return {};
}

Result<> check_boxes(const Variable& variable, const RankPart& part, std::span<const Box> boxes) {
    if (variable.kind != Kind::array)
        return boxes.empty() ? Result<>{} : mistake("a variable that is not an array has boxes.");
    if (boxes.size() > limits::pieces_per_rank_max)
        return refusal(fmt::format("rank {} has {} boxes of '{}', at most {} are allowed.", part.rank, boxes.size(),
                                   variable.name, limits::pieces_per_rank_max));
    for (const auto& box : boxes)
        if (!inside(box, variable.shape))
            return refusal(fmt::format("a box of '{}' on rank {} lies outside its shape.", variable.name, part.rank));
    return {};
}

/// Lists the blocks with their sizes. Addresses come later.
Result<> list_blocks(Layout& layout, std::span<const RankPart> parts) {
    const auto& variables = layout.schema.variables;
    for (std::uint32_t v = 0; v < variables.size(); ++v) {
        const auto& variable = variables[v];
        layout.first_block.push_back(layout.blocks.size());
        Block block{.variable = v, .rank = parts.front().rank, .box = {}};
        if (variable.kind == Kind::replicated) {
            for (int dim = 0; dim < variable.shape.dims(); ++dim) block.box.lo.push_back(0);
            block.box.size = variable.shape;
            block.size_bytes = bytes_of_box(block.box, variable.type.size_bytes);
            layout.blocks.push_back(block);
        }
        for (const auto& part : parts) {
            FB_TRY(check_boxes(variable, part, part.boxes[v]));
            block.rank = part.rank;
            // A rank without rows has a block too, so that change_rows() allocates nothing.
            if (variable.kind == Kind::particles) {
                block.box = {{0}, {0}};
                layout.blocks.push_back(block);
            }
            for (const auto& box : part.boxes[v]) {
                block.box = box;
                block.size_bytes = bytes_of_box(box, variable.type.size_bytes);
                layout.blocks.push_back(block);
            }
        }
    }
    layout.first_block.push_back(layout.blocks.size());
    return {};
}

void size_tables(Layout& layout, std::span<const RankPart> parts, std::uint64_t headroom_percent) {
    for (std::size_t table = 0; table < layout.schema.tables.size(); ++table) {
        std::uint64_t rows = 0;
        for (const auto& part : parts) {
            layout.rows.push_back(part.rows[table]);
            rows = add(rows, part.rows[table]);
        }
        // An empty table must get its first rows without a new layout.
        const auto spare = std::max(multiply(rows, headroom_percent) / 100, limits::headroom_rows_min);
        layout.row_capacity.push_back(add(rows, spare));
    }
}

/// Computes the sizes of variables, and the largest number of segments that they can have.
void size_extents(Layout& layout) {
    const auto& variables = layout.schema.variables;
    std::uint64_t words = 0;
    for (std::size_t v = 0; v < variables.size(); ++v) {
        Extent extent;
        const std::span blocks(layout.blocks.data() + layout.first_block[v],
                               layout.first_block[v + 1] - layout.first_block[v]);
        if (variables[v].kind == Kind::particles) {
            extent.capacity_bytes = multiply(layout.row_capacity[variables[v].table], variables[v].type.size_bytes);
            // Each block may end in its own segment.
            words = add(words, add(extent.capacity_bytes / limits::segment_bytes, blocks.size()));
        } else {
            for (const auto& block : blocks) {
                extent.used_bytes = add(extent.used_bytes, block.size_bytes);
                words = add(words, segments_of(block.size_bytes));
            }
            extent.capacity_bytes = extent.used_bytes;
        }
        layout.extents.push_back(extent);
    }
    layout.crc_capacity_words = words;
}

void place_head(Layout& layout) {
    const auto after = [](std::uint64_t end) { return round_up(end, limits::cache_line_bytes); };
    layout.hdf5_offset_bytes = record_offset_bytes + record_size_bytes;
    layout.hdf5_capacity_bytes = round_up(layout.headers.bytes.size(), limits::page_bytes);
    layout.schema_offset_bytes = layout.hdf5_offset_bytes + layout.hdf5_capacity_bytes;
    layout.schema_size_bytes = layout.schema_text.size();
    layout.ranks_offset_bytes = after(layout.schema_offset_bytes + layout.schema_size_bytes);
    layout.extents_offset_bytes = after(layout.ranks_offset_bytes + layout.ranks.size() * sizeof(std::uint32_t));
    layout.index_offset_bytes = after(layout.extents_offset_bytes + layout.extents.size() * sizeof(ExtentRow));
    layout.crc_offset_bytes = after(layout.index_offset_bytes + layout.blocks.size() * sizeof(IndexRow));
    layout.data_offset_bytes =
        round_up(add(layout.crc_offset_bytes, multiply(layout.crc_capacity_words, 4)), limits::page_bytes);
}

/// Places small variables at cache lines, larger variables at pages, and variables of at least a large page at large
/// pages. So no variable wastes more than its own size.
void place_data(Layout& layout, std::uint64_t alignment_bytes) {
    const auto step_of = [&](const Extent& extent) {
        if (extent.capacity_bytes < limits::packed_variable_bytes) return limits::cache_line_bytes;
        return extent.capacity_bytes < alignment_bytes ? limits::page_bytes : alignment_bytes;
    };
    auto end = layout.data_offset_bytes;
    const auto place_all = [&](std::uint64_t step) {
        for (auto& extent : layout.extents) {
            if (step_of(extent) != step) continue;
            extent.offset_bytes = round_up(end, step);
            end = add(extent.offset_bytes, extent.capacity_bytes);
        }
    };
    place_all(limits::cache_line_bytes);
    place_all(limits::page_bytes);
    if (alignment_bytes != limits::page_bytes) place_all(alignment_bytes);
    layout.file_bytes = round_up(end, limits::page_bytes);
}

void place_fixed_blocks(Layout& layout) {
    std::uint64_t segment = 0;
    for (std::size_t v = 0; v < layout.schema.variables.size(); ++v) {
        if (layout.schema.variables[v].kind == Kind::particles) continue;
        auto offset_bytes = layout.extents[v].offset_bytes;
        for (auto b = layout.first_block[v]; b < layout.first_block[v + 1]; ++b) {
            layout.blocks[b].offset_bytes = offset_bytes;
            layout.blocks[b].first_segment = segment;
            offset_bytes += layout.blocks[b].size_bytes;
            segment += segments_of(layout.blocks[b].size_bytes);
        }
    }
    layout.fixed_segments = segment;
}

/// The only work of a save with changed counts: a few additions for each block.
void place_rows(Layout& layout) {
    auto segment = layout.fixed_segments;
    const auto ranks = layout.ranks.size();
    for (const auto& column : layout.columns) {
        const auto* rows = layout.rows.data() + column.table * ranks;
        auto* block = layout.blocks.data() + layout.first_block[column.variable];
        auto& extent = layout.extents[column.variable];
        std::uint64_t first_row = 0;
        for (std::size_t i = 0; i < ranks; ++i, ++block) {
            block->box.lo[0] = first_row;
            block->box.size[0] = rows[i];
            block->offset_bytes = extent.offset_bytes + first_row * column.element_bytes;
            block->size_bytes = rows[i] * column.element_bytes;
            block->first_segment = segment;
            first_row += rows[i];
            segment += segments_of(block->size_bytes);
        }
        extent.used_bytes = first_row * column.element_bytes;
    }
    layout.crc_words = segment;
}

void list_columns(Layout& layout) {
    for (std::uint32_t v = 0; v < layout.schema.variables.size(); ++v) {
        const auto& variable = layout.schema.variables[v];
        if (variable.kind == Kind::particles)
            layout.columns.push_back({v, variable.table, variable.type.size_bytes, layout.headers.fields[v]});
    }
}

}  // namespace

Result<Layout> plan_layout(const Schema& schema, std::span<const RankPart> parts, const LayoutOptions& options) {
    FB_TRY(check_parts(schema, parts, options));
    Layout layout;
    layout.schema = schema;
    for (const auto& part : parts) layout.ranks.push_back(part.rank);
    FB_TRY(list_blocks(layout, parts));
    size_tables(layout, parts, options.headroom_percent);
    size_extents(layout);
    layout.schema_text = schema_json(schema);
    layout.headers = encode_node_headers({.schema = layout.schema,
                                          .schema_bytes = layout.schema_text.size(),
                                          .ranks = layout.ranks.size(),
                                          .extents = layout.extents,
                                          .blocks = layout.blocks.size()});
    list_columns(layout);
    place_head(layout);
    if (layout.data_offset_bytes > limits::head_bytes_max)
        return refusal(
            fmt::format("the head of the node file needs {} bytes for {} variables and {} blocks, at most {} are "
                        "allowed",
                        layout.data_offset_bytes, layout.extents.size(), layout.blocks.size(), limits::head_bytes_max),
            "describe fewer boxes or variables");
    place_data(layout, options.alignment_bytes);
    if (layout.file_bytes >= beyond) return refusal("the ranks of this node own more than 2^62 bytes.");
    place_fixed_blocks(layout);
    place_rows(layout);
    return layout;
}

Result<> change_rows(Layout& layout, std::span<const std::uint64_t> rows) {
    const auto ranks = layout.ranks.size();
    if (rows.size() != layout.rows.size()) return mistake("row counts do not match the number of tables or ranks.");
    for (std::size_t table = 0; table < layout.row_capacity.size(); ++table) {
        std::uint64_t total = 0;
        for (const auto count : rows.subspan(table * ranks, ranks)) total = add(total, count);
        if (total > layout.row_capacity[table])
            return Error{ErrorKind::full,
                         fmt::format("table '{}' has {} rows on this node, but the node file has room for {}",
                                     layout.schema.tables[table], total, layout.row_capacity[table]),
                         "", "make the layout of the file again"};
    }
    // All tables are checked before the layout changes.
    std::ranges::copy(rows, layout.rows.begin());
    place_rows(layout);
    return {};
}

}  // namespace forebay::format
