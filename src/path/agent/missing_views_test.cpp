// Goal: recover makes the views that a killed agent did not make, and no view that nobody requested.

#include "path/agent/missing_views.hpp"

#include <doctest/doctest.h>

#include "support/committed_run.hpp"
#include "support/marked_view.hpp"
#include "support/sim_store.hpp"

using namespace forebay;

namespace {

const std::string run = "run7";

test::SmallSnapshot at_step(const std::string& stream, std::int64_t step) {
    return {.id = static_cast<std::uint64_t>(step), .step = step, .stream = stream};
}

std::string view_of(const test::SmallSnapshot& snapshot) { return test::step_directory(run, snapshot) + ".h5"; }

Result<> make(sys::Store& store, const catalog::Snapshot& snapshot, Convention convention) {
    if (snapshot.step == 13) return Error{ErrorKind::unsupported, "too many node files"};
    const auto stream = snapshot.directory.substr(0, snapshot.directory.rfind('/') + 1);
    return sys::write_text_durable(store, stream + catalog::view_name(snapshot.step, convention), test::marked_view());
}

}  // namespace

TEST_CASE("views: of what recover committed, and of each snapshot beside one that has a view") {
    test::SimStore disk;
    const auto with = at_step("fields", 10), without = at_step("fields", 11), refused = at_step("fields", 13);
    const auto never = at_step("plain", 10), left = at_step("restart", 12);
    for (const auto& snapshot : {with, without, refused, never}) REQUIRE(test::commit_all(disk, run, snapshot));
    REQUIRE(sys::write_text_durable(disk, view_of(with), test::marked_view()));
    REQUIRE(test::drain_all(disk, run, left));
    const auto recovered = commit::recover(disk, run, false).value();
    const auto owed = agent::make_missing_views(disk, run, recovered, make).value();
    REQUIRE(owed.size() == 3);
    CHECK(owed[0].snapshot.step == 13);
    CHECK_FALSE(owed[0].outcome);
    CHECK(disk.exists(view_of(without)).value());
    CHECK(disk.exists(view_of(left)).value());
    CHECK_FALSE(disk.exists(view_of(never)).value());
    CHECK(agent::make_missing_views(disk, run, {}, make).value().size() == 1);  // a failed view is tried once more
}

TEST_CASE("views: of each convention that a snapshot of the stream has, and of no other") {
    test::SimStore disk;
    const auto first = at_step("fields", 10), second = at_step("fields", 11);
    for (const auto& snapshot : {first, second}) REQUIRE(test::commit_all(disk, run, snapshot));
    REQUIRE(sys::write_text_durable(disk, run + "/fields/step-000010.nc", test::marked_view()));
    REQUIRE(sys::write_text_durable(disk, run + "/fields/step-000011.openpmd.h5", test::marked_view()));
    const auto owed = agent::make_missing_views(disk, run, {}, make).value();
    REQUIRE(owed.size() == 2);
    CHECK(owed[0].convention == Convention::openpmd);
    CHECK(owed[0].snapshot.step == 10);
    CHECK(disk.exists(run + "/fields/step-000011.nc").value());
    CHECK_FALSE(disk.exists(view_of(first)).value());
}
