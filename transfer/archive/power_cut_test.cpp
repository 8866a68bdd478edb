// Goal: at any power cut during a restore, each final name at the target is complete. The same restore again ends with
// the archived tree and no temporary names. With --no-sync nothing waits for syncs.
// Method: restores archives of forebay and of GNU tar, the latter with a repeated entry, to a simulated disk. Cuts the
// power before every operation (support/cut_trees.hpp). Batches of names are so small that there are several.

#include <doctest/doctest.h>

#include <cstdlib>

#include "support/cut_trees.hpp"
#include "support/temp_directory.hpp"
#include "transfer/archive/make.hpp"
#include "transfer/archive/restore.hpp"

using namespace forebay;

namespace {

struct OpenArchive {
    std::unique_ptr<sys::OpenFile> file;
    std::uint64_t bytes = 0;
};

OpenArchive open(const test::TempDirectory& directory) {
    OpenArchive archive;
    archive.file = sys::open_posix_folder(directory.path()).value()->open_file("a.tar").value();
    archive.bytes = archive.file->status().value().bytes;
    return archive;
}

test::CutCopy restore(OpenArchive& archive, test::SimTree& to, std::optional<std::uint64_t> cut_before = {},
                      bool syncs = true) {
    tree::EntryLog entry_log;
    tree::CopyCounts counts;
    const tree::TreeCopyOptions options{.threads = 1, .syncs = syncs, .naming = {.entries = 3}};
    const archive::RestoreEnds ends{.archive = *archive.file,
                                    .archive_bytes = archive.bytes,
                                    .target = to.folder("tree"),
                                    .temporary_prefix = ".fb-12345678-"};
    if (cut_before) to.crash_before(*cut_before);
    test::CutCopy ended;
    ended.copied = archive::restore_open_archive(ends, options, {}, entry_log, counts);
    ended.failed = entry_log.count_of(tree::EntryEvent::failed);
    ended.has_errors = entry_log.has_errors();
    return ended;
}

std::unique_ptr<sys::Folder> make_source(const test::TempDirectory& directory) {
    const auto above = sys::open_posix_folder(directory.path()).value();
    above->make_folder("source", 0755).value();
    auto source = above->open_folder("source").value();
    test::make_small_tree(*source);
    return source;
}

void archive_source(const test::TempDirectory& directory) {
    tree::EntryLog entry_log;
    tree::CopyCounts counts;
    REQUIRE(archive::make_archive(directory / "source", directory / "a.tar", true, {.threads = 1}, entry_log, counts));
    CHECK_FALSE(entry_log.has_errors());
}

void cut_everywhere(const test::TempDirectory& directory, sys::Folder& source, test::SimTree& before) {
    auto archive = open(directory);
    test::cut_everywhere(source, before, [&](test::SimTree& to, std::optional<std::uint64_t> cut_before) {
        return restore(archive, to, cut_before);
    });
}

}  // namespace

TEST_CASE("power cut: before every operation of a restore to a new folder") {
    const test::TempDirectory directory;
    const auto source = make_source(directory);
    archive_source(directory);
    test::SimTree target;
    cut_everywhere(directory, *source, target);
}

TEST_CASE("power cut: before every operation of a restore over older files") {
    const test::TempDirectory directory;
    const auto source = make_source(directory);
    archive_source(directory);
    test::SimTree target;
    const auto older = target.folder("tree");
    older->make_folder("below", 0755).value();
    test::write_file(*older, "file0", 700, 'a');
    test::write_file(*older, "file1", 70, 'z');
    test::write_file(*older->open_folder("below").value(), "last", 10, 'z');
    cut_everywhere(directory, *source, target);
}

TEST_CASE("power cut: before every operation of a restore of an archive in which entries come again") {
    const test::TempDirectory directory;
    const auto source = make_source(directory);
    const auto tar = "cd " + directory.path() +
                     " && tar --format=posix -C source -cf a.tar . && "
                     "tar --format=posix -C source -rf a.tar ./file0 ./below/last ./file0 .";
    REQUIRE(std::system(tar.c_str()) == 0);
    test::SimTree target;
    cut_everywhere(directory, *source, target);
}

TEST_CASE("power cut: a restore waits for as many syncs as a copy, or for none") {
    const test::TempDirectory directory;
    const auto source = make_source(directory);
    archive_source(directory);
    auto archive = open(directory);
    test::SimTree target;
    const auto ended = restore(archive, target);
    CHECK(ended.copied);
    // The mark; nine names in three batches; before the mark is removed, and at the end.
    CHECK(target.syncs() == 1 + 3 + 2);
    test::SimTree other;
    CHECK(restore(archive, other, {}, false).copied);
    CHECK(other.syncs() == 0);
    test::check_equal(*source, *other.folder("tree"));
    test::SimTree failing;
    failing.folder("tree");
    failing.fail_syncs();
    const auto failed = restore(archive, failing);
    CHECK_FALSE(failed.copied);  // nothing was begun
}
