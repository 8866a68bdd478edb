// One snapshot of fields and particles, cut into any number of ranks and nodes. The node files always hold the same
// global data. For tests of results that must not depend on the cut.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/format/node_file.hpp"

namespace forebay::test {

struct CutFields {
    static constexpr std::uint64_t planes = 24, rows = 10, columns = 12;
    static constexpr std::uint64_t particles = 3000;
    static constexpr std::uint64_t id = 0xc0ffee;
    static constexpr std::int64_t step = 120;
    static constexpr double length = 8;

    std::uint32_t ranks = 1, nodes = 1;  // at most `rows` ranks
    int axis = 0;                        // the dimension along which fields are cut
    std::uint32_t seed = 1;

    static Schema schema() {
        Schema schema;
        schema.stream = "fields";
        schema.tables = {"gas"};
        const Extents shape{planes, rows, columns};
        const auto array = [&](const char* name, Type type, const char* unit) {
            schema.variables.push_back({name, type, Kind::array, shape, 0, Coverage::full, {.unit = unit}});
        };
        schema.variables.push_back({"dt", f64, Kind::replicated, {}, 0, Coverage::full, {.unit = "s"}});
        array("t", f32, "K");
        array("u", f64, "m s-1");
        array("n", i32, "");
        for (const char* name : {"gas/x", "gas/y", "gas/z", "gas/vx", "gas/vy", "gas/vz", "gas/m"})
            schema.variables.push_back({name, f32, Kind::particles, {}, 0, Coverage::full, {.unit = "Mpc"}});
        return schema;
    }

    /// The global data of a variable, row-major.
    template <class T>
    std::vector<T> values(const std::string& name) const {
        std::mt19937_64 random(seed + 7919 * std::hash<std::string>{}(name) % 1000);
        const bool of_particle = name.starts_with("gas/");
        std::vector<T> all(of_particle ? particles : planes * rows * columns);
        for (auto& value : all) {
            const auto uniform = static_cast<double>(random() >> 11) * 0x1p-53;
            if (!of_particle)
                value = static_cast<T>(std::is_integral_v<T> ? uniform * 1000 : std::exp(8 * uniform) - 30);
            // Half of the particles lie in clumps.
            else if (name.size() == 5 && name != "gas/m")
                value =
                    static_cast<T>((random() & 1) != 0 ? uniform * length : std::fmod(2.7 + 0.02 * uniform, length));
            else value = static_cast<T>(uniform + 0.5);
        }
        return all;
    }

    /// A sealed node file.
    std::vector<std::byte> node_file(std::uint32_t node) const {
        const auto layout = format::plan_layout(schema(), parts_of(node), {}).value();
        std::vector<std::byte> image(layout.file_bytes);
        format::encode(layout, image);
        for (const auto& block : layout.blocks) fill(layout, block, std::span(image).subspan(block.offset_bytes));
        const auto words = format::crc_words(layout, image);
        for (const auto& block : layout.blocks)
            for (std::uint64_t i = 0; i < format::segments_of(block.size_bytes); ++i) {
                const auto skip = i * limits::segment_bytes;
                const auto bytes = std::min(limits::segment_bytes, block.size_bytes - skip);
                words[block.first_segment + i] = crc32c(std::span(image).subspan(block.offset_bytes + skip, bytes));
            }
        format::seal(layout,
                     {.snapshot_id = id,
                      .step = step,
                      .time = 3.5,
                      .sealed_unix_ns = 1'700'000'000'000'000'000,
                      .node = node,
                      .nodes = nodes,
                      .world_ranks = ranks},
                     image);
        return image;
    }

private:
    std::uint64_t begin_of(std::uint32_t rank, std::uint64_t all) const { return all * rank / ranks; }

    std::vector<format::RankPart> parts_of(std::uint32_t node) const {
        std::vector<format::RankPart> parts;
        const auto variables = schema().variables.size();
        for (auto rank = node * ranks / nodes; rank < (node + 1) * ranks / nodes; ++rank) {
            Box box{{0, 0, 0}, {planes, rows, columns}};
            const auto all = box.size[axis];
            box.lo[axis] = begin_of(rank, all);
            box.size[axis] = begin_of(rank + 1, all) - box.lo[axis];
            format::RankPart part{rank, {}, {begin_of(rank + 1, particles) - begin_of(rank, particles)}};
            part.boxes.resize(variables);
            for (std::size_t v = 1; v < 4; ++v) part.boxes[v] = {box};
            parts.push_back(std::move(part));
        }
        return parts;
    }

    void fill(const format::Layout& layout, const format::Block& block, std::span<std::byte> to) const {
        const auto& variable = layout.schema.variables[block.variable];
        if (variable.type == f32) fill_as<float>(variable, block, to);
        else if (variable.type == f64) fill_as<double>(variable, block, to);
        else fill_as<std::int32_t>(variable, block, to);
    }

    template <class T>
    void fill_as(const Variable& variable, const format::Block& block, std::span<std::byte> to) const {
        std::vector<T> own;
        if (variable.kind == Kind::replicated) {
            own = {T(1)};
        } else {
            const auto all = values<T>(variable.name);
            if (variable.kind == Kind::particles) {
                own.assign(all.begin() + static_cast<std::ptrdiff_t>(begin_of(block.rank, particles)),
                           all.begin() + static_cast<std::ptrdiff_t>(begin_of(block.rank + 1, particles)));
            } else {
                for (std::uint64_t z = 0; z < block.box.size[0]; ++z)
                    for (std::uint64_t y = 0; y < block.box.size[1]; ++y)
                        for (std::uint64_t x = 0; x < block.box.size[2]; ++x)
                            own.push_back(all[((block.box.lo[0] + z) * rows + block.box.lo[1] + y) * columns +
                                              block.box.lo[2] + x]);
            }
        }
        std::memcpy(to.data(), own.data(), own.size() * sizeof(T));
    }
};

}  // namespace forebay::test
