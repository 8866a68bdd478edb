// Goal: a list means what the guide says, for names of any bytes, with any amount of memory. Another process gets an
// equal list.
// Method: reads lists as lines and with zero bytes, and lists that must be refused. Compares 20,000 paths in any order,
// with duplicates and paths below other paths, with a table of sets: with memory for all, for a part and for almost
// none. Damages blocks.

#include "transfer/walk/path_list.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "support/temp_directory.hpp"

using namespace forebay;
using namespace std::string_view_literals;

namespace {

using Names = std::vector<std::string>;

Names names_below(tree::PathList& paths, const std::string& folder) {
    Names names;
    REQUIRE(paths.names_below(folder, [&](const std::string& name) {
        names.push_back(name);
        return Result<>();
    }));
    return names;
}

bool is_whole(tree::PathList& paths, const std::string& path) { return paths.wish_of(path).value().is_whole; }
bool has_below(tree::PathList& paths, const std::string& path) { return paths.wish_of(path).value().has_below; }

/// The expected meaning of a list, all in memory.
struct Wanted {
    std::map<std::string, std::set<std::string>> below{{".", {}}};
    std::set<std::string> whole;

    explicit Wanted(const std::set<std::string>& paths) {
        for (const auto& path : paths) {
            std::string folder = ".";
            for (std::size_t at = 0; at <= path.size();) {
                const auto end = std::min(path.find('/', at), path.size());
                below[folder].insert(path.substr(at, end - at));
                folder = path.substr(0, end);
                at = end + 1;
            }
            whole.insert(path);
        }
    }
};

std::string text_of(const Names& paths, char end) {
    std::string text;
    for (const auto& path : paths) (text += path) += end;
    return text;
}

}  // namespace

TEST_CASE("wished_paths: lists as text and with zero bytes") {
    const auto by_lines = tree::path_list("a/b\n./c\n\na/d//\na/b\nc/in it", false).value();
    CHECK(names_below(*by_lines, ".") == Names{"a", "c"});
    CHECK(names_below(*by_lines, "a") == Names{"b", "d"});
    CHECK(names_below(*by_lines, "c") == Names{"in it"});
    for (const auto* path : {".", "a", "c"}) CHECK(has_below(*by_lines, path));
    for (const auto* path : {"a/b", "c/in it", "b", "d"}) CHECK_FALSE(has_below(*by_lines, path));
    CHECK(is_whole(*by_lines, "a/b"));
    CHECK(is_whole(*by_lines, "c"));
    for (const auto* path : {".", "a", "a/c", "a/b/b", "b", "d"}) CHECK_FALSE(is_whole(*by_lines, path));
    const auto by_nul = tree::path_list("with\nline\0last\xff"sv, true).value();
    CHECK(names_below(*by_nul, ".") == Names{"last\xff", "with\nline"});
    const auto with_root = tree::path_list("a\n./\n", false).value();
    CHECK(is_whole(*with_root, "."));
    CHECK(has_below(*with_root, "."));
    CHECK(names_below(*with_root, ".") == Names{"a"});
    CHECK_FALSE(has_below(*tree::path_list("./\n", false).value(), "."));
    CHECK(names_below(*tree::path_list("\n", false).value(), ".").empty());
    // Read as lines, such a list is one name, and a system call sees only its first path.
    for (const auto list : {"/etc/passwd"sv, "a/../../b"sv, "one\0two\0"sv}) {
        CAPTURE(list);
        const auto refused = tree::path_list(list, false);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::refused);
    }
}

TEST_CASE("wished_paths: a path is as deep as trees are, and no deeper") {
    const auto path = [](std::size_t folders) {
        std::string text;
        for (std::size_t i = 0; i < folders; ++i) text += "a/";
        return text;
    };
    CHECK(tree::path_list(path(10'000), false));
    for (const auto& list : {path(10'001), path(2'000'000), std::string(3'000'000, 'a')}) {
        const auto refused = tree::path_list(list, true);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::refused);
        CHECK(refused.error().text().size() < 1000);
    }
}

TEST_CASE("wished_paths: the same with little memory, and in another process") {
    const test::TempDirectory spills("/dev/shm");
    ::setenv("TMPDIR", spills.path().c_str(), 1);
    std::mt19937 random(7);
    const auto name = [&] {
        // Bytes below and above the bytes for a slash and an end.
        static const std::string letters("\1\2\n ./a\x7f\xff", 9);
        std::string text;
        while (text.empty() || text == "." || text == "..") {
            text.clear();
            for (auto bytes = 1 + random() % 3; bytes > 0; --bytes)
                if (const char letter = letters[random() % letters.size()]; letter != '/') text += letter;
        }
        return text + (random() % 20 == 0 ? std::string(random() % 250, 'x') : "");
    };
    Names listed;
    for (int i = 0; i < 20'000; ++i) {
        auto path = name();
        for (auto depth = random() % 5; depth > 0; --depth) path += "/" + name();
        listed.push_back(path);
    }
    const Wanted wanted({listed.begin(), listed.end()});
    const auto check = [&](tree::PathList& paths) {
        std::size_t wrong = 0;
        for (const auto& [folder, names] : wanted.below)
            if (names_below(paths, folder) != Names(names.begin(), names.end()) || !has_below(paths, folder) ||
                is_whole(paths, folder) != wanted.whole.contains(folder))
                ++wrong;
        for (const auto& path : listed)
            if (!is_whole(paths, path) || has_below(paths, path) != wanted.below.contains(path)) ++wrong;
        for (const auto& path : wanted.whole)
            if (is_whole(paths, path + "\1") != wanted.whole.contains(path + "\1")) ++wrong;
        CHECK(wrong == 0);
    };
    for (const std::size_t memory_bytes : {0u, 10'000u, 300'000u, 32u << 20}) {
        CAPTURE(memory_bytes);
        const auto paths = tree::path_list(text_of(listed, '\0'), true, memory_bytes).value();
        check(*paths);
        tree::PathList other(memory_bytes);
        std::size_t block = 0;
        for (auto texts = paths->blocks_from(0).value(); !texts.empty(); texts = paths->blocks_from(block).value()) {
            for (const auto& text : texts) REQUIRE(other.append_block(text));
            block += texts.size();
        }
        REQUIRE(other.close());
        check(other);
    }
}

TEST_CASE("wished_paths: what is no block is refused") {
    const auto block = tree::path_list("a/b\nc\n", false).value()->blocks_from(0).value().at(0);
    CHECK(tree::PathList(0).append_block(block));
    tree::PathList twice(0);
    REQUIRE(twice.append_block(block));
    CHECK_FALSE(twice.append_block(block));
    for (std::size_t bytes = 1; bytes < block.size(); ++bytes)
        if (bytes != 4 + 3) CHECK_FALSE(tree::PathList(0).append_block(block.substr(0, bytes)));
}
