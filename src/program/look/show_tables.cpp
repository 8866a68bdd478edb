// Each table exists as text for people and as JSON, from equal numbers. A text table cut to `lines_max` says how many
// lines it leaves out. JSON is never cut.

#include "program/look/show_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/units.hpp"
#include "core/codec/codec.hpp"
#include "core/format/combined.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"
#include "program/snapshot_words.hpp"

namespace forebay::cli {

namespace {

std::uint64_t bytes_of(const Variable& variable, std::span<const std::uint64_t> rows) {
    const auto elements = variable.kind == Kind::particles ? rows[variable.table] : variable.elements();
    return elements * variable.type.size_bytes;
}

std::string shape_of(const Variable& variable, std::span<const std::uint64_t> rows) {
    if (variable.kind == Kind::particles) return fmt::format("{} rows", rows[variable.table]);
    auto text = show_shape(variable.shape);
    if (variable.coverage == Coverage::partial) text += ", partly covered";
    return text;
}

Json json_of_value(const AttributeValue& value) {
    return std::visit([](const auto& held) { return Json(held); }, value);
}

/// The table shows `shown` of `all` lines.
Shown more(const Table& table, std::size_t all, std::size_t shown) {
    auto text = table.text();
    if (shown < all) text += lines("... and {} more: --all lists them.\n", all - shown);
    return text;
}

/// Stored size of one variable of a compressed node file.
struct StoredBytes {
    std::uint64_t plain_bytes = 0, stored_bytes = 0, chunks = 0;
    std::map<std::string, std::uint64_t> efforts;  // plain bytes by compression effort
};

std::string effort_of(const format::StoredVariable& variable, const format::Chunk& chunk) {
    if (!chunk.filtered) return "as it is";
    if (variable.filter == codec::zfp_id) return "zfp";
    return fmt::format("{} {}", chunk.effort / 256 == 2 ? "zstd" : "lz4", chunk.effort % 256);
}

std::vector<StoredBytes> stored_of(const format::NodeFile& file) {
    std::vector<StoredBytes> all(file.schema.variables.size());
    for (const auto& chunk : file.chunk_table.chunks) {
        auto& total = all[chunk.variable];
        total.plain_bytes += chunk.plain_bytes;
        total.stored_bytes += chunk.stored_bytes;
        ++total.chunks;
        total.efforts[effort_of(file.chunk_table.variables[chunk.variable], chunk)] += chunk.plain_bytes;
    }
    return all;
}

std::string box_of(const format::Block& block, Kind kind) {
    if (kind == Kind::replicated) return "";
    if (kind == Kind::particles) return fmt::format("{} rows", block.box.size[0]);
    std::string text;
    for (int dim = 0; dim < block.box.size.dims(); ++dim)
        text +=
            fmt::format("{}{}:{}", dim > 0 ? ", " : "[", block.box.lo[dim], block.box.lo[dim] + block.box.size[dim]);
    return text + "]";
}

}  // namespace

Shown variables_table(const Schema& schema, std::span<const std::uint64_t> rows) {
    Table table({{"variable"}, {"kind"}, {"type"}, {"shape"}, {"bytes", true}, {"unit"}, {"description"}});
    for (const auto& variable : schema.variables)
        table.row({variable.name, forebay::name_of(variable.kind), forebay::name_of(variable.type),
                   shape_of(variable, rows), show_bytes(bytes_of(variable, rows)), variable.attributes.unit,
                   variable.attributes.description});
    return table.text();
}

Json variables_json(const Schema& schema, std::span<const std::uint64_t> rows) {
    auto list = Json::array();
    for (const auto& variable : schema.variables) {
        auto object = Json::object();
        object.set("name", variable.name)
            .set("kind", forebay::name_of(variable.kind))
            .set("type", forebay::name_of(variable.type));
        if (variable.kind == Kind::particles)
            object.set("table", schema.tables[variable.table]).set("rows", rows[variable.table]);
        else object.set("shape", json_of(variable.shape));
        if (variable.kind == Kind::array)
            object.set("coverage", variable.coverage == Coverage::full ? "full" : "partial");
        object.set("bytes", bytes_of(variable, rows));
        const auto& attributes = variable.attributes;
        if (!attributes.unit.empty()) object.set("unit", attributes.unit);
        if (!attributes.description.empty()) object.set("description", attributes.description);
        if (!attributes.dimensions.empty()) {
            auto names = Json::array();
            for (const auto& name : attributes.dimensions) names.push(name);
            object.set("dimensions", names);
        }
        if (!attributes.others.empty()) {
            auto others = Json::object();
            for (const auto& [name, value] : attributes.others) others.set(name, json_of_value(value));
            object.set("attributes", others);
        }
        list.push(object);
    }
    return list;
}

Shown nodes_table(const format::Manifest& manifest, std::size_t lines_max) {
    std::vector<Table::Column> columns{{"node", true}, {"file"}, {"bytes", true}, {"ranks"}};
    for (const auto& name : manifest.schema.tables) columns.push_back({"rows of " + name, true});
    Table table(columns);
    const auto shown = std::min(lines_max, manifest.nodes.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& line = manifest.nodes[i];
        const auto path = format::is_region(line) ? line.path + "/" + format::region_name(line.node) : line.path;
        std::vector<std::string> cells{fmt::to_string(line.node), path, show_bytes(line.data_bytes),
                                       show_ranks(line.ranks)};
        for (const auto rows : line.rows) cells.push_back(fmt::to_string(rows));
        table.row(std::move(cells));
    }
    return more(table, manifest.nodes.size(), shown);
}

Json nodes_json(const format::Manifest& manifest) {
    auto list = Json::array();
    for (const auto& line : manifest.nodes) {
        auto ranks = Json::array(), rows = Json::array();
        for (const auto& range : line.ranks) ranks.push(Json::array().push(range.first).push(range.count));
        for (const auto count : line.rows) rows.push(count);
        auto object = Json::object();
        object.set("node", line.node)
            .set("path", line.path)
            .set("offset", line.offset_bytes)
            .set("bytes", line.data_bytes)
            .set("file_bytes", line.file_bytes);
        list.push(object.set("ranks", ranks).set("rows", rows));
    }
    return list;
}

Shown compression_table(const format::NodeFile& file) {
    Table table({{"variable"}, {"bytes", true}, {"stored", true}, {"ratio", true}, {"chunks", true}, {"by"}});
    const auto all = stored_of(file);
    for (std::size_t v = 0; v < all.size(); ++v) {
        const auto& total = all[v];
        if (total.plain_bytes == 0) continue;
        std::string by;
        for (const auto& [effort, bytes] : total.efforts)
            by += fmt::format("{}{} {:.0f} %", by.empty() ? "" : ", ", effort,
                              100.0 * static_cast<double>(bytes) / static_cast<double>(total.plain_bytes));
        table.row(
            {file.schema.variables[v].name, show_bytes(total.plain_bytes), show_bytes(total.stored_bytes),
             fmt::format("{:.2f}", static_cast<double>(total.plain_bytes) / static_cast<double>(total.stored_bytes)),
             fmt::to_string(total.chunks), by});
    }
    return table.text();
}

Json compression_json(const format::NodeFile& file) {
    auto list = Json::array();
    const auto all = stored_of(file);
    for (std::size_t v = 0; v < all.size(); ++v) {
        auto efforts = Json::object();
        for (const auto& [effort, bytes] : all[v].efforts) efforts.set(effort, bytes);
        auto object = Json::object();
        object.set("variable", file.schema.variables[v].name).set("bytes", all[v].plain_bytes);
        object.set("stored_bytes", all[v].stored_bytes).set("chunks", all[v].chunks).set("efforts", efforts);
        list.push(object.set("filter", file.chunk_table.variables[v].filter));
    }
    return list;
}

Shown blocks_table(const format::NodeFile& file, std::size_t lines_max) {
    Table table(
        {{"variable"}, {"rank", true}, {"box"}, {"bytes", true}, {"first byte", true}, {"crc32c of segment 0"}});
    const auto shown = std::min(lines_max, file.blocks.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& block = file.blocks[i];
        const auto& variable = file.schema.variables[block.variable];
        table.row({variable.name, fmt::to_string(block.rank), box_of(block, variable.kind),
                   show_bytes(block.size_bytes), fmt::to_string(block.offset_bytes),
                   block.size_bytes == 0 ? "" : fmt::format("{:08x}", file.crc32c[block.first_segment])});
    }
    return more(table, file.blocks.size(), shown);
}

Json blocks_json(const format::NodeFile& file) {
    auto list = Json::array();
    for (const auto& block : file.blocks) {
        auto object = Json::object();
        object.set("variable", file.schema.variables[block.variable].name).set("rank", block.rank);
        object.set("first", json_of(block.box.lo)).set("size", json_of(block.box.size));
        list.push(object.set("first_byte", block.offset_bytes).set("bytes", block.size_bytes));
    }
    return list;
}

}  // namespace forebay::cli
