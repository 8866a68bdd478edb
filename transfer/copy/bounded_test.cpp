// Goal: verbs give the same results if their tables hold almost nothing in memory. They leave no files behind.
// Method: uses trees with names of one inode in many directories, directories of many names, and directories in the
// place of source files, on 1 and 3 threads. All tables hold 0 to 2 entries. TMPDIR is a directory of the test and
// stays empty.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/temp_directory.hpp"
#include "transfer/compare/compare.hpp"
#include "transfer/copy/copy.hpp"
#include "transfer/walk/walk.hpp"

using namespace forebay;
using tree::EntryEvent;
namespace fs = std::filesystem;

namespace {

constexpr tree::TableLimits tiny{.inodes = 1, .inode_bytes = 0, .place_bytes = 0, .name_bytes = 140, .deferred = 1};
constexpr int folders = 12, files = 130;  // more inodes than two pages of a table hold

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// Each file has a name in four directories.
void make_tree(const std::string& path, int count = files) {
    for (int folder = 0; folder < folders; ++folder)
        fs::create_directories(path + "/f" + std::to_string(folder) + "/deep/er");
    for (int folder = 0; folder < folders; ++folder)
        for (int file = 0; file < count; ++file) {
            const auto at = path + "/f" + std::to_string(folder) + "/deep/er/name" + std::to_string(file);
            if (folder % 4 == 0) write(at, "file " + std::to_string(folder) + " " + std::to_string(file));
            else
                fs::create_hard_link(
                    path + "/f" + std::to_string(folder / 4 * 4) + "/deep/er/name" + std::to_string(file), at);
        }
}

struct Outcome {
    tree::EntryLog entry_log;
    tree::CopyCounts counts;
    Result<> copied;
};

std::unique_ptr<Outcome> sync_trees(const std::string& source, const std::string& target, std::uint32_t threads) {
    auto outcome = std::make_unique<Outcome>();
    outcome->copied = tree::copy_tree(source, target, {.threads = threads, .removes_extra = true, .tables = tiny},
                                      outcome->entry_log, outcome->counts);
    return outcome;
}

// Two names of one inode in f9 must be two inodes. Whichever name is met later is reported.
std::vector<std::string> differences(const std::string& first, const std::string& other,
                                     const tree::TableLimits& tables, std::uint32_t threads) {
    tree::EntryLog entry_log;
    tree::CompareCounts counts;
    REQUIRE(tree::compare_trees(first, other, {.threads = threads, .tables = tables}, entry_log, counts));
    std::vector<std::string> lines;
    for (const auto& log_entry : entry_log.first())
        lines.push_back(log_entry.path.starts_with("f9/deep/er/") ||
                                log_entry.why.find("hard links") != log_entry.why.npos
                            ? "the two names"
                            : std::string(tree::name_of(log_entry.kind)) + " " + log_entry.path);
    std::ranges::sort(lines);
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    return lines;
}

}  // namespace

TEST_CASE("bounded: walks, copies, syncs and comparisons with tiny tables") {
    const test::TempDirectory spills("/dev/shm");
    ::setenv("TMPDIR", spills.path().c_str(), 1);
    for (const std::uint32_t threads : {1u, 3u}) {
        CAPTURE(threads);
        const test::TempDirectory directory("/dev/shm");
        const auto source = directory / "source", target = directory / "target";
        make_tree(source);
        {
            tree::EntryLog entry_log;
            tree::WalkCounts counts;
            REQUIRE(tree::walk_tree(source, {.threads = threads, .tables = tiny}, entry_log, counts));
            CHECK(counts.further_names == folders / 4 * 3 * files);
        }
        auto done = sync_trees(source, target, threads);
        REQUIRE(done->copied);
        CHECK_FALSE(done->entry_log.has_errors());
        CHECK(done->counts.linked == folders / 4 * 3 * files);
        CHECK(differences(source, target, {}, threads).empty());
        CHECK(differences(source, target, tiny, threads).empty());
        // Extra entries, missing entries, other links, and directories in the place of three files.
        for (int i = 0; i < 5; ++i) write(target + "/f0/deep/extra" + std::to_string(i), "extra");
        for (int i = 0; i < 5; ++i) write(target + "/f1/deep/er/extra" + std::to_string(i), "extra");
        fs::create_directories(target + "/f7/extra/below");
        fs::create_directories(target + "/f3/deep/er/extra/below");
        for (int i = 0; i < 4; ++i) fs::remove(target + "/f2/deep/er/name" + std::to_string(i));
        for (int i = 0; i < 3; ++i) {
            const auto name = target + "/f" + std::to_string(4 + i) + "/deep/er/name8";
            fs::remove(name);
            fs::create_directories(name + "/below");
        }
        fs::remove(target + "/f9/deep/er/name1");
        fs::create_hard_link(target + "/f9/deep/er/name2", target + "/f9/deep/er/name1");
        const auto known = differences(source, target, {}, threads);
        CHECK(known.size() > 17);
        CHECK(differences(source, target, tiny, threads) == known);
        done = sync_trees(source, target, threads);
        REQUIRE(done->copied);
        CHECK_FALSE(done->entry_log.has_errors());
        CHECK(differences(source, target, {}, threads).empty());
        done = sync_trees(source, target, threads);
        REQUIRE(done->copied);
        CHECK(done->counts.copied + done->counts.linked + done->counts.adjusted + done->counts.removed == 0);
    }
    CHECK(fs::is_empty(spills.path()));
}

TEST_CASE("bounded: a copy that cannot spill ends, says why, and goes on with room") {
    const test::TempDirectory directory("/dev/shm");
    const auto source = directory / "source", target = directory / "target";
    make_tree(source, 400);  // a walk forgets an inode after its last name; the inodes of one directory fill two pages
    ::setenv("TMPDIR", (directory / "not there").c_str(), 1);
    auto done = sync_trees(source, target, 2);
    REQUIRE_FALSE(done->copied);
    CHECK(done->copied.error().kind == ErrorKind::full);
    CHECK(done->copied.error().next.find("TMPDIR") != std::string::npos);
    CHECK(done->copied.error().safe == "every file with its final name is whole");
    ::setenv("TMPDIR", directory.path().c_str(), 1);
    done = sync_trees(source, target, 2);
    REQUIRE(done->copied);
    CHECK(differences(source, target, {}, 2).empty());
    tree::EntryLog entry_log;
    tree::CompareCounts counts;
    ::setenv("TMPDIR", (directory / "not there").c_str(), 1);
    const auto compared = tree::compare_trees(source, target, {.threads = 2, .tables = tiny}, entry_log, counts);
    REQUIRE_FALSE(compared);
    CHECK(compared.error().kind == ErrorKind::full);
    tree::WalkCounts walked;
    CHECK_FALSE(tree::walk_tree(source, {.threads = 2, .tables = tiny}, entry_log, walked));
}
