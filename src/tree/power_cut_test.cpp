// Goal: whenever the power is cut, what has its final name at the target is whole, and the same copy again ends with
// trees that are equal, without temporary names.
// Method: on a simulated disk, a new copy and one over an older copy that differs, with removals; the power is cut
// before every operation, and of what was not synced everything, nothing, or what coins say is left. Batches of names
// are so small that there are several. The worst case is among them: a name, size and time without bytes.

#include <doctest/doctest.h>

#include "support/sim_tree.hpp"
#include "tree/copy.hpp"

using namespace forebay;

namespace {

void write(sys::Folder& folder, const std::string& name, std::size_t bytes, char letter) {
    const auto file = folder.make_file(name, 0640).value();
    const std::string text(bytes, letter);
    file->write(0, std::as_bytes(std::span(text))).value();
    file->set_times({1, 0}, {bytes == 0 ? 7 : 1000 + letter, 9}).value();
}

std::string read(sys::Folder& folder, const std::string& name) {
    const auto file = folder.open_file(name).value();
    std::string text(file->status().value().bytes, ' ');
    file->read(0, std::as_writable_bytes(std::span(text))).value();
    return text;
}

// Seven files, two of them with further names, links and folders.
void make_source(sys::Folder& root) {
    root.make_folder("below", 0750).value();
    const auto below = root.open_folder("below").value();
    below->make_folder("empty", 0700).value();
    for (int i = 0; i < 4; ++i) write(root, "file" + std::to_string(i), 700 + static_cast<std::size_t>(i), 'a');
    write(root, "nothing", 0, 'n');
    write(*below, "other", 1500, 'b');
    write(*below, "last", 10, 'c');
    below->make_hard_link("again", root, "file1").value();
    root.make_hard_link("too", *below, "other").value();
    root.make_link("link", "below/nowhere").value();
    root.make_special("fifo", {.kind = sys::EntryKind::fifo}).value();
    below->open_entry("last").value()->set_attribute("user.a", "value").value();
}

// What an older copy may hold: equal files, others of one size, another kind under a name, more than the source has.
void make_older_target(sys::Folder& root) {
    root.make_folder("below", 0755).value();
    const auto below = root.open_folder("below").value();
    write(root, "file0", 700, 'a');
    write(root, "file1", 701, 'z');
    write(root, "file2", 70, 'z');
    root.make_folder("fifo", 0755).value();
    write(*root.open_folder("fifo").value(), "in the way", 5, 'i');
    below->make_link("last", "elsewhere").value();
    below->make_folder("gone", 0755).value();
    write(*below->open_folder("gone").value(), "extra", 30, 'e');
    write(*below, "other", 1500, 'b');
}

std::vector<sys::NamedEntry> listed(sys::Folder& folder, std::vector<std::string>& names) {
    std::vector<sys::NamedEntry> entries;
    folder
        .list([&](std::span<const sys::NamedEntry> portion) -> Result<> {
            names.reserve(portion.size());
            for (const auto& one : portion) {
                names.emplace_back(one.name);
                entries.push_back({names.back(), one.kind, one.number});
            }
            return {};
        })
        .value();
    return entries;
}

bool has(sys::Folder& folder, const std::string& name) { return folder.status_of(name).has_value(); }

// Each file of `target` has the bytes that it has in the source, or those that it had before.
void check_whole(sys::Folder& source, sys::Folder& target, sys::Folder* older) {
    std::vector<std::string> names;
    for (const auto& one : listed(target, names)) {
        const std::string name(one.name);
        CAPTURE(name);
        if (name.starts_with(".fb-")) continue;
        const bool was_there = older != nullptr && has(*older, name);
        if (one.kind == sys::EntryKind::folder) {
            const auto below = target.open_folder(name).value();
            const auto in_source = source.open_folder(name);
            const auto in_older = was_there ? older->open_folder(name) : Error{ErrorKind::missing};
            if (in_source) check_whole(**in_source, *below, in_older ? in_older->get() : nullptr);
            else CHECK(in_older.has_value());
        } else if (one.kind == sys::EntryKind::file) {
            const auto bytes = read(target, name);
            const bool is_new = has(source, name) && source.status_of(name)->kind == sys::EntryKind::file &&
                                read(source, name) == bytes;
            const bool is_old =
                was_there && older->status_of(name)->kind == sys::EntryKind::file && read(*older, name) == bytes;
            CHECK((is_new || is_old));
        }
    }
}

void check_equal(sys::Folder& one, sys::Folder& other) {
    std::vector<std::string> names, other_names;
    const auto entries = listed(one, names);
    listed(other, other_names);
    CHECK(names == other_names);
    if (names != other_names) return;
    for (const auto& entry : entries) {
        const std::string name(entry.name);
        CAPTURE(name);
        const auto status = one.status_of(name).value(), other_status = other.status_of(name).value();
        CHECK(status.kind == other_status.kind);
        CHECK(status.permissions == other_status.permissions);
        CHECK(status.modified == other_status.modified);
        CHECK(status.names == other_status.names);
        if (status.kind == sys::EntryKind::file) CHECK(read(one, name) == read(other, name));
        if (status.kind == sys::EntryKind::link) CHECK(one.link_text(name).value() == other.link_text(name).value());
        if (status.kind == sys::EntryKind::folder)
            check_equal(*one.open_folder(name).value(), *other.open_folder(name).value());
    }
}

struct Ended {
    std::uint64_t failed = 0;
    bool has_errors = false;
    Result<> copied;
};

Ended copy(test::SimTree& from, test::SimTree& to, std::optional<std::uint64_t> cut_before = {}) {
    tree::Remarks remarks;
    tree::CopyCounts counts;
    const tree::TreeCopyOptions options{.threads = 1, .removes_extra = true, .naming = {.entries = 3}};
    const tree::CopyRoots roots{
        .source = from.folder("tree"), .target = to.folder("tree"), .temporary_prefix = ".fb-12345678-"};
    if (cut_before) to.crash_before(*cut_before);
    Ended ended;
    ended.copied = tree::copy_open_trees(roots, options, remarks, counts);
    ended.failed = remarks.count_of(tree::RemarkKind::failed);
    ended.has_errors = remarks.has_errors();
    return ended;
}

void cut_everywhere(test::SimTree& source, test::SimTree& before) {
    before.folder("tree");
    before.disk().settle();
    test::SimTree whole(before);
    const auto undisturbed = copy(source, whole);
    REQUIRE(undisturbed.copied);
    CHECK_FALSE(undisturbed.has_errors);
    check_equal(*source.folder("tree"), *whole.folder("tree"));
    REQUIRE(whole.operations() > 50);
    std::mt19937_64 random(5);
    for (std::uint64_t operation = 0; operation < whole.operations(); ++operation)
        for (int survivors = 0; survivors < 8; ++survivors) {
            CAPTURE(operation);
            CAPTURE(survivors);
            test::SimTree cut(before);
            static_cast<void>(copy(source, cut, operation));
            test::SimTree left(cut);
            if (survivors < 4) left.disk().power_cut({.names = survivors % 2 == 1, .bytes = survivors / 2 == 1});
            else left.disk().power_cut(random);
            check_whole(*source.folder("tree"), *left.folder("tree"), before.folder("tree").get());
            const auto again = copy(source, left);
            REQUIRE(again.copied);
            CHECK_FALSE(again.has_errors);
            check_equal(*source.folder("tree"), *left.folder("tree"));
        }
}

}  // namespace

TEST_CASE("power cut: before every operation of a new copy") {
    test::SimTree source, target;
    make_source(*source.folder("tree"));
    cut_everywhere(source, target);
}

TEST_CASE("power cut: before every operation of a copy over an older one") {
    test::SimTree source, target;
    make_source(*source.folder("tree"));
    make_older_target(*target.folder("tree"));
    cut_everywhere(source, target);
}

TEST_CASE("power cut: after a sync that failed nothing of its batch gets a name") {
    test::SimTree source, target;
    make_source(*source.folder("tree"));
    target.folder("tree");
    target.fail_syncs();
    const auto ended = copy(source, target);
    CHECK_FALSE(ended.copied);
    CHECK(ended.failed == 11);  // all names but those of folders
    std::vector<std::string> names;
    const auto root = target.folder("tree");
    const auto left = listed(*root, names);
    REQUIRE(left.size() == 1);
    CHECK(left.front().name == "below");
    std::vector<std::string> names_below;
    CHECK(listed(*root->open_folder("below").value(), names_below).size() == 1);
}
