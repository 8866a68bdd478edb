// Goal: extra entries of the target go if the source's directory is unchanged. They stay if something left that
// directory since its copy: it may be in another directory that was compared before.
// Method: makes a copy, moves a file out of or into the source, and runs only the removal. With times and without.

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/temp_directory.hpp"
#include "transfer/copy/last_copy.hpp"
#include "transfer/remove/extra.hpp"

using namespace forebay;
namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds some_ticks{40};  // of the clock for ctimes

struct Trees {
    explicit Trees(bool times) {
        for (const auto* folder : {"s", "s/a", "s/z"}) fs::create_directory(directory / folder);
        for (const auto* file : {"s/a/x", "s/z/f", "s/z/y"}) std::ofstream(directory / file) << file;
        options.preserve.times = times;
        copy();
        std::ofstream(directory / "t/a/extra") << "not in the source";
        std::this_thread::sleep_for(some_ticks);
        settled = tree::settled_time(*sys::open_posix_folder(directory / "s").value()).value();
        std::this_thread::sleep_for(some_ticks);
    }

    void copy() {
        tree::EntryLog entry_log;
        tree::CopyCounts counts;
        REQUIRE(tree::copy_tree(directory / "s", directory / "t", options, entry_log, counts));
    }
    tree::FolderRef open(const char* name) const { return sys::open_posix_folder(directory / name).value(); }
    std::vector<tree::LogEntry> remove() {
        tree::EntryLog entry_log;
        tree::CopyCounts counts;
        REQUIRE(tree::remove_extra(open("s"), open("t"), {{}, settled}, options, entry_log, counts));
        return entry_log.first();
    }
    bool has(const char* path) const { return fs::exists(directory / path); }

    test::TempDirectory directory;
    tree::TreeCopyOptions options;
    sys::FileTime settled;
};

}  // namespace

TEST_CASE("extra: what left the source's folder since it was copied stays") {
    for (const bool times : {true, false}) {
        CAPTURE(times);
        Trees trees(times);
        fs::remove(trees.directory / "s/z/f");
        const auto entry_log = trees.remove();
        REQUIRE(entry_log.size() == 1);
        CHECK(entry_log[0].kind == tree::EntryEvent::changed);
        CHECK(entry_log[0].path == "z");
        CHECK(trees.has("t/z/f"));
        CHECK_FALSE(trees.has("t/a/extra"));  // that directory is unchanged
        trees.copy();
        std::this_thread::sleep_for(some_ticks);
        trees.settled = tree::settled_time(*trees.open("s")).value();
        CHECK(trees.remove().empty());
        CHECK_FALSE(trees.has("t/z/f"));
    }
}

TEST_CASE("extra: what left the source's folder right before the copy began goes, and right after it stays") {
    for (const bool is_before : {true, false})
        for (int turn = 0; turn < 10; ++turn) {
            CAPTURE(is_before);
            Trees trees(false);
            if (is_before) fs::remove(trees.directory / "s/z/f");
            trees.settled = tree::settled_time(*trees.open("s")).value();
            if (!is_before) fs::remove(trees.directory / "s/z/f");
            CHECK(trees.remove().empty() == is_before);
            CHECK(trees.has("t/z/f") != is_before);
        }
}

// As rsync -a, cp -p and touch -r leave them.
TEST_CASE("extra: what left the source's folder stays where the folder's times were put back, too") {
    for (const bool comes_back : {false, true}) {
        CAPTURE(comes_back);
        Trees trees(true);
        const auto put_back = [&](const char* name, auto&& change) {
            const auto time = fs::last_write_time(trees.directory / name);
            change();
            fs::last_write_time(trees.directory / name, time);
        };
        put_back("s/a", [&] {
            put_back("s/z", [&] {
                if (comes_back) fs::rename(trees.directory / "s/z/f", trees.directory / "s/a/f");
                else fs::remove(trees.directory / "s/z/f");
            });
        });
        const auto entry_log = trees.remove();
        REQUIRE_FALSE(entry_log.empty());
        for (const auto& log_entry : entry_log) CHECK(log_entry.kind == tree::EntryEvent::changed);
        CHECK(trees.has("t/z/f"));
        CHECK(trees.has("t/a/extra"));  // somebody set the times of that directory, too
    }
}

TEST_CASE("extra: nothing goes where something came into the source since it was copied") {
    for (const bool times : {true, false}) {
        CAPTURE(times);
        Trees trees(times);
        fs::rename(trees.directory / "s/z/f", trees.directory / "s/a/f");
        const auto entry_log = trees.remove();
        REQUIRE(entry_log.size() == 1);
        CHECK(entry_log[0].path == "a/f");
        CHECK(trees.has("t/z/f"));
        CHECK(trees.has("t/a/extra"));
    }
}
