// Goal: the count equals the work of the verb. Nothing is reported before all is counted, and no count starts too soon.
// Method: counts a tree with two names of one inode, a list and patterns. Ends a count before it is done.

#include "transfer/walk/tree_count.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "support/temp_directory.hpp"
#include "transfer/walk/path_list.hpp"

using namespace forebay;
namespace fs = std::filesystem;
using std::chrono::milliseconds;

namespace {

void make_tree(const std::string& path) {
    for (int folder = 0; folder < 5; ++folder) {
        const auto below = path + "/" + std::to_string(folder);
        fs::create_directories(below);
        for (int file = 0; file < 20; ++file)
            std::ofstream(below + "/" + std::to_string(file)) << std::string(100, 'x');
        fs::create_symlink("nowhere", below + "/link");
    }
    fs::create_hard_link(path + "/0/0", path + "/again");
}

// Entries and bytes, once all is counted.
std::pair<std::uint64_t, std::uint64_t> counted(tree::TreeCount& count) {
    for (int turn = 0; turn < 2000 && count.all().entries == 0; ++turn) {
        count.beat();
        std::this_thread::sleep_for(milliseconds(5));
    }
    return {count.all().entries, count.all().bytes};
}

using Counted = std::pair<std::uint64_t, std::uint64_t>;

}  // namespace

TEST_CASE("tree count: what a mover has before it") {
    const test::TempDirectory directory("/dev/shm");
    make_tree(directory / "tree");
    const auto count = [&](tree::WalkOptions what, const std::atomic<std::uint64_t>* removed = nullptr) {
        tree::TreeCount counter(directory / "tree", std::move(what), removed, milliseconds(0));
        return counted(counter);
    };
    using tree::WalkLook;
    CHECK(count({.look = WalkLook::file_bytes}) == Counted(111, 10'000));
    CHECK(count({.look = WalkLook::file_bytes, .counts_each_name = true}) == Counted(111, 10'100));
    CHECK(count({.filter = {.include = {"1*"}, .exclude = {"3"}}, .look = WalkLook::file_bytes}) ==
          Counted(4 * 12, 4 * 1'100));
    CHECK(count({.look = WalkLook::nothing}) == Counted(111, 0));
    const auto wish = tree::path_list("1\n2/3\n2/link\nmissing\n", false).value();
    CHECK(count({.wished = wish.get(), .look = WalkLook::file_bytes}) == Counted(25, 2'100));
    const std::atomic<std::uint64_t> removed{7};  // with the root, which is removed too
    CHECK(count({.look = WalkLook::nothing}, &removed) == Counted(119, 0));
}

TEST_CASE("tree count: not at once, and ended with its mover") {
    const test::TempDirectory directory("/dev/shm");
    make_tree(directory / "tree");
    tree::TreeCount late(directory / "tree", {}, nullptr, std::chrono::hours(1));
    late.beat();
    std::this_thread::sleep_for(milliseconds(20));
    CHECK(late.all().entries == 0);
    tree::TreeCount none(directory / "none", {}, nullptr, milliseconds(0));
    none.beat();
    std::this_thread::sleep_for(milliseconds(20));
    CHECK(none.all().entries == 0);
    tree::TreeCount ended("/", {}, nullptr, milliseconds(0));
    ended.beat();
}
