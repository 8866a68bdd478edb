// Goal: work on a tree of any depth needs few open directories. A directory that was replaced is detected.
// Method: enters a chain of 3,000 directories, comes back up, and counts the descriptors of this process. Renames a
// directory and makes another in its place. Frees a long chain of nodes.

#include <doctest/doctest.h>

#include <filesystem>
#include <iterator>

#include "support/temp_directory.hpp"
#include "transfer/walk/dir_node.hpp"

using namespace forebay;
using tree::TreeSide;

namespace {

std::size_t descriptors() {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

tree::DirNodeRef root_of(tree::OpenFolders& folders, const std::string& path) {
    auto root = std::make_shared<tree::DirNode>(nullptr, "");
    tree::FolderRef folder = sys::open_posix_folder(path).value();
    root->status(TreeSide::source) = folder->status().value();
    folders.keep(root, TreeSide::source, std::move(folder));
    return root;
}

tree::DirNodeRef entered(tree::OpenFolders& folders, const tree::DirNodeRef& above, const std::string& name) {
    auto dir_node = std::make_shared<tree::DirNode>(above, name);
    tree::FolderRef folder = folders.get(above, TreeSide::source).value()->open_folder(name).value();
    dir_node->status(TreeSide::source) = folder->status().value();
    folders.keep(dir_node, TreeSide::source, std::move(folder));
    return dir_node;
}

}  // namespace

TEST_CASE("branch: a chain of 3,000 folders needs few descriptors, down and up again") {
    const test::TempDirectory directory("/dev/shm");
    tree::OpenFolders folders;
    const auto before = descriptors();
    auto dir_node = root_of(folders, directory.path());
    for (int depth = 0; depth < 3'000; ++depth) {
        REQUIRE(folders.get(dir_node, TreeSide::source).value()->make_folder("d", 0700));
        dir_node = entered(folders, dir_node, "d");
    }
    CHECK(descriptors() - before <= 300);
    CHECK(tree::path_of(*dir_node).size() == 2 * 3'000 - 1);
    int looked_at = 0;
    while (dir_node->parent) {
        const auto above = dir_node->parent;
        const auto folder = folders.get(above, TreeSide::source);
        REQUIRE(folder);
        folders.close(*dir_node);
        REQUIRE((*folder)->remove_folder("d"));
        dir_node = above;
        ++looked_at;
        if (looked_at % 500 == 0) CHECK(descriptors() - before <= 300);
    }
    CHECK(looked_at == 3'000);
}

TEST_CASE("branch: a folder in whose place another one was put is refused") {
    const test::TempDirectory directory;
    std::filesystem::create_directories(directory / "a/b");
    tree::OpenFolders folders;
    const auto root = root_of(folders, directory.path());
    const auto dir_node = entered(folders, root, "a");
    folders.close(*dir_node);
    CHECK(folders.get(dir_node, TreeSide::source));
    folders.close(*dir_node);
    std::filesystem::rename(directory / "a", directory / "old");
    std::filesystem::create_directory(directory / "a");
    const auto swapped = folders.get(dir_node, TreeSide::source);
    REQUIRE_FALSE(swapped);
    CHECK(swapped.error().kind == ErrorKind::retry);
    std::filesystem::remove(directory / "a");
    std::filesystem::create_directory_symlink("old", directory / "a");
    CHECK_FALSE(folders.get(dir_node, TreeSide::source));
}

TEST_CASE("branch: a long chain of branches is freed without a deep stack") {
    auto dir_node = std::make_shared<tree::DirNode>(nullptr, "");
    for (int depth = 0; depth < 1'000'000; ++depth) dir_node = std::make_shared<tree::DirNode>(dir_node, "d");
    dir_node.reset();
    CHECK_FALSE(dir_node);
}
