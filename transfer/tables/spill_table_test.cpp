// Goal: a lookup in a table beside memory finds the last value of each key and no other key, at any size. Texts come
// back whole. A disk without room is an error with advice, and all earlier entries are still found.
// Method: puts 20,000 inodes into a hash table of pages that are split again and again, with removals. Uses texts
// shorter and longer than one read. A child process may write files of at most 100,000 bytes, another has a missing
// TMPDIR.

#include "transfer/tables/spill_table.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>

#include "support/limited_process.hpp"
#include "transfer/tables/inode_map.hpp"
#include "transfer/tables/spill_texts.hpp"

using namespace forebay;
using tree::InodeMap;

namespace {

sys::EntryId inode(std::uint64_t number) { return {number % 3, 7 * number}; }

}  // namespace

TEST_CASE("spill_table: entries are found, replaced and erased") {
    constexpr std::uint64_t count = 20'000;
    for (const std::size_t memory_bytes : {0u, 100'000u, 100u << 20}) {
        CAPTURE(memory_bytes);
        InodeMap<sys::EntryId> map(memory_bytes);
        for (std::uint64_t i = 0; i < count; ++i) REQUIRE(map.put(inode(i), {i, 1}));
        for (std::uint64_t i = 0; i < count; i += 2) REQUIRE(map.put(inode(i), {i, 2}));
        for (std::uint64_t i = 0; i < count; i += 5) REQUIRE(map.erase(inode(i)));
        std::uint64_t wrong = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto value = map.find(inode(i)).value();
            const std::uint64_t wanted = i % 2 == 0 ? 2 : 1;
            if (i % 5 == 0 ? value.has_value() : !value || *value != sys::EntryId{i, wanted}) ++wrong;
            if (map.holds(inode(i)) != value.has_value()) ++wrong;  // its page is in memory now
        }
        CHECK(wrong == 0);
        CHECK_FALSE(map.find({5, 7}).value().has_value());
        CHECK(map.get_or_put(inode(1), {9, 9}).value() == sys::EntryId{1, 1});
        CHECK(map.get_or_put(inode(0), {9, 9}).value() == sys::EntryId{9, 9});
        CHECK(map.find(inode(0)).value() == sys::EntryId{9, 9});
    }
}

TEST_CASE("spill_table: texts of any length are read by their place, and in order") {
    std::size_t memory_bytes = 0;
    SUBCASE("the last ones in memory") {}
    SUBCASE("the first ones too") { memory_bytes = 500'000; }
    SUBCASE("all") { memory_bytes = 10'000'000; }
    tree::SpillTexts texts(memory_bytes);
    std::vector<std::uint64_t> places;
    const auto text_of = [](std::size_t i) { return std::string(i % 700, static_cast<char>('a' + i % 26)); };
    constexpr std::size_t count = 5'000;  // 1.7 MB; the last 256 KiB are in memory
    for (std::size_t i = 0; i < count; ++i) places.push_back(texts.append(text_of(i)).value());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (texts.at(places[i]).value() != text_of(i)) ++wrong;
    CHECK(wrong == 0);
    std::size_t next = 0;
    for (auto at = texts.begin(); at < texts.end(); ++next) {
        CHECK(at == places[next]);
        at = texts.behind(at, texts.at(at).value());
    }
    CHECK(next == count);
}

TEST_CASE("spill_table: without room it says where room is to be made, and what was there is found") {
    const auto failed = test::in_child([] {
        std::signal(SIGXFSZ, SIG_IGN);  // as the program does
        if (!test::limit_to(RLIMIT_FSIZE, 100'000)) return 2;
        InodeMap<std::uint64_t> map(0);
        std::uint64_t stored = 0;
        Result<> put;
        while (put = map.put(inode(stored), stored), put.has_value()) ++stored;
        const auto error = put.error();
        if (error.kind != ErrorKind::full || error.next.find("TMPDIR") == std::string::npos) return 3;
        if (stored < 2'000) return 4;               // 24 pages of 170 entries, more than half full
        for (std::uint64_t i = 0; i < stored; ++i)  // an entry outside memory may be out of reach, but is never lost
            if (const auto value = map.find(inode(i)); value ? *value != i : value.error().kind != ErrorKind::full)
                return 5;
        return map.holds(inode(stored)) ? 6 : 0;
    });
    CHECK(failed == 0);
    const auto lacks_place = test::in_child([] {
        ::setenv("TMPDIR", "/not/there", 1);
        InodeMap<std::uint64_t> map(0);
        std::uint64_t stored = 0;
        Result<> put;
        while (put = map.put(inode(stored), stored), put.has_value()) ++stored;
        return put.error().kind != ErrorKind::full || stored < 170 || map.find(inode(0)).value() != 0 ? 1 : 0;
    });
    CHECK(lacks_place == 0);
}
