#include "cli/show_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.hpp"
#include "cli/table.hpp"
#include "cli/words.hpp"
#include "format/combined.hpp"

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

std::string more(std::size_t all, std::size_t shown) {
    return all <= shown ? "" : fmt::format("... and {} more: --all shows them.\n", all - shown);
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

std::string variables_table(const Schema& schema, std::span<const std::uint64_t> rows) {
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
        auto one = Json::object();
        one.set("name", variable.name)
            .set("kind", forebay::name_of(variable.kind))
            .set("type", forebay::name_of(variable.type));
        if (variable.kind == Kind::particles)
            one.set("table", schema.tables[variable.table]).set("rows", rows[variable.table]);
        else one.set("shape", json_of(variable.shape));
        if (variable.kind == Kind::array) one.set("coverage", variable.coverage == Coverage::full ? "full" : "partial");
        one.set("bytes", bytes_of(variable, rows));
        const auto& attributes = variable.attributes;
        if (!attributes.unit.empty()) one.set("unit", attributes.unit);
        if (!attributes.description.empty()) one.set("description", attributes.description);
        if (!attributes.dimensions.empty()) {
            auto names = Json::array();
            for (const auto& name : attributes.dimensions) names.push(name);
            one.set("dimensions", names);
        }
        if (!attributes.others.empty()) {
            auto others = Json::object();
            for (const auto& [name, value] : attributes.others) others.set(name, json_of_value(value));
            one.set("attributes", others);
        }
        list.push(one);
    }
    return list;
}

std::string nodes_table(const format::Manifest& manifest, std::size_t lines_max) {
    std::vector<Table::Column> columns{{"node", true}, {"file"}, {"bytes", true}, {"ranks"}};
    for (const auto& name : manifest.schema.tables) columns.push_back({"rows of " + name, true});
    Table table(columns);
    const auto shown = std::min(lines_max, manifest.nodes.size());
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& line = manifest.nodes[i];
        const auto path = line.offset_bytes == 0 ? line.path : line.path + "/" + format::region_name(line.node);
        std::vector<std::string> cells{fmt::to_string(line.node), path, show_bytes(line.data_bytes),
                                       show_ranks(line.ranks)};
        for (const auto rows : line.rows) cells.push_back(fmt::to_string(rows));
        table.row(std::move(cells));
    }
    return table.text() + more(manifest.nodes.size(), shown);
}

Json nodes_json(const format::Manifest& manifest) {
    auto list = Json::array();
    for (const auto& line : manifest.nodes) {
        auto ranks = Json::array(), rows = Json::array();
        for (const auto& range : line.ranks) ranks.push(Json::array().push(range.first).push(range.count));
        for (const auto count : line.rows) rows.push(count);
        auto one = Json::object();
        one.set("node", line.node)
            .set("path", line.path)
            .set("offset", line.offset_bytes)
            .set("bytes", line.data_bytes)
            .set("file_bytes", line.file_bytes);
        list.push(one.set("ranks", ranks).set("rows", rows));
    }
    return list;
}

std::string blocks_table(const format::NodeFile& file, std::size_t lines_max) {
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
    return table.text() + more(file.blocks.size(), shown);
}

Json blocks_json(const format::NodeFile& file) {
    auto list = Json::array();
    for (const auto& block : file.blocks) {
        auto one = Json::object();
        one.set("variable", file.schema.variables[block.variable].name).set("rank", block.rank);
        one.set("first", json_of(block.box.lo)).set("size", json_of(block.box.size));
        list.push(one.set("first_byte", block.offset_bytes).set("bytes", block.size_bytes));
    }
    return list;
}

}  // namespace forebay::cli
