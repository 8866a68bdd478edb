// Goal: every difference between two trees is reported, and nothing else.
// Method: a tree and its copy; each case changes one thing.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_directory.hpp"
#include "transfer/compare/compare.hpp"

using namespace forebay;
using tree::EntryEvent;
namespace fs = std::filesystem;

namespace {

constexpr sys::FileTime before{1'000, 5};

void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
    sys::open_posix_folder(fs::path(path).parent_path())
        .value()
        ->open_entry(fs::path(path).filename())
        .value()
        ->set_times(before, before)
        .value();
}

void set_folder_times(const std::string& path) {
    sys::open_posix_folder(path).value()->set_times(before, before).value();
}

void make(const std::string& path) {
    fs::create_directories(path + "/d");
    write(path + "/a", "bytes");
    write(path + "/d/b", std::string(1 << 20, 'b'));
    fs::create_hard_link(path + "/a", path + "/d/a2");
    fs::create_symlink("a", path + "/l");
    const auto folder = sys::open_posix_folder(path).value();
    folder->open_entry("l").value()->set_times(before, before).value();
    set_folder_times(path + "/d");
    set_folder_times(path);
}

std::string compared(const test::TempDirectory& directory, const tree::CompareOptions& options = {.threads = 2}) {
    tree::EntryLog entry_log;
    tree::CompareCounts counts;
    set_folder_times(directory / "one");
    set_folder_times(directory / "other");
    set_folder_times(directory / "other/d");
    REQUIRE(tree::compare_trees(directory / "one", directory / "other", options, entry_log, counts));
    std::string text;
    for (const auto& log_entry : entry_log.first())
        text += std::string(tree::name_of(log_entry.kind)) + " " + log_entry.path + ": " + log_entry.why + "\n";
    return text;
}

}  // namespace

TEST_CASE("compare: one change is one remark") {
    const test::TempDirectory directory("/dev/shm");
    make(directory / "one");
    make(directory / "other");
    CHECK(compared(directory) == "");
    SUBCASE("bytes") {
        write(directory / "other/d/b", std::string((1 << 20) - 1, 'b') + "c");
        CHECK(compared(directory) == "differs d/b: bytes from 1048575 on\n");
        CHECK(compared(directory, {.threads = 1, .reads_bytes = false}) == "");
    }
    SUBCASE("size") {
        write(directory / "other/d/b", "b");
        CHECK(compared(directory) == "differs d/b: 1048576 bytes and 1\n");
        CHECK(compared(directory, {.threads = 1, .reads_bytes = false}) == "differs d/b: 1048576 bytes and 1\n");
    }
    SUBCASE("a hole where the other has zeros is no difference") {
        write(directory / "one/d/b", std::string(1 << 20, '\0'));
        fs::resize_file(directory / "other/d/b", 0);
        fs::resize_file(directory / "other/d/b", 1 << 20);
        const auto file = sys::open_posix_folder(directory / "other/d").value()->open_entry("b").value();
        file->set_times(before, before).value();
        CHECK(compared(directory) == "");
    }
    SUBCASE("time, and that alone") {
        const auto file = sys::open_posix_folder(directory / "other").value()->open_entry("l").value();
        file->set_times(before, {1'000, 6}).value();
        CHECK(compared(directory) == "differs l: modified at 1000.000000005 and 1000.000000006\n");
        tree::CompareOptions options{.threads = 1};
        options.preserve.times = false;
        CHECK(compared(directory, options) == "");
    }
    SUBCASE("permissions of a folder") {
        fs::permissions(directory / "other/d", fs::perms::owner_all);
        CHECK(compared(directory).starts_with("differs d: mode 07"));
    }
    SUBCASE("names of an inode") {
        fs::remove(directory / "other/d/a2");
        write(directory / "other/d/a2", "bytes");
        CHECK(compared(directory).find("its hard links differ") != std::string::npos);
    }
    SUBCASE("text of a link") {
        fs::remove(directory / "other/l");
        fs::create_symlink("b", directory / "other/l");
        CHECK(compared(directory) == "differs l: the links lead to different places\n");
    }
    SUBCASE("kind") {
        fs::remove(directory / "other/a");
        fs::create_directory(directory / "other/a");
        CHECK(compared(directory).find("differs a: the kinds differ\n") != std::string::npos);
    }
    SUBCASE("names that one has alone") {
        write(directory / "one/more", "");
        fs::create_directories(directory / "other/d/folder/below");
        CHECK(compared(directory).find("only_source more: \n") != std::string::npos);
        CHECK(compared(directory).find("only_target d/folder: \n") != std::string::npos);
        CHECK(compared(directory).find("below") == std::string::npos);
    }
}

TEST_CASE("compare: an inode of two names is read once, and told of by each") {
    const test::TempDirectory directory("/dev/shm");
    make(directory / "one");
    make(directory / "other");
    SUBCASE("bytes of an inode of two names: each name is told") {
        write(directory / "other/a", "bytez");
        CHECK(compared(directory, {.threads = 1}) == "differs a: bytes from 4 on\ndiffers d/a2: bytes from 4 on\n");
    }
    SUBCASE("bytes of a name that stands for another inode") {
        fs::remove(directory / "other/d/a2");
        write(directory / "other/d/a2", "bytez");
        CHECK(compared(directory, {.threads = 1}).find("differs d/a2: bytes from 4 on\n") != std::string::npos);
    }
    SUBCASE("bytes of all names count, though an inode is read once") {
        tree::EntryLog entry_log;
        tree::CompareCounts counts;
        REQUIRE(tree::compare_trees(directory / "one", directory / "other", {.threads = 1}, entry_log, counts));
        CHECK(counts.bytes == (1 << 20) + 5 + 5);
    }
}
