// Goal: patterns mean what the guide says, for names of any bytes.
// Method: compares names with patterns, and tries patterns that must be refused.

#include <doctest/doctest.h>

#include "transfer/walk/filter.hpp"

using namespace forebay;
using sys::EntryKind;

TEST_CASE("filter: a pattern with a slash is of a path, another one of a name") {
    const auto root = std::make_shared<tree::DirNode>(nullptr, "");
    const auto below = std::make_shared<tree::DirNode>(root, "run");
    const tree::EntryFilter names{.exclude = {"*.tmp"}};
    CHECK_FALSE(names.takes(*below, "a.tmp", EntryKind::file));
    CHECK_FALSE(names.takes(*below, "a.tmp", EntryKind::folder));
    CHECK(names.takes(*below, "a.h5", EntryKind::file));
    const tree::EntryFilter paths{.exclude = {"run/a*"}};
    CHECK_FALSE(paths.takes(*below, "a.h5", EntryKind::file));
    CHECK(paths.takes(*root, "a.h5", EntryKind::file));
    const tree::EntryFilter wanted{.include = {"*.h5"}, .exclude = {"b?.h5"}};
    CHECK(wanted.takes(*below, "a.h5", EntryKind::file));
    CHECK_FALSE(wanted.takes(*below, "b1.h5", EntryKind::file));
    CHECK_FALSE(wanted.takes(*below, "a.txt", EntryKind::file));
    CHECK(wanted.takes(*below, "folder", EntryKind::folder));
}

TEST_CASE("filter: of a pattern that begins with a slash no star stands for one") {
    const tree::EntryFilter filter{.exclude = {"/*/.a*", "/.b"}};
    for (const std::string path : {"x/.a", "x/.ab", ".b", ".b/c"}) CHECK_FALSE(filter.takes(path, EntryKind::file));
    for (const std::string path : {".a", "x/y/.a", "x/a", "x/.b", "b", ".bc"})
        CHECK(filter.takes(path, EntryKind::file));
}

TEST_CASE("filter: patterns that fit nothing are refused") {
    for (const std::string pattern : {"", "/", "/a", "./a", "a/", "a/b/"}) CHECK_FALSE(tree::check_pattern(pattern));
    for (const std::string pattern : {"a", "a/b", "*", ".a", "*.o", "a/*", "..a"}) CHECK(tree::check_pattern(pattern));
}
