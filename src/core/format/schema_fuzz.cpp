// Feeds any text to schema_from_json(). It must not crash. Accepted text is written and read to the same text. A node
// file for it is refused, or can be laid out, encoded, sealed and opened.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/format/node_file.hpp"
#include "core/format/packed.hpp"

using namespace forebay;
using namespace forebay::format;

namespace {

void require(bool promise) {
    if (!promise) std::abort();
}

void try_layout(const Schema& schema) {
    RankPart part;
    part.boxes.resize(schema.variables.size());
    part.rows.assign(schema.tables.size(), 3);
    const auto layout = plan_layout(schema, {&part, 1}, {});
    if (!layout || layout->data_offset_bytes > (1u << 20)) return;
    std::vector<std::byte> image(layout->data_offset_bytes);
    encode(*layout, image);
    seal(*layout, {.nodes = 1, .world_ranks = 1}, image);
    const auto file = open_head(image, "fuzz.h5");
    require(file.has_value() && file->blocks == layout->blocks);
    require(schema_json(file->schema) == schema_json(schema));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto schema = schema_from_json({reinterpret_cast<const char*>(data), size});
    if (!schema) return 0;
    const auto text = schema_json(*schema);
    const auto again = schema_from_json(text);
    require(again.has_value() && schema_json(*again) == text);
    try_layout(*schema);
    for (const auto& variable : schema->variables) {
        const auto file = packed_file(variable);
        if (!file) continue;
        // The result is a relative path, and gives the same variable again.
        require(!file->path.empty() && file->path.front() != '/' &&
                ("/" + file->path + "/").find("/../") == std::string::npos);
        require(packed_file(packed_variable(*file, 7)) == *file);
    }
    return 0;
}
