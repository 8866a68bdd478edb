// Committed snapshots for tests of views, written through the format module: node files whose blocks spread irregularly
// over ranks, and the manifest. Each number follows from its position in the global array or table, so that a reader
// can check it: number_of() and store_number() here, and the same in views_test.py.

#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/describe/geometry.hpp"
#include "core/format/combined.hpp"
#include "core/format/manifest.hpp"
#include "core/format/shared.hpp"
#include "core/sys/store.hpp"
#include "path/catalog/catalog.hpp"
#include "support/all_in_one.hpp"

namespace forebay::test {

struct ViewSample {
    Schema schema;
    std::vector<std::uint32_t> ranks_of_node;          // number of ranks of each node
    std::vector<std::vector<std::vector<Box>>> boxes;  // by rank, then variable
    std::vector<std::vector<std::uint64_t>> rows;      // by rank, then table
    std::uint32_t nodes_per_file = 1;                  // or all_in_one
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(boxes.size()); }
};

inline const std::vector<Type>& view_types() {
    static const std::vector<Type> types{f16, f32, f64, c64, c128, i8, i16, i32, i64, u8, u16, u32, u64, string_of(6)};
    return types;
}

inline std::string short_name(Type type) { return type.scalar == Scalar::string ? "text" : name_of(type); }

inline std::uint64_t number_of(std::size_t variable, std::uint64_t element) { return element * 7 + variable * 13; }

/// Stores the number as `type`. f16 holds whole numbers below 2048 exactly.
inline void store_number(std::byte* to, Type type, std::uint64_t number) {
    const auto half = static_cast<std::uint16_t>(number % 2048);
    const auto single = static_cast<float>(number % (1u << 20)) / 2;
    const auto real = static_cast<double>(number) / 4;
    switch (type.scalar) {
        case Scalar::f16: {
            const auto exponent = half == 0 ? 0u : 31u - static_cast<unsigned>(__builtin_clz(half));
            const auto bits =
                half == 0 ? 0u : ((15u + exponent) << 10) | ((unsigned{half} << (10 - exponent)) & 0x3FFu);
            return store_le(to, static_cast<std::uint16_t>(bits));
        }
        case Scalar::f32: return store_le(to, single);
        case Scalar::f64: return store_le(to, real);
        case Scalar::c64: store_le(to, single); return store_le(to + 4, -single);
        case Scalar::c128: store_le(to, real); return store_le(to + 8, -real);
        case Scalar::string: {
            std::string text = "s" + std::to_string(number % 100'000);
            text.resize(type.size_bytes);
            std::memcpy(to, text.data(), text.size());
            return;
        }
        default: std::memcpy(to, &number, type.size_bytes);
    }
}

/// Cuts a box into about `parts` uneven boxes along its longest sides.
inline void cut(const Box& box, std::uint64_t parts, std::vector<Box>& out) {
    int longest = 0;
    for (int dim = 1; dim < box.size.dims(); ++dim)
        if (box.size[dim] > box.size[longest]) longest = dim;
    if (parts <= 1 || box.size[longest] < 2) return out.push_back(box);
    Box left = box;
    Box right = box;
    left.size[longest] = std::max<std::uint64_t>(1, box.size[longest] / 3);
    right.lo[longest] += left.size[longest];
    right.size[longest] -= left.size[longest];
    cut(left, parts / 3, out);
    cut(right, parts - parts / 3, out);
}

inline Variable array_of(const std::string& name, Type type, const Extents& shape,
                         std::vector<std::string> dimensions = {}) {
    Variable variable{.name = name, .type = type, .kind = Kind::array, .shape = shape};
    variable.attributes.dimensions = std::move(dimensions);
    return variable;
}

inline Variable value_of(const std::string& name, Type type, const Extents& shape = {}) {
    return {.name = name, .type = type, .kind = Kind::replicated, .shape = shape};
}

inline Variable column_of(const std::string& name, Type type, std::uint32_t table) {
    return {.name = name, .type = type, .kind = Kind::particles, .table = table};
}

/// Every type in every kind, 1 to 4 dimensions, and every kind of name clash.
inline Schema view_schema() {
    Schema schema;
    schema.stream = "fields";
    schema.tables = {"particles", "halos/inner", "none"};
    auto& all = schema.variables;
    for (const auto type : view_types()) {
        all.push_back(array_of("fields/" + short_name(type), type, {5, 6, 7}, {"z", "y", "x"}));
        all.push_back(column_of("particles/" + short_name(type), type, 0));
        all.push_back(value_of("scalars/" + short_name(type), type));
        all.push_back(value_of("lists/" + short_name(type), type, {3}));
    }
    all[0].attributes.unit = "m s-1";
    all[0].attributes.description = "wind, eastward";
    all[0].attributes.others = {{"count", std::int64_t{-3}},
                                {"scale", 0.25},
                                {"note", std::string("caf\xc3\xa9")},
                                {"empty", std::string()},
                                {"CLASS", std::string("DIMENSION_SCALE")}};
    all.push_back(array_of("fields/x", f64, {7}, {"x"}));  // coordinates
    all.push_back(value_of("fields/z", f32, {5}));
    all.back().attributes.dimensions = {"z"};
    all.push_back(array_of("fields/deep/u", f32, {3, 8}, {"y", "x"}));  // y and x have other lengths than above
    all.push_back(array_of("line", i64, {11}));
    all.push_back(array_of("plane", f64, {4, 9}, {"y", "x2"}));
    all.push_back(array_of("four", f32, {3, 4, 2, 5}));
    all.push_back(array_of("pair", f32, {4, 4}, {"y", "y"}));
    all.push_back(array_of("odd %b %%/\xc3\xbcn\xc3\xaf \"q\"", u16, {9}));
    all.push_back(array_of("hole/real", f32, {10}));
    all.push_back(array_of("hole/whole", i32, {10}));
    all.push_back(array_of("hole/all", c128, {2, 3}));
    for (std::size_t back = 1; back <= 3; ++back) all[all.size() - back].coverage = Coverage::partial;
    all.push_back(column_of("halos/inner/mass", f64, 1));
    all.push_back(column_of("halos/inner/inner", i32, 1));  // clashes with the name of the table's dimension
    all.push_back(column_of("none/x", f64, 2));
    all.push_back(value_of("lists/large", f64, {200'000, 2}));
    return schema;
}

/// Spreads the schema over ranks. About every second rank has several boxes; some ranks have nothing.
inline ViewSample spread(Schema schema, std::vector<std::uint32_t> ranks_of_node) {
    ViewSample sample;
    sample.schema = std::move(schema);
    std::uint32_t ranks = 0;
    for (const auto count : ranks_of_node) ranks += count;
    sample.ranks_of_node = std::move(ranks_of_node);
    sample.boxes.assign(ranks, std::vector<std::vector<Box>>(sample.schema.variables.size()));
    sample.rows.assign(ranks, std::vector<std::uint64_t>(sample.schema.tables.size(), 0));
    for (std::size_t v = 0; v < sample.schema.variables.size(); ++v) {
        const auto& variable = sample.schema.variables[v];
        if (variable.kind != Kind::array) continue;
        std::vector<Box> boxes;
        if (variable.coverage == Coverage::full) {
            Box whole;
            whole.size = variable.shape;
            for (int dim = 0; dim < variable.shape.dims(); ++dim) whole.lo.push_back(0);
            cut(whole, 2 * ranks - 1, boxes);
        } else if (variable.name != "hole/all") {
            boxes = {{{5}, {3}}, {{0}, {2}}};  // rows 2..4 and 8..9 stay unwritten
        }
        for (std::size_t b = 0; b < boxes.size(); ++b) {
            auto rank = static_cast<std::uint32_t>((b * 5 + v) % ranks);
            if (rank == 1 && ranks > 2) rank = 0;  // rank 1 owns nothing
            sample.boxes[rank][v].push_back(boxes[b]);
        }
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        if (sample.rows[rank].size() > 0 && rank != 1) sample.rows[rank][0] = 3 + (rank * 11) % 7;
        if (sample.rows[rank].size() > 1 && rank % 3 == 2) sample.rows[rank][1] = rank + 1;
    }
    return sample;
}

namespace detail {

inline void fill_array(std::byte* to, const Variable& variable, std::size_t v, const Box& box) {
    const auto strides = packed_strides(variable.shape, 1);
    Extents at = box.lo;
    for (std::uint64_t e = 0; e < volume(box.size); ++e) {
        std::uint64_t element = 0;
        for (int dim = 0; dim < at.dims(); ++dim)
            element += at[dim] * static_cast<std::uint64_t>(strides[static_cast<std::size_t>(dim)]);
        store_number(to + e * variable.type.size_bytes, variable.type, number_of(v, element));
        for (int dim = at.dims() - 1; dim >= 0; --dim) {
            if (++at[dim] < box.lo[dim] + box.size[dim]) break;
            at[dim] = box.lo[dim];
        }
    }
}

}  // namespace detail

/// The bytes of one node file. `first_rows` are the rows of the tables on earlier nodes.
inline Result<std::vector<std::byte>> node_bytes(const ViewSample& sample, std::uint32_t node, std::uint32_t first_rank,
                                                 const std::vector<std::uint64_t>& first_rows,
                                                 const format::Form& form = {},
                                                 const std::vector<std::uint64_t>& shared_offsets = {}) {
    std::vector<format::RankPart> parts;
    for (std::uint32_t i = 0; i < sample.ranks_of_node[node]; ++i)
        parts.push_back({first_rank + i, sample.boxes[first_rank + i], sample.rows[first_rank + i]});
    FB_TRY_ASSIGN(layout, format::plan_layout(sample.schema, parts, {}));
    std::vector<std::byte> bytes(layout.file_bytes);
    format::encode(layout, bytes);
    if (!shared_offsets.empty()) format::patch_shared(layout, shared_offsets, bytes);
    const auto words = format::crc_words(layout, bytes);
    for (const auto& block : layout.blocks) {
        const auto& variable = sample.schema.variables[block.variable];
        auto* to = bytes.data() + block.offset_bytes;
        if (variable.kind == Kind::array) detail::fill_array(to, variable, block.variable, block.box);
        const auto first = variable.kind == Kind::particles ? first_rows[variable.table] + block.box.lo[0] : 0;
        if (variable.kind != Kind::array)
            for (std::uint64_t e = 0; e < block.size_bytes / variable.type.size_bytes; ++e)
                store_number(to + e * variable.type.size_bytes, variable.type, number_of(block.variable, first + e));
        for (std::uint64_t done = 0, word = block.first_segment; done < block.size_bytes;
             done += limits::segment_bytes, ++word)
            words[word] = crc32c({to + done, std::min(limits::segment_bytes, block.size_bytes - done)});
    }
    const format::Record record{.snapshot_id = 0x00f30000c0ffee9a,
                                .step = 120,
                                .time = 0.5,
                                .sealed_unix_ns = 1'700'000'000'000'000'000,
                                .node = node,
                                .nodes = static_cast<std::uint32_t>(sample.ranks_of_node.size()),
                                .world_ranks = sample.ranks(),
                                .form = form};
    format::seal(layout, record, bytes);
    return bytes;
}

/// The places of the node files in their combined files. Regions lie as close as allowed.
inline Result<std::vector<format::Form>> forms_of(const ViewSample& sample) {
    const auto nodes = static_cast<std::uint32_t>(sample.ranks_of_node.size());
    std::vector<format::Form> forms(nodes);
    if (sample.nodes_per_file == 1) return forms;
    const std::vector<std::uint64_t> no_rows(sample.schema.tables.size(), 0);
    std::uint32_t first_rank = 0;
    for (std::uint32_t first = 0; first < nodes; first += sample.nodes_per_file) {
        const auto end = std::min(first + sample.nodes_per_file, nodes);
        format::CombinedFile file{.nodes_per_file = sample.nodes_per_file, .first_node = first};
        if (end - first > 1)
            file.offsets = {round_up(format::combined_head_bytes(sample.schema, end - first), limits::page_bytes)};
        for (auto node = first; node < end; ++node) {
            FB_TRY_ASSIGN(bytes, node_bytes(sample, node, first_rank, no_rows));
            first_rank += sample.ranks_of_node[node];
            if (end - first > 1) file.offsets.push_back(file.offsets.back() + bytes.size() + limits::page_bytes);
        }
        for (auto node = first; node < end; ++node) forms[node] = file;
    }
    return forms;
}

/// The plan of the shared file of a sample, with the rows before each node.
inline Result<format::SharedPlan> shared_plan_of(const ViewSample& sample) {
    std::vector<std::uint64_t> rows(sample.schema.tables.size(), 0);
    std::uint64_t head_bytes = 0;
    std::uint32_t first_rank = 0;
    const auto nodes = static_cast<std::uint32_t>(sample.ranks_of_node.size());
    for (std::uint32_t node = 0; node < nodes; ++node) {
        FB_TRY_ASSIGN(bytes, node_bytes(sample, node, first_rank, rows));
        FB_TRY_ASSIGN(head, format::open_head(bytes, "sample"));
        head_bytes = std::max(head_bytes, head.head_bytes);
        for (std::uint32_t table = 0; table < rows.size(); ++table) rows[table] += head.rows(table);
        first_rank += sample.ranks_of_node[node];
    }
    return format::place_shared(sample.schema,
                                {.nodes = nodes,
                                 .heads_offset = format::shared_heads_offset(sample.schema, format::SharedNaming::own),
                                 .region_bytes = format::shared_region_bytes(head_bytes),
                                 .alignment_bytes = limits::page_bytes},
                                rows);
}

/// Writes a staged node file into the shared file, stretch by stretch.
inline Result<format::NodeFile> write_shared_node(sys::File& file, const std::vector<std::byte>& bytes) {
    FB_TRY_ASSIGN(staged, format::open_head(bytes, "sample"));
    const auto region = format::encode_region(staged, bytes);
    FB_TRY_ASSIGN(stored, format::open_head(region, "sample"));
    const auto& form = staged.record.form;
    FB_TRY(file.truncate(format::length_of(form)));
    FB_TRY(file.write(format::region_offset(form, staged.record.node), region));
    Result<> written;
    format::for_each_stretch(stored, 0, bytes.size(), [&](const format::Stretch& stretch) {
        written = file.write(stretch.offset, std::span(bytes).subspan(stretch.plain_offset, stretch.bytes));
        return written.has_value();
    });
    FB_TRY(written);
    return stored;
}

/// Writes RUN/STREAM/step-000120 with all node files and the manifest.
inline Result<catalog::Snapshot> write_sample(sys::Store& store, const std::string& run, const ViewSample& sample) {
    const catalog::Snapshot snapshot{sample.schema.stream, 120,
                                     run + "/" + sample.schema.stream + "/" + catalog::step_name(120)};
    format::Manifest manifest{.snapshot_id = 0x00f30000c0ffee9a,
                              .step = 120,
                              .time = 0.5,
                              .sealed_unix_ns = 1'700'000'000'000'000'000,
                              .world_ranks = sample.ranks(),
                              .schema = sample.schema,
                              .shapes = format::distinct_shapes(sample.schema)};
    std::vector<std::uint64_t> first_rows(sample.schema.tables.size(), 0);
    std::uint32_t first_rank = 0;
    const auto nodes = static_cast<std::uint32_t>(sample.ranks_of_node.size());
    format::SharedPlan plan;
    const bool is_shared = sample.nodes_per_file == all_in_one;
    std::vector<format::Form> forms;
    if (is_shared) {
        FB_TRY_ASSIGN(shared_plan, shared_plan_of(sample));
        plan = std::move(shared_plan);
        forms.assign(nodes, plan.places);
    } else {
        FB_TRY_ASSIGN(all_forms, forms_of(sample));
        forms = std::move(all_forms);
    }
    std::vector<format::Region> regions;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        const auto& form = forms[node];
        const auto offsets =
            is_shared ? format::own_offsets(plan, sample.schema, first_rows) : std::vector<std::uint64_t>{};
        FB_TRY_ASSIGN(bytes, node_bytes(sample, node, first_rank, first_rows, form, offsets));
        const auto name = format::node_path(node, nodes, form);
        const auto path = snapshot.directory + "/" + name;
        FB_TRY(store.make_directories(path.substr(0, path.rfind('/'))));
        FB_TRY_ASSIGN(file, store.open(path, sys::Access::update));
        if (!is_shared) FB_TRY(file->write(format::region_offset(form, node), bytes));
        FB_TRY_ASSIGN(head, is_shared ? write_shared_node(*file, bytes) : format::open_head(bytes, path));
        if (node == format::first_node(form)) regions.clear();
        regions.push_back(format::region_of(head));
        if (format::kind_of_file(form) == format::FormKind::combined && regions.size() == format::nodes_in(form)) {
            FB_TRY(file->truncate(format::length_of(form)));
            FB_TRY(file->write(0, format::encode_combined_head(format::page_of(head.record), head.schema, regions)));
        }
        FB_TRY(file->close());
        manifest.nodes.push_back(format::line_of(head, name));
        for (std::uint32_t table = 0; table < first_rows.size(); ++table) first_rows[table] += head.rows(table);
        first_rank += sample.ranks_of_node[node];
        if (!is_shared || node + 1 < nodes) continue;
        FB_TRY_ASSIGN(whole, store.open(path, sys::Access::update));
        FB_TRY(whole->write(0, format::encode_shared_head(format::page_of(head.record), head.schema, first_rows)));
    }
    FB_TRY(sys::write_text_durable(store, snapshot.directory + "/" + catalog::manifest_name,
                                   format::encode_manifest(manifest)));
    return snapshot;
}

}  // namespace forebay::test
