// Goal: one process makes a file at a time, its outcome is where the writer looks for it, and the run is deleted only
// when nobody needs it.
// Method: makers in this process, since their locks also hold within a process; a writer is its lock.

#include <doctest/doctest.h>

#include <filesystem>

#include "bindings/compat/made/file_maker.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;

namespace {

namespace fs = std::filesystem;

struct Beside {
    test::TempDirectory folder;
    made::FileRun run{folder / "file"};
    sys::Store& store = sys::posix_store();

    Beside() { fs::create_directory(run.path()); }
    made::FileMaker begin() { return made::FileMaker::begin(store, run, false).value(); }
    std::string failed() const { return sys::read_text(store, run.failed_path(), 1024).value(); }
};

const Error disk_full{ErrorKind::full, "the disk is full", "the run", "make room"};

}  // namespace

TEST_CASE("a second maker is turned away while the first lives") {
    Beside place;
    {
        const auto maker = place.begin();
        CHECK(place.run.has_maker());
        const auto second = made::FileMaker::begin(place.store, place.run, false);
        REQUIRE_FALSE(second);
        CHECK(second.error().kind == ErrorKind::retry);
        CHECK(second.error().text().find("being made by another process") != std::string::npos);
        CHECK(second.error().text().find(place.run.finish_log()) != std::string::npos);
    }
    CHECK_FALSE(place.run.has_maker());
    fs::remove_all(place.run.path());
    CHECK(made::FileMaker::begin(place.store, place.run, false).error().kind == ErrorKind::missing);
}

TEST_CASE("a failure is written down and stays until the next maker begins") {
    Beside place;
    CHECK(place.begin().end(disk_full, false).error().kind == ErrorKind::full);
    CHECK(place.failed() == disk_full.text());
    CHECK_FALSE(place.run.is_made().value());
    {
        const auto again = place.begin();
        CHECK_FALSE(fs::exists(place.run.failed_path()));
    }
    CHECK(fs::exists(place.run.path()));
}

TEST_CASE("a failure that cannot be written down is told with the reason") {
    Beside place;
    auto maker = place.begin();
    fs::remove_all(place.run.path());
    const auto ended = maker.end(disk_full, false);
    CHECK(ended.error().kind == ErrorKind::full);
    CHECK(ended.error().what.find("the disk is full (") == 0);
    CHECK(ended.error().what.find("failed") != std::string::npos);
}

TEST_CASE("after success the run goes, unless it is to be kept or its writer lives") {
    Beside place;
    REQUIRE(sys::write_text_durable(place.store, place.run.file(), "data"));
    {
        auto maker = place.begin();
        REQUIRE(maker.end({}, true));
        CHECK(place.run.is_made().value());
    }
    {
        const auto writer = node::RunLock::take(place.run.writer_lock()).value();
        REQUIRE(place.begin().end({}, false));
        CHECK(place.run.is_made().value());
    }
    REQUIRE(place.begin().end({}, false));
    CHECK_FALSE(fs::exists(place.run.path()));
    CHECK_FALSE(fs::exists(place.run.gone_path()));
}

TEST_CASE("success that cannot be written down is a failure") {
    Beside place;
    auto maker = place.begin();
    fs::remove_all(place.run.path());
    const auto ended = maker.end({}, false);
    REQUIRE_FALSE(ended);
    CHECK_FALSE(place.run.is_made().value());
}
