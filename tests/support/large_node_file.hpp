// One sealed node file of some MiB that is worth compressing. Its blocks begin and end anywhere within segments and
// chunks. Fields are smooth, ids count up, and noise is random.

#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/format/layout.hpp"
#include "core/format/node_file.hpp"

namespace forebay::test {

inline const std::vector<std::uint64_t> large_rows{70'001, 0, 150'003};

inline Schema large_schema() {
    Schema schema;
    schema.stream = "restart";
    schema.tables = {"gas", "none"};
    schema.variables = {{"clock", f64, Kind::replicated, {}, 0, Coverage::full, {}},
                        {"fields/u", f64, Kind::array, {60, 50, 73}, 0, Coverage::full, {.unit = "m s-1"}},
                        {"fields/f", f32, Kind::array, {60, 50, 73}, 0, Coverage::full, {}},
                        {"fields/noise", u8, Kind::array, {300'000}, 0, Coverage::partial, {}},
                        {"gas/id", i64, Kind::particles, {}, 0, Coverage::full, {}},
                        {"gas/x", f32, Kind::particles, {}, 0, Coverage::full, {}},
                        {"gas/label", string_of(7), Kind::particles, {}, 0, Coverage::full, {}},
                        {"none/x", f64, Kind::particles, {}, 1, Coverage::full, {}}};
    return schema;
}

/// The value of element `e` of a variable. Elements are numbered over the whole node.
inline void store_large(const Variable& variable, std::uint64_t e, std::mt19937_64& random, std::byte* to) {
    const double wave = std::sin(static_cast<double>(e) / 300) + 0.2 * std::cos(static_cast<double>(e) / 17);
    if (variable.type == f64) store_le(to, wave);
    else if (variable.type == f32) store_le(to, static_cast<float>(wave));
    else if (variable.type == i64) store_le(to, static_cast<std::int64_t>(e));
    else if (variable.type == u8) store_le(to, static_cast<std::uint8_t>(random()));
    else std::memcpy(to, e % 3 == 0 ? "hot  gas" : "cold gas", 7);
}

/// Three ranks with uneven slabs of the fields. Rank 1 has no rows.
inline std::vector<std::byte> large_node_file(std::uint64_t id = 0xf3, std::int64_t step = 120) {
    const auto schema = large_schema();
    std::vector<format::RankPart> parts;
    const std::uint64_t planes[] = {21, 7, 32}, ranks[] = {0, 1, 2};
    for (std::uint64_t i = 0, z = 0; i < 3; z += planes[i++]) {
        format::RankPart part{static_cast<std::uint32_t>(ranks[i]),
                              std::vector<std::vector<Box>>(schema.variables.size()),
                              {large_rows[i], 0}};
        part.boxes[1] = part.boxes[2] = {{{z, 0, 0}, {planes[i], 50, 73}}};
        if (i == 0) part.boxes[3] = {{{5}, {299'990}}};
        parts.push_back(std::move(part));
    }
    auto layout = format::plan_layout(schema, parts, {}).value();
    std::vector<std::byte> image(layout.file_bytes);
    format::encode(layout, image);
    std::mt19937_64 random(7);
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        const auto size = schema.variables[v].type.size_bytes;
        for (std::uint64_t e = 0; e < layout.extents[v].used_bytes / size; ++e)
            store_large(schema.variables[v], e, random, image.data() + layout.extents[v].offset_bytes + e * size);
    }
    const auto words = format::crc_words(layout, image);
    for (const auto& block : layout.blocks)
        for (std::uint64_t at = 0, i = 0; at < block.size_bytes; at += limits::segment_bytes, ++i)
            words[block.first_segment + i] = crc32c(std::span(image).subspan(
                block.offset_bytes + at, std::min(limits::segment_bytes, block.size_bytes - at)));
    format::seal(layout,
                 {.snapshot_id = id,
                  .step = step,
                  .time = 2.5,
                  .sealed_unix_ns = 1'700'000'000'000'000'000,
                  .node = 0,
                  .nodes = 1,
                  .world_ranks = 3},
                 image);
    return image;
}

}  // namespace forebay::test
