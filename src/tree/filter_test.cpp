// Goal: patterns and lists mean what the guide says, with names of any bytes.
// Method: names against patterns; lists as text and with zero bytes, and those that are refused.

#include <doctest/doctest.h>

#include "tree/filter.hpp"

using namespace forebay;
using sys::EntryKind;

TEST_CASE("filter: a pattern with a slash is of a path, another one of a name") {
    const auto root = std::make_shared<tree::Branch>(nullptr, "");
    const auto below = std::make_shared<tree::Branch>(root, "run");
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

TEST_CASE("filter: lists of paths") {
    const auto by_lines = tree::wished_names("a/b\n./c\n\na/d//\n", false).value();
    REQUIRE(by_lines.below.size() == 2);
    CHECK(by_lines.below.at("a").below.at("b").is_whole);
    CHECK(by_lines.below.at("a").below.at("d").is_whole);
    CHECK_FALSE(by_lines.below.at("a").is_whole);
    CHECK(by_lines.below.at("c").is_whole);
    using namespace std::string_view_literals;
    const auto by_nul = tree::wished_names("with\nline\0last"sv, true).value();
    CHECK(by_nul.below.at("with\nline").is_whole);
    CHECK(by_nul.below.at("last").is_whole);
    // Read as lines, such a list is one name, and the first path is all that a call of the system sees of it.
    for (const auto list : {"/etc/passwd"sv, "a/../../b"sv, "one\0two\0"sv}) {
        CAPTURE(list);
        const auto refused = tree::wished_names(list, false);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::refused);
    }
}

// They are held and let go by recursion, on the stack of whichever thread that is.
TEST_CASE("filter: a path of a list is as deep as trees are, and no deeper") {
    const auto path = [](std::size_t folders) {
        std::string text;
        for (std::size_t i = 0; i < folders; ++i) text += "a/";
        return text;
    };
    CHECK(tree::wished_names(path(10'000), false));
    for (const std::size_t folders : {10'001, 2'000'000}) {
        const auto refused = tree::wished_names(path(folders), true);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::refused);
        CHECK(refused.error().text().size() < 1000);
    }
}

TEST_CASE("filter: patterns that fit nothing are refused") {
    for (const std::string pattern : {"", "/", "/a", "./a", "a/", "a/b/"}) CHECK_FALSE(tree::check_pattern(pattern));
    for (const std::string pattern : {"a", "a/b", "*", ".a", "*.o", "a/*", "..a"}) CHECK(tree::check_pattern(pattern));
}
