// Goal: a walk counts every entry once by its kind, and the bytes of an inode once, on any number of threads.
// Method: walks a tree with known numbers, and a directory with more names than a batch.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "support/temp_directory.hpp"
#include "transfer/walk/walk.hpp"

using namespace forebay;
namespace fs = std::filesystem;

TEST_CASE("walk: every entry once") {
    const test::TempDirectory directory("/dev/shm");
    fs::create_directories(directory / "a/b/c");
    for (int i = 0; i < 1'000; ++i) std::ofstream(directory / ("a/" + std::to_string(i))) << "ten bytes.";
    fs::create_hard_link(directory / "a/1", directory / "a/b/again");
    fs::create_symlink("a", directory / "link");
    fs::resize_file(directory / "a/2", 1 << 20);
    for (const std::uint32_t threads : {1u, 2u, 3u, 5u, 17u}) {
        CAPTURE(threads);
        tree::EntryLog entry_log;
        tree::WalkCounts counts;
        std::set<std::string> paths;
        std::size_t taken = 0;
        tree::WalkOptions options{.threads = threads};
        options.take = [&](std::span<const tree::WalkedEntry> entries) -> Result<> {
            for (const auto& entry : entries) paths.insert(entry.path);
            taken += entries.size();
            return {};
        };
        REQUIRE(tree::walk_tree(directory.path(), options, entry_log, counts));
        const auto of = [&](sys::EntryKind kind) { return counts.of_kind[static_cast<std::size_t>(kind)].load(); };
        CHECK(of(sys::EntryKind::file) == 1'001);
        CHECK(of(sys::EntryKind::folder) == 4);
        CHECK(of(sys::EntryKind::link) == 1);
        CHECK(counts.bytes == 999 * 10 + (1 << 20) + 1);  // 1 byte is the text of the symbolic link
        CHECK(counts.further_names == 1);
        CHECK(counts.with_holes == 1);
        CHECK(counts.largest_bytes == 1 << 20);
        CHECK(counts.deepest == 3);
        CHECK(taken == 1'005);
        CHECK(paths.size() == 1'005);
        CHECK(paths.contains("a/b/again"));
    }
}
