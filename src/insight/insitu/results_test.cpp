// Goal: results are ordinary snapshots and name their source. Results of a later save of the step replace them. A
// picture appears whole or not at all. Method: the simulated disk.

#include "insight/insitu/results.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "path/catalog/block_reader.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/history.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using insitu::AnalysisResults;
using insitu::SeenSnapshot;
using test::SimStore;

namespace {

const SeenSnapshot source{"fields", {120, 3.5}, 0xf3, 1};

AnalysisResults results_of(double value) {
    AnalysisResults results;
    results.analysis.name = "means";
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    results.variables.push_back({"t/mean", f64, {}, {.unit = "K"}, bytes});
    return results;
}

double mean_at(SimStore& disk) {
    const std::string directory = "run/fields.means/step-000120";
    const auto manifest = catalog::load_manifest(disk, directory).value();
    CHECK(manifest.time == 3.5);
    CHECK(manifest.schema.variables.front().attributes.unit == "K");
    const auto node = catalog::BlockReader::open(disk, directory, manifest.nodes.front()).value();
    const auto bytes = node.value(0).value();
    double value = 0;
    REQUIRE(bytes.size() == sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

}  // namespace

TEST_CASE("results are committed with step, time and source, and a later save's take their place") {
    SimStore disk;
    REQUIRE(disk.make_directories("run"));
    CHECK(!insitu::has_results(disk, "run", source, results_of(0).analysis).value());
    REQUIRE(insitu::write_results(disk, "run", source, results_of(1.5)));
    CHECK(mean_at(disk) == 1.5);
    CHECK(insitu::has_results(disk, "run", source, results_of(0).analysis).value());
    auto later = source;
    later.snapshot_id = 0xf4;
    CHECK(!insitu::has_results(disk, "run", later, results_of(0).analysis).value());
    REQUIRE(insitu::write_results(disk, "run", later, results_of(2.5)));
    CHECK(mean_at(disk) == 2.5);
    CHECK(insitu::has_results(disk, "run", later, results_of(0).analysis).value());
}

TEST_CASE("results that are made again replace the results of the same snapshot") {
    SimStore disk;
    REQUIRE(disk.make_directories("run/forebay"));
    sys::write_text_durable(disk, "run/forebay/run-00000000000000f3.json", "{}").value();
    auto numbered = source;
    numbered.lineage = {0xf3, 4, {{{1, 0}, -1}}};
    for (int again = 0; again < 20; ++again) {
        const auto written = insitu::write_results(disk, "run", numbered, results_of(again));
        REQUIRE(written.has_value());
        CHECK(mean_at(disk) == again);
    }
}

TEST_CASE("results of a line that does not count hide none of another line, as their source") {
    SimStore disk;
    for (const auto* directory : {"run/forebay", "run/fields"}) REQUIRE(disk.make_directories(directory));
    sys::write_text_durable(disk, "run/forebay/run-00000000000000f3.json", "{}").value();
    const auto write = [&](std::int64_t step, const format::LineStart& start) {
        auto changed = source;
        changed.moment.step = step;
        changed.snapshot_id = static_cast<std::uint64_t>(step);
        changed.lineage = {0xf3, 1, {start}};
        insitu::write_results(disk, "run", changed, results_of(1.5)).value();
    };
    write(120, {{1, 0}, -1});
    write(110, {{2, 0}, 100});
    const auto living = [&] { return catalog::living_snapshots(disk, "run", "fields.means").value(); };
    REQUIRE(living().size() == 1);
    CHECK(living().front().step == 110);
    catalog::mark_dropped(disk, "run/fields", {2, 0}).value();
    REQUIRE(living().size() == 1);
    CHECK(living().front().step == 120);
}

TEST_CASE("a picture has its name when it is whole, and one that cannot be written leaves nothing") {
    SimStore disk;
    REQUIRE(disk.make_directories("spool"));
    const insitu::Picture picture{"gas/density", {std::byte{1}, std::byte{2}}};
    const auto name = insitu::picture_file(source, results_of(0), picture);
    CHECK(name == "fields.means.gas-density.step-000120.png");
    CHECK(insitu::picture_file(source, results_of(0), {"gas-density", {}}) != name);
    REQUIRE(insitu::write_picture(disk, "spool", name, picture));
    CHECK(disk.list("spool").value().size() == 1);
    CHECK(disk.exists("spool/" + name).value());
    CHECK(!insitu::write_picture(disk, "nowhere", name, picture));
}
