// Goal: at any power cut, each final name at the target is complete. The same copy again ends with equal trees and no
// temporary names.
// Method: runs a new copy, and a copy over an older different copy with removals, on a simulated disk. Cuts the power
// before every operation (support/cut_trees.hpp). Batches of names are so small that there are several.

#include <doctest/doctest.h>

#include "support/cut_trees.hpp"
#include "transfer/copy/copy.hpp"

using namespace forebay;

namespace {

void make_source(sys::Folder& root) {
    test::make_small_tree(root);
    root.open_folder("below").value()->open_entry("last").value()->set_attribute("user.a", "value").value();
}

// An older copy: equal files, files of equal size with other bytes, another kind under a name, extra entries.
void make_older_target(sys::Folder& root) {
    root.make_folder("below", 0755).value();
    const auto below = root.open_folder("below").value();
    test::write_file(root, "file0", 700, 'a');
    test::write_file(root, "file1", 701, 'z');
    test::write_file(root, "file2", 70, 'z');
    root.make_folder("fifo", 0755).value();
    test::write_file(*root.open_folder("fifo").value(), "in the way", 5, 'i');
    below->make_link("last", "elsewhere").value();
    below->make_folder("gone", 0755).value();
    test::write_file(*below->open_folder("gone").value(), "extra", 30, 'e');
    test::write_file(*below, "other", 1500, 'b');
}

test::CutCopy copy(test::SimTree& from, test::SimTree& to, std::optional<std::uint64_t> cut_before = {}) {
    tree::EntryLog entry_log;
    tree::CopyCounts counts;
    const tree::TreeCopyOptions options{.threads = 1, .removes_extra = true, .naming = {.entries = 3}};
    const tree::CopyRoots roots{
        .source = from.folder("tree"), .target = to.folder("tree"), .temporary_prefix = ".fb-12345678-"};
    if (cut_before) to.crash_before(*cut_before);
    test::CutCopy ended;
    ended.copied = tree::copy_open_trees(roots, options, entry_log, counts);
    ended.failed = entry_log.count_of(tree::EntryEvent::failed);
    ended.has_errors = entry_log.has_errors();
    return ended;
}

void cut_everywhere(test::SimTree& source, test::SimTree& before) {
    test::cut_everywhere(
        *source.folder("tree"), before,
        [&](test::SimTree& to, std::optional<std::uint64_t> cut_before) { return copy(source, to, cut_before); });
}

}  // namespace

TEST_CASE("power cut: before every operation of a new copy") {
    test::SimTree source(2), target;
    make_source(*source.folder("tree"));
    cut_everywhere(source, target);
}

TEST_CASE("power cut: before every operation of a copy over an older one") {
    test::SimTree source(2), target;
    make_source(*source.folder("tree"));
    make_older_target(*target.folder("tree"));
    cut_everywhere(source, target);
}

TEST_CASE("power cut: after a sync that failed nothing of its batch gets a name") {
    test::SimTree source(2), target;
    make_source(*source.folder("tree"));
    target.folder("tree");
    target.fail_syncs();
    const auto ended = copy(source, target);
    CHECK_FALSE(ended.copied);
    CHECK(ended.failed == 11);  // all names except directories
    std::vector<std::string> names;
    const auto root = target.folder("tree");
    const auto left = test::names_of_folder(*root, names);
    REQUIRE(left.size() == 1);
    CHECK(left.front().name == "below");
    std::vector<std::string> names_below;
    CHECK(test::names_of_folder(*root->open_folder("below").value(), names_below).size() == 1);
}
