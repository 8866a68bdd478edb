// Goal: a save that replaces another leaves files with the names of its views that are no views, and reports them to
// the caller. A save of a new step leaves series. Method: files with names of views on the simulated disk.

#include <doctest/doctest.h>

#include "path/catalog/names.hpp"
#include "path/commit/publish.hpp"
#include "support/committed_run.hpp"
#include "support/marked_view.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using test::marked_view;
using test::SimStore;
using test::SmallSnapshot;

namespace {

const std::string run = "run7";
const std::string stream = "run7/restart";
const std::string view = stream + "/step-000010.h5", other = stream + "/step-000010.nc";
const std::string series = stream + "/series.h5part", other_series = stream + "/series.nc";
const SmallSnapshot first{.id = 1, .step = 10};
const SmallSnapshot second{.id = 2, .step = 10, .sealed_unix_ns = first.sealed_unix_ns + 1};

void leave_files(sys::Store& store) {
    for (const auto& path : {view, series}) REQUIRE(sys::write_text_durable(store, path, marked_view()));
    for (const auto& path : {other, other_series}) REQUIRE(sys::write_text_durable(store, path, "somebody's"));
}

void check_left(sys::Store& store, bool views) {
    for (const auto& path : {view, series}) CHECK(store.exists(path).value() == views);
    for (const auto& path : {other, other_series}) CHECK(store.exists(path).value());
}

}  // namespace

TEST_CASE("a replacement leaves what is no view, and names it") {
    SimStore disk;
    REQUIRE(test::commit_all(disk, run, first));
    leave_files(disk);
    REQUIRE(test::drain_all(disk, run, second));
    std::vector<std::string> others;
    REQUIRE(commit::commit_if_complete(disk, test::key_of(run, second), 0, nullptr, &others));
    CHECK(others == std::vector<std::string>{other, other_series});
    CHECK(test::is_whole(disk, run, second));
    check_left(disk, false);
}

TEST_CASE("a save of a new step leaves series, and has nothing to say") {
    SimStore disk;
    REQUIRE(test::commit_all(disk, run, first));
    leave_files(disk);
    const SmallSnapshot next{.id = 3, .step = 20};
    REQUIRE(test::drain_all(disk, run, next));
    std::vector<std::string> others{"not yet cleared"};
    REQUIRE(commit::commit_if_complete(disk, test::key_of(run, next), 0, nullptr, &others));
    CHECK(others.empty());
    check_left(disk, true);
}

TEST_CASE("recover says what stays") {
    SimStore disk;
    REQUIRE(test::commit_all(disk, run, first));
    leave_files(disk);
    REQUIRE(test::drain_all(disk, run, second));
    const auto recovered = commit::recover(disk, run, false).value();
    REQUIRE(recovered.size() == 1);
    CHECK(recovered[0].outcome == commit::Recovered::Outcome::committed);
    CHECK(recovered[0].text.find(other + " stays") != std::string::npos);
    CHECK(recovered[0].text.find(view) == std::string::npos);
    check_left(disk, false);
}
