// Goal: a tree is removed whole, and nothing outside it, also through links. A meaningless name is refused.
// Method: removes trees with links to the outside on 1, 2 and 5 threads, and a tree of depth 2,000. Directories and
// their parents are moved out of the tree during the removal, or removed by another process.

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "support/temp_directory.hpp"
#include "transfer/remove/remove.hpp"

using namespace forebay;
namespace fs = std::filesystem;

TEST_CASE("remove: all of a tree, and no more") {
    for (const std::uint32_t threads : {1u, 2u, 5u}) {
        CAPTURE(threads);
        const test::TempDirectory directory("/dev/shm");
        fs::create_directories(directory / "outside");
        std::ofstream(directory / "outside/file") << "stays";
        for (int i = 0; i < 50; ++i) {
            const auto path = directory / ("tree/" + std::to_string(i) + "/below");
            fs::create_directories(path);
            for (int j = 0; j < 20; ++j) std::ofstream(path + "/" + std::to_string(j)) << "goes";
            fs::create_directory_symlink(directory / "outside", path + "/link");
        }
        tree::EntryLog entry_log;
        std::atomic<std::uint64_t> removed{0};
        REQUIRE(tree::remove_tree(directory / "tree", {.threads = threads, .is_dry = true}, entry_log, removed));
        CHECK(removed == 0);
        CHECK(entry_log.count_of(tree::EntryEvent::would_remove) == 1 + 50 * (2 + 21));
        REQUIRE(tree::remove_tree(directory / "tree/", {.threads = threads}, entry_log, removed));
        CHECK(removed == 1 + 50 * (2 + 21));
        CHECK_FALSE(fs::exists(directory / "tree"));
        CHECK(fs::exists(directory / "outside/file"));
    }
}

TEST_CASE("remove: a deep tree") {
    const test::TempDirectory directory("/dev/shm");
    tree::FolderRef at = sys::open_posix_folder(directory.path()).value();
    for (int depth = 0; depth < 2'000; ++depth) {
        REQUIRE(at->make_folder("d", 0700));
        at = at->open_folder("d").value();
    }
    at.reset();
    tree::EntryLog entry_log;
    std::atomic<std::uint64_t> removed{0};
    REQUIRE(tree::remove_tree(directory / "d", {.threads = 2}, entry_log, removed));
    CHECK(removed == 2'000);
}

namespace {

void make_files(const std::string& folder, int count) {
    fs::create_directories(folder);
    for (int i = 0; i < count; ++i) std::ofstream(folder + "/" + std::to_string(i)) << "a file";
}

// `change` runs after `after` removals and lasts longer than a directory's place stays unchecked.
std::vector<tree::LogEntry> remove_while(const std::string& path, int after, const std::function<void()>& change) {
    int removals = 0;
    tree::EntryLog entry_log(
        [&](const tree::LogEntry& log_entry) {
            if (log_entry.kind != tree::EntryEvent::removed || ++removals != after) return Result<>();
            change();
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            return Result<>();
        },
        tree::Recorded::losses);
    std::atomic<std::uint64_t> removed{0};
    REQUIRE(tree::remove_tree(path, {}, entry_log, removed));
    return entry_log.first();
}

auto count_in(const std::string& folder) {
    return std::distance(fs::recursive_directory_iterator(folder), fs::recursive_directory_iterator());
}

}  // namespace

TEST_CASE("remove: a folder that is moved out of the tree is emptied no further") {
    const test::TempDirectory directory("/dev/shm");
    make_files(directory / "tree/above/moved", 1'000);
    const auto entry_log =
        remove_while(directory / "tree", 100, [&] { fs::rename(directory / "tree/above/moved", directory / "kept"); });
    REQUIRE(entry_log.size() == 1);
    CHECK(entry_log[0].kind == tree::EntryEvent::failed);
    CHECK(entry_log[0].path == "tree/above/moved");
    CHECK(count_in(directory / "kept") == 1'000 - 256);
}

TEST_CASE("remove: what lies in a folder that is moved out of the tree stays") {
    const test::TempDirectory directory("/dev/shm");
    for (int i = 0; i < 10; ++i) make_files(directory / ("tree/moved/" + std::to_string(i)), 20);
    const auto entry_log =
        remove_while(directory / "tree", 5, [&] { fs::rename(directory / "tree/moved", directory / "kept"); });
    REQUIRE(entry_log.size() == 1);
    CHECK(entry_log[0].path == "tree/moved");
    CHECK(count_in(directory / "kept") == 10 * 21 - 20);  // the directory being emptied is empty
}

TEST_CASE("remove: what somebody else removes meanwhile is no error") {
    const test::TempDirectory directory("/dev/shm");
    make_files(directory / "tree/above/folder", 1'000);
    CHECK(remove_while(directory / "tree", 100, [&] { fs::remove_all(directory / "tree/above"); }).empty());
    CHECK_FALSE(fs::exists(directory / "tree"));
}

TEST_CASE("remove: what is no directory by its own name is refused") {
    const test::TempDirectory directory;
    fs::create_directory(directory / "tree");
    fs::create_directory_symlink("tree", directory / "link");
    std::ofstream(directory / "file") << "stays";
    tree::EntryLog entry_log;
    std::atomic<std::uint64_t> removed{0};
    for (const auto& path : {directory / "link", directory / "file", std::string("/"), std::string("."),
                             directory / "tree/..", std::string("")}) {
        CAPTURE(path);
        const auto refused = tree::remove_tree(path, {}, entry_log, removed);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::refused);
    }
    CHECK(tree::remove_tree(directory / "none", {}, entry_log, removed).error().kind == ErrorKind::missing);
    CHECK(fs::exists(directory / "tree"));
}
