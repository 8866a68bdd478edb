// A small tree, and checks of its copy after a power cut before every operation on the target. The target is a
// simulated disk. It keeps all, nothing, or a random part of the unsynced data. The worst case is included: a file that
// has its name, size and time but not its bytes.

#pragma once

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/sim_tree.hpp"

namespace forebay::test {

inline void write_file(sys::Folder& folder, const std::string& name, std::size_t bytes, char letter) {
    const auto file = folder.make_file(name, 0640).value();
    const std::string text(bytes, letter);
    file->write(0, std::as_bytes(std::span(text))).value();
    file->set_times({1, 0}, {bytes == 0 ? 7 : 1000 + letter, 9}).value();
}

inline std::string bytes_in(sys::Folder& folder, const std::string& name) {
    const auto file = folder.open_file(name).value();
    std::string text(file->status().value().bytes, ' ');
    file->read(0, std::as_writable_bytes(std::span(text))).value();
    return text;
}

// Seven files, two of them with more hard links, and symbolic links and directories.
inline void make_small_tree(sys::Folder& root) {
    root.make_folder("below", 0750).value();
    const auto below = root.open_folder("below").value();
    below->make_folder("empty", 0700).value();
    for (int i = 0; i < 4; ++i) write_file(root, "file" + std::to_string(i), 700 + static_cast<std::size_t>(i), 'a');
    write_file(root, "nothing", 0, 'n');
    write_file(*below, "other", 1500, 'b');
    write_file(*below, "last", 10, 'c');
    below->make_hard_link("again", root, "file1").value();
    root.make_hard_link("too", *below, "other").value();
    root.make_link("link", "below/nowhere").value();
    root.make_special("fifo", {.kind = sys::EntryKind::fifo}).value();
}

/// The directory's entries, sorted by name. `names` owns the names.
inline std::vector<sys::NamedEntry> names_of_folder(sys::Folder& folder, std::vector<std::string>& names) {
    std::map<std::string, sys::NamedEntry> listed;
    folder
        .list([&](std::span<const sys::NamedEntry> portion) -> Result<> {
            for (const auto& entry : portion) listed.emplace(entry.name, entry);
            return {};
        })
        .value();
    std::vector<sys::NamedEntry> entries;
    names.reserve(listed.size());
    for (const auto& [name, entry] : listed) {
        names.push_back(name);
        entries.push_back({names.back(), entry.kind, entry.number});
    }
    return entries;
}

inline bool has_name(sys::Folder& folder, const std::string& name) { return folder.status_of(name).has_value(); }

// Checks that each file of `target` has either the bytes of the source or its earlier bytes.
inline void check_whole(sys::Folder& source, sys::Folder& target, sys::Folder* older) {
    std::vector<std::string> names;
    for (const auto& named : names_of_folder(target, names)) {
        const std::string name(named.name);
        CAPTURE(name);
        if (name.starts_with(".fb-")) continue;
        const bool was_there = older != nullptr && has_name(*older, name);
        if (named.kind == sys::EntryKind::folder) {
            const auto below = target.open_folder(name).value();
            const auto in_source = source.open_folder(name);
            const auto in_older = was_there ? older->open_folder(name) : Error{ErrorKind::missing};
            if (in_source) check_whole(**in_source, *below, in_older ? in_older->get() : nullptr);
            else CHECK(in_older.has_value());
        } else if (named.kind == sys::EntryKind::file) {
            const auto bytes = bytes_in(target, name);
            const bool is_new = has_name(source, name) && source.status_of(name)->kind == sys::EntryKind::file &&
                                bytes_in(source, name) == bytes;
            const bool is_old =
                was_there && older->status_of(name)->kind == sys::EntryKind::file && bytes_in(*older, name) == bytes;
            CHECK((is_new || is_old));
        }
    }
}

inline void check_equal(sys::Folder& folder, sys::Folder& other) {
    std::vector<std::string> names, other_names;
    const auto entries = names_of_folder(folder, names);
    names_of_folder(other, other_names);
    CHECK(names == other_names);
    if (names != other_names) return;
    for (const auto& entry : entries) {
        const std::string name(entry.name);
        CAPTURE(name);
        const auto status = folder.status_of(name).value(), other_status = other.status_of(name).value();
        CHECK(status.kind == other_status.kind);
        CHECK(status.permissions == other_status.permissions);
        CHECK(status.modified == other_status.modified);
        if (status.kind != sys::EntryKind::folder) CHECK(status.names == other_status.names);
        if (status.kind == sys::EntryKind::file) CHECK(bytes_in(folder, name) == bytes_in(other, name));
        if (status.kind == sys::EntryKind::link) CHECK(folder.link_text(name).value() == other.link_text(name).value());
        if (status.kind == sys::EntryKind::folder)
            check_equal(*folder.open_folder(name).value(), *other.open_folder(name).value());
    }
}

/// The outcome of a copy to a target that loses power before operation `cut_before`.
struct CutCopy {
    std::uint64_t failed = 0;
    bool has_errors = false;
    Result<> copied;
};

/// Cuts the power before every operation of copy(target, cut_before). That call makes the directory "tree" of `before`
/// equal to `source`. After each cut every file with its final name must be whole, and the same copy again must end
/// with equal trees.
template <class Copy>
void cut_everywhere(sys::Folder& source, SimTree& before, const Copy& copy) {
    before.folder("tree");
    before.disk().settle();
    SimTree whole(before);
    const CutCopy undisturbed = copy(whole, std::nullopt);
    REQUIRE(undisturbed.copied);
    CHECK_FALSE(undisturbed.has_errors);
    check_equal(source, *whole.folder("tree"));
    REQUIRE(whole.operations() > 50);
    std::mt19937_64 random(5);
    for (std::uint64_t operation = 0; operation < whole.operations(); ++operation)
        for (int survivors = 0; survivors < 8; ++survivors) {
            CAPTURE(operation);
            CAPTURE(survivors);
            SimTree cut(before);
            static_cast<void>(copy(cut, std::optional(operation)));
            SimTree left(cut);
            if (survivors < 4) left.disk().power_cut({.names = survivors % 2 == 1, .bytes = survivors / 2 == 1});
            else left.disk().power_cut(random);
            check_whole(source, *left.folder("tree"), before.folder("tree").get());
            const CutCopy again = copy(left, std::nullopt);
            REQUIRE(again.copied);
            CHECK_FALSE(again.has_errors);
            check_equal(source, *left.folder("tree"));
        }
}

}  // namespace forebay::test
