// Small snapshots on the simulated disk, and exports of them to "out.h5".

#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "insight/views/export.hpp"
#include "support/sim_store.hpp"
#include "support/view_sample.hpp"

namespace forebay::test::exports {

inline const outline::Wish plain{};

constexpr std::uint64_t mib = 1u << 20;

/// Windows of 1 MiB, so that a few megabytes need several windows.
inline views::ExportOptions small_windows() {
    return {.alignment_bytes = 65536, .memory_bytes = 13 * mib, .threads = 1, .journal_bytes = mib};
}

/// A snapshot with every type and kind. "lists/large" has 3 MB.
inline catalog::Snapshot make(test::SimStore& disk, const std::vector<std::uint32_t>& ranks_of_node = {3, 1, 4},
                              std::uint32_t nodes_per_file = 1) {
    auto sample = test::spread(test::view_schema(), ranks_of_node);
    sample.nodes_per_file = nodes_per_file;
    const auto snapshot = test::write_sample(disk, "run", sample).value();
    disk.settle();
    return snapshot;
}

/// A snapshot with two columns of 1.2 MB on two nodes.
inline catalog::Snapshot make_columns(test::SimStore& disk) {
    Schema schema{.stream = "fields", .tables = {"p"}, .variables = {}};
    schema.variables = {test::column_of("p/x", f64, 0), test::column_of("p/id", i64, 0), test::value_of("a", f64)};
    test::ViewSample sample{schema, {1, 2}, {}, {}};
    sample.boxes.assign(3, std::vector<std::vector<Box>>(3));
    sample.rows = {{100'000}, {7}, {50'000}};
    const auto snapshot = test::write_sample(disk, "run", sample).value();
    disk.settle();
    return snapshot;
}

inline std::string exported(test::SimStore& disk, const catalog::Snapshot& snapshot,
                            const views::ExportOptions& options) {
    const auto done = views::export_file(disk, {snapshot}, plain, "out.h5", options);
    REQUIRE_MESSAGE(done, done.error().text());
    const auto bytes = disk.peek("out.h5");
    REQUIRE(bytes);
    REQUIRE(bytes->size() == done->file_bytes);
    return *bytes;
}

inline std::vector<std::string> outputs(const test::SimStore& disk) {
    auto paths = disk.paths();
    std::erase_if(paths, [](const std::string& path) { return path.starts_with("run"); });
    return paths;
}

}  // namespace forebay::test::exports
