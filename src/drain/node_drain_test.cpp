// Goal: a drain is not held up by what an earlier try left at the target.
// Method: a second name shows whether the file that was left is written over or removed.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <filesystem>

#include "drain/node_drain.hpp"
#include "support/small_run.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;

TEST_CASE("the remainder of an earlier try is replaced by a new file") {
    const test::TempDirectory dir;
    auto& store = sys::posix_store();
    const test::SmallSnapshot snapshot;
    const auto image = test::small_node_file(snapshot, 0);
    const auto path = test::part_directory(dir / "run", snapshot) + "/" + format::node_path(0, snapshot.nodes);
    REQUIRE(store.make_directories(test::part_directory(dir / "run", snapshot)));
    REQUIRE(sys::write_text_durable(store, dir / "torn", "half of it"));
    std::filesystem::create_hard_link(dir / "torn", path + ".tmp");

    const drain::NodeDrain drain{.store = &store, .run = dir / "run", .direct = false};
    drain::drain_node_file(drain, image, "the staged copy").value();

    CHECK(sys::read_text(store, dir / "torn", 100).value() == "half of it");
    CHECK_FALSE(store.exists(path + ".tmp").value());
    CHECK(drain::check_image(bytes_of(sys::read_text(store, path, image.size()).value()), path));
}
