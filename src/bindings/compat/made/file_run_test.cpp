// Goal: a run of an older version beside a GenericIO file is finished by this version. It is left alone while a process
// of that version uses it.
// Method: runs made by hand with the older names, whole and cut off at each mark; locks that this test holds.

#include <doctest/doctest.h>

#include <filesystem>

#include "bindings/compat/made/file_run.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/store.hpp"
#include "path/node/run_lock.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;

namespace {

namespace fs = std::filesystem;

struct OldRun {
    test::TempDirectory folder;
    made::FileRun run{folder / "m000"};

    explicit OldRun(std::initializer_list<const char*> marks) {
        fs::create_directory(run.path());
        for (const auto* mark : marks) REQUIRE(sys::create_private(old(mark), mark).value());
    }
    std::string old(const char* mark) const { return run.path() + "/.genericio-" + mark; }
};

}  // namespace

TEST_CASE("marks of an older version get today's names, also where a process was killed while it renamed them") {
    for (const auto& marks : {std::initializer_list<const char*>{"writer", "maker", "failed", "log"},
                              {"writer", "maker", "failed"},
                              {"writer", "failed"}}) {
        const OldRun place(marks);
        CHECK(place.run.is_unfinished().value());
        REQUIRE(place.run.rename_old_marks());
        CHECK(sys::read_text(sys::posix_store(), place.run.failed_path(), 64).value() == "failed");
        CHECK(fs::exists(place.run.finish_log()) == (marks.size() == 4));
        for (const auto* mark : {"writer", "maker", "failed", "log", "made"}) CHECK_FALSE(fs::exists(place.old(mark)));
        CHECK_FALSE(place.run.has_writer());
        REQUIRE(place.run.rename_old_marks());
        CHECK(place.run.is_unfinished().value());
    }
}

TEST_CASE("a file that an older version made is made") {
    const OldRun place({"writer", "maker", "made"});
    CHECK_FALSE(place.run.is_made().value());  // the file does not exist
    REQUIRE(sys::create_private(place.run.file(), "").value());
    CHECK(place.run.is_made().value());
    CHECK_FALSE(place.run.is_unfinished().value());
    REQUIRE(place.run.rename_old_marks());
    CHECK(fs::exists(place.run.made_path()));
    CHECK_FALSE(place.run.is_unfinished().value());
}

TEST_CASE("while a process of an older version writes or makes the file, its run stays as it is") {
    for (const auto* lock : {"writer", "maker"}) {
        const OldRun place({"writer", "maker", "failed"});
        const auto held = node::RunLock::take(place.old(lock)).value();
        const auto renamed = place.run.rename_old_marks();
        REQUIRE_FALSE(renamed);
        CHECK(renamed.error().kind == ErrorKind::retry);
        CHECK(renamed.error().text().find("older forebay") != std::string::npos);
        CHECK(renamed.error().text().find(lock == std::string("writer") ? "written" : "made") != std::string::npos);
        for (const auto* mark : {"writer", "maker", "failed"}) CHECK(fs::exists(place.old(mark)));
    }
}

TEST_CASE("a run without old names, or none, is no error") {
    const OldRun place({});
    REQUIRE(place.run.rename_old_marks());
    CHECK(place.run.is_unfinished().value());
    const made::FileRun none(place.folder / "none");
    REQUIRE(none.rename_old_marks());
    CHECK_FALSE(none.is_unfinished().value());
    CHECK_FALSE(none.exists().value());
}
