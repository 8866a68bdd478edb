// Goal: an export continues only its own files, removes no file that may belong to another program, and never renames a
// file taken by another export. Method: leftovers of other exports and of crashes, put on the simulated disk by hand.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "support/crashes.hpp"
#include "support/export_sample.hpp"

using namespace forebay;
using namespace forebay::test::exports;
using test::SimStore;

TEST_CASE("a journal without its part, as after a crash of the end, never vouches for a new part") {
    SimStore clean;
    const auto snapshot = make_columns(clean);
    const auto part = views::Export::plan(clean, {snapshot}, plain, "out.h5", small_windows()).value().part_path();
    const auto start = clean.clone();
    const auto expected = exported(clean, snapshot, small_windows());
    const auto id = part.substr(part.find(".part-") + 6);
    const auto text = fmt::format("forebay export journal 1\nidentity {}\ndurable {}\n", id, expected.size());
    REQUIRE(sys::write_text_durable(*start, part + ".journal", text));
    start->settle();
    REQUIRE(bool(exported(*start->clone(), snapshot, small_windows()) == expected));
    const auto export_once = [&](SimStore& disk) {
        return views::export_file(disk, {snapshot}, plain, "out.h5", small_windows()).has_value();
    };
    test::crash_at_each(*start, test::torn_reboots(8), export_once, [&](SimStore& disk, bool) {
        auto options = small_windows();
        options.replace = true;
        REQUIRE(bool(exported(disk, snapshot, options) == expected));
    });
}

TEST_CASE("only names that an export gives are removed beside it") {
    SimStore disk;
    const auto snapshot = make(disk, {1});
    const std::vector<std::string> kept{"out.h5.part-0123456789abcde",
                                        "out.h5.part-0123456789abcdef0",
                                        "out.h5.part-0123456789ABCDEF",
                                        "out.h5.part-0123456789abcdef.journal-x",
                                        "out.h5.part-aa",
                                        "out.h5.part-0123456789abcdef.journal-1-of-"};
    const std::vector<std::string> removed{"out.h5.part-0123456789abcdef.journal",
                                           "out.h5.part-0123456789abcdef.journal-1-of-8",
                                           ".out.h5.part-0123456789abcdef.journal.7-0123456789abcdef.tmp"};
    for (const auto* names : {&kept, &removed})
        for (const auto& name : *names) REQUIRE(disk.open(name, sys::Access::create));
    static_cast<void>(exported(disk, snapshot, small_windows()));
    auto left = outputs(disk);
    std::erase(left, "out.h5");
    auto expected = kept;
    std::ranges::sort(expected);
    CHECK(left == expected);
}

TEST_CASE("a part that vanishes or is cut while it is copied is said, and nothing gets the name") {
    SimStore disk;
    const auto snapshot = make(disk);
    auto plan = views::Export::plan(disk, {snapshot}, plain, "out.h5", small_windows()).value();
    REQUIRE(plan.begin());
    const auto message_of = [&](const Result<>& result) {
        REQUIRE_FALSE(result);
        CHECK(result.error().kind == ErrorKind::retry);
        CHECK(result.error().text().find("Another export") != std::string::npos);
        CHECK_FALSE(disk.peek("out.h5"));
    };
    SUBCASE("before it is copied") {
        REQUIRE(disk.remove(plan.part_path()));
        message_of(plan.copy());
        CHECK(outputs(disk).empty());
    }
    SUBCASE("before it has its name") {
        REQUIRE(plan.copy());
        REQUIRE(disk.remove(plan.part_path()));
        message_of(plan.finish());
    }
    SUBCASE("begun anew before it has its name") {
        REQUIRE(plan.copy());
        REQUIRE(disk.open(plan.part_path(), sys::Access::create));
        message_of(plan.finish());
    }
}

TEST_CASE("a directory is not replaced, and is refused before anything is copied") {
    SimStore disk;
    const auto snapshot = make(disk);
    auto options = small_windows();
    options.replace = true;
    auto plan = views::Export::plan(disk, {snapshot}, plain, "out.h5", options).value();
    REQUIRE(plan.begin());
    REQUIRE(plan.copy());
    REQUIRE(disk.make_directories("out.h5"));
    const auto late = plan.finish();
    REQUIRE_FALSE(late);
    CHECK(late.error().text().find("the copied data stay in out.h5.part-") != std::string::npos);
    const auto early = views::Export::plan(disk, {snapshot}, plain, "out.h5", options);
    REQUIRE_FALSE(early);
    CHECK(early.error().kind == ErrorKind::refused);
    CHECK(early.error().text().find("is a directory") != std::string::npos);
}
