// forebay bench plan: the cost of planning at the size of a machine, without its data: a node file's head, and the
// manifest of all nodes with one rank's restart plan. Runs on rank 0; other ranks sleep.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "bench/bench.hpp"
#include "bench/report.hpp"
#include "bench/spread.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/format/manifest.hpp"
#include "core/format/node_file.hpp"
#include "core/sys/clock.hpp"
#include "path/restart/plan.hpp"

namespace forebay::bench {

namespace {

constexpr std::uint64_t rows_of_rank = 1'000'000;
constexpr std::uint64_t edge = 64;  // of a rank's box
constexpr double goal_us = 50;

double us_since(sys::Clock::time_point start) {
    return std::chrono::duration<double, std::micro>(sys::Clock::now() - start).count();
}

/// Resident memory of this process in bytes.
double resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t all = 0, resident = 0;
    statm >> all >> resident;
    return static_cast<double>(resident * limits::page_bytes);
}

// Half the variables are columns of one table, half are 3-D arrays of one global shape, one box for each rank.
Schema schema_of(int variables, std::uint64_t world_ranks) {
    Schema schema{.stream = "restart", .tables = {"particles"}, .variables = {}};
    for (int v = 0; v < variables; ++v) {
        if (v % 2 == 0)
            schema.variables.push_back(
                {.name = fmt::format("particles/c{:04}", v), .type = f32, .kind = Kind::particles, .attributes = {}});
        else
            schema.variables.push_back({.name = fmt::format("fields/a{:04}", v),
                                        .type = f32,
                                        .kind = Kind::array,
                                        .shape = {world_ranks * edge, edge, edge},
                                        .attributes = {}});
    }
    return schema;
}

Box box_of(std::uint64_t rank) { return {.lo = {rank * edge, 0, 0}, .size = {edge, edge, edge}}; }

struct Samples {
    std::vector<double> layout, encode, change, patch, seal, manifest_encode, manifest_decode, restart_plan;
    double head_bytes = 0, layout_bytes = 0, manifest_bytes = 0, manifest_memory_bytes = 0;
};

Result<> measure_node(const BenchOptions& options, const Schema& schema, Samples& samples) {
    const auto ranks = static_cast<std::size_t>(options.ranks_per_node);
    std::vector<format::RankPart> parts;
    for (std::size_t i = 0; i < ranks; ++i) {
        format::RankPart part{.rank = static_cast<std::uint32_t>(i), .boxes = {}, .rows = {rows_of_rank}};
        for (const auto& variable : schema.variables)
            part.boxes.push_back(variable.kind == Kind::array ? std::vector<Box>{box_of(i)} : std::vector<Box>());
        parts.push_back(std::move(part));
    }
    for (int turn = 0; turn <= options.repeats; ++turn) {
        const auto before = resident_bytes();
        auto start = sys::Clock::now();
        FB_TRY_ASSIGN(layout, format::plan_layout(schema, parts, {}));
        const auto layout_us = us_since(start);
        if (turn == 0) samples.layout_bytes = resident_bytes() - before;
        std::vector<std::byte> image(layout.data_offset_bytes);
        samples.head_bytes = static_cast<double>(image.size());
        start = sys::Clock::now();
        format::encode(layout, image);
        const auto encode_us = us_since(start);
        std::vector<std::uint64_t> rows(ranks, rows_of_rank + static_cast<std::uint64_t>(turn) + 1);
        start = sys::Clock::now();
        FB_TRY(format::change_rows(layout, rows));
        const auto change_us = us_since(start);
        start = sys::Clock::now();
        format::patch_rows(layout, image);
        const auto patch_us = us_since(start);
        start = sys::Clock::now();
        format::seal(layout, {.snapshot_id = 1, .nodes = 1, .world_ranks = static_cast<std::uint32_t>(ranks)}, image);
        const auto seal_us = us_since(start);
        if (turn == 0) continue;
        samples.layout.push_back(layout_us);
        samples.encode.push_back(encode_us);
        samples.change.push_back(change_us);
        samples.patch.push_back(patch_us);
        samples.seal.push_back(seal_us);
    }
    return {};
}

format::Manifest manifest_of(const BenchOptions& options, const Schema& schema) {
    const auto nodes = static_cast<std::uint32_t>(options.nodes),
               ranks = static_cast<std::uint32_t>(options.ranks_per_node);
    format::Manifest manifest{.snapshot_id = 1,
                              .step = 1,
                              .world_ranks = nodes * ranks,
                              .schema = schema,
                              .shapes = format::distinct_shapes(schema),
                              .nodes = {}};
    for (std::uint32_t node = 0; node < nodes; ++node) {
        auto bounds = box_of(std::uint64_t{node} * ranks);
        bounds.size[0] = edge * ranks;
        manifest.nodes.push_back({.node = node,
                                  .path = format::node_path(node, nodes),
                                  .file_bytes = 1u << 30,
                                  .data_bytes = 1u << 29,
                                  .record_crc32c = node,
                                  .ranks = {{node * ranks, ranks}},
                                  .rows = {rows_of_rank * ranks},
                                  .bounds = std::vector<std::optional<Box>>(manifest.shapes.size(), bounds)});
    }
    return manifest;
}

Result<> measure_world(const BenchOptions& options, const Schema& schema, Samples& samples) {
    const auto manifest = manifest_of(options, schema);
    describe::Binding binding;
    binding.data.resize(schema.variables.size());
    binding.pieces.resize(schema.variables.size());
    binding.tables.push_back({});
    // The last of half as many ranks: its box and rows are at another place than when they were saved.
    const auto ranks = std::max(1u, manifest.world_ranks / 2);
    float none = 0;  // only an address; nothing is read
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        if (schema.variables[v].kind == Kind::array) binding.pieces[v] = {packed(box_of(ranks - 1), &none)};
        else binding.tables[0].variables.push_back(static_cast<std::uint32_t>(v));
    }
    binding.tables[0].rows = rows_of_rank * 2;
    for (int turn = 0; turn <= options.repeats; ++turn) {
        auto start = sys::Clock::now();
        const auto text = format::encode_manifest(manifest);
        const auto encode_us = us_since(start);
        samples.manifest_bytes = static_cast<double>(text.size());
        const auto before = resident_bytes();
        start = sys::Clock::now();
        FB_TRY_ASSIGN(decoded, format::decode_manifest(text, "manifest.json"));
        const auto decode_us = us_since(start);
        if (turn == 0) samples.manifest_memory_bytes = resident_bytes() - before;
        start = sys::Clock::now();
        FB_TRY_ASSIGN(plan, restart::Plan::make(schema, decoded, ranks - 1, ranks, 0));
        const auto needed = plan.files_needed(binding);
        const auto plan_us = us_since(start);
        if (needed.size() != manifest.nodes.size())
            return Error{ErrorKind::broken, "the restart plan has lost node files."};
        if (turn == 0) continue;
        samples.manifest_encode.push_back(encode_us);
        samples.manifest_decode.push_back(decode_us);
        samples.restart_plan.push_back(plan_us);
    }
    return {};
}

void report(const BenchOptions& options, const Samples& samples) {
    BenchReport report("plan");
    report.setting("variables", static_cast<std::uint64_t>(options.variables));
    report.setting("ranks_per_node", static_cast<std::uint64_t>(options.ranks_per_node));
    report.setting("nodes", static_cast<std::uint64_t>(options.nodes));
    report.numbers("plan_layout_us", "plan a layout", "us", samples.layout);
    report.numbers("encode_us", "encode the head", "us", samples.encode);
    report.numbers("change_rows_us", "change row counts", "us", samples.change);
    report.numbers("patch_rows_us", "patch them in the head", "us", samples.patch);
    report.numbers("seal_us", "seal", "us", samples.seal);
    report.numbers("head_bytes", "a node file's head", "bytes", {samples.head_bytes});
    report.numbers("layout_bytes", "a layout in memory", "bytes", {samples.layout_bytes});
    report.numbers("manifest_encode_us", "encode the manifest of all nodes", "us", samples.manifest_encode);
    report.numbers("manifest_decode_us", "decode it", "us", samples.manifest_decode);
    report.numbers("manifest_bytes", "the manifest", "bytes", {samples.manifest_bytes});
    report.numbers("manifest_memory_bytes", "the manifest in memory", "bytes", {samples.manifest_memory_bytes});
    report.numbers("restart_plan_us", "one rank's restart plan", "us", samples.restart_plan);
    const auto each =
        spread_of(samples.change).median + spread_of(samples.patch).median + spread_of(samples.seal).median;
    report.ratio(fmt::format("{:.0f} us / what every save needs: change, patch and seal", goal_us), goal_us / each, 1);
    report.print(options.json);
}

}  // namespace

Result<> bench_plan(Ranks& ranks, const BenchOptions& options) {
    Result<> own_result;
    if (options.variables < 1 || options.ranks_per_node < 1 || options.nodes < 1)
        return Error{ErrorKind::refused, "--variables, --ranks-per-node and --nodes must be 1 or more."};
    if (ranks.rank() == 0) {
        const auto world =
            static_cast<std::uint64_t>(options.nodes) * static_cast<std::uint64_t>(options.ranks_per_node);
        const auto schema = schema_of(options.variables, world);
        Samples samples;
        own_result = measure_node(options, schema, samples);
        if (own_result) own_result = measure_world(options, schema, samples);
        if (own_result) report(options, samples);
    }
    ranks.rest();
    return ranks.agree(own_result);
}

}  // namespace forebay::bench
