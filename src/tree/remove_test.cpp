// Goal: a tree is removed whole, and nothing outside it, through links neither; a name that means nothing is refused.
// Method: trees with links that lead outside, on 1, 2 and 5 threads, and a depth of 2,000.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "support/temp_directory.hpp"
#include "tree/remove.hpp"

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
        tree::Remarks remarks;
        std::atomic<std::uint64_t> removed{0};
        REQUIRE(tree::remove_tree(directory / "tree", {.threads = threads, .is_dry = true}, remarks, removed));
        CHECK(removed == 0);
        CHECK(remarks.count_of(tree::RemarkKind::would_remove) == 1 + 50 * (2 + 21));
        REQUIRE(tree::remove_tree(directory / "tree/", {.threads = threads}, remarks, removed));
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
    tree::Remarks remarks;
    std::atomic<std::uint64_t> removed{0};
    REQUIRE(tree::remove_tree(directory / "d", {.threads = 2}, remarks, removed));
    CHECK(removed == 2'000);
}

TEST_CASE("remove: what is no directory by its own name is refused") {
    const test::TempDirectory directory;
    fs::create_directory(directory / "tree");
    fs::create_directory_symlink("tree", directory / "link");
    std::ofstream(directory / "file") << "stays";
    tree::Remarks remarks;
    std::atomic<std::uint64_t> removed{0};
    for (const auto& path : {directory / "link", directory / "file", std::string("/"), std::string("."),
                             directory / "tree/..", std::string("")}) {
        CAPTURE(path);
        const auto refused = tree::remove_tree(path, {}, remarks, removed);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::refused);
    }
    CHECK(tree::remove_tree(directory / "none", {}, remarks, removed).error().kind == ErrorKind::missing);
    CHECK(fs::exists(directory / "tree"));
}
