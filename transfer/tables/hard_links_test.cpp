// Goal: one name of an inode is copied and the other names become its links, in any order of meeting. An inode is
// forgotten when all its names were met, and few inodes stay in memory.
// Method: takes turns with names that come before, while and after the first is copied, and after it failed. Uses
// tables with room for 0, 1 and 1,000 inodes in memory, and counts allocated bytes.

#include <doctest/doctest.h>
#include <malloc.h>

#include "transfer/tables/hard_links.hpp"

using namespace forebay;
using tree::HardLinks;

namespace {

HardLinks::Turn take(HardLinks& links, const sys::EntryStatus& status, const sys::EntryId& existing,
                     const tree::EntryPlace& own, tree::EntryPlace& at) {
    return links.take(status, existing, own, at).value();
}

}  // namespace

TEST_CASE("hard_links: the first copies, the others wait or link") {
    HardLinks links;
    const auto dir_node = std::make_shared<tree::DirNode>(nullptr, "");
    const sys::EntryStatus status{.names = 4, .id = {1, 2}};
    tree::EntryPlace at;
    CHECK_FALSE(links.knows(status.id.number));
    CHECK(take(links, status, {}, {dir_node, "a"}, at) == HardLinks::Turn::first);
    CHECK(links.knows(status.id.number));
    CHECK(take(links, status, {}, {dir_node, "b"}, at) == HardLinks::Turn::waits);
    CHECK(take(links, status, {}, {dir_node, "c"}, at) == HardLinks::Turn::waits);
    const auto waiting = links.published(links.id_of(status), {dir_node, "a"});
    REQUIRE(waiting.size() == 2);
    CHECK(waiting.back().name == "c");
    CHECK(take(links, status, {}, {dir_node, "d"}, at) == HardLinks::Turn::ready);
    CHECK(at.name == "a");
    CHECK_FALSE(links.knows(status.id.number));  // all four names were met
}

TEST_CASE("hard_links: where the first fails, another one is first") {
    HardLinks links;
    const auto dir_node = std::make_shared<tree::DirNode>(nullptr, "");
    const sys::EntryStatus status{.names = 2, .id = {1, 2}};
    tree::EntryPlace at;
    CHECK(take(links, status, {}, {dir_node, "a"}, at) == HardLinks::Turn::first);
    CHECK(take(links, status, {}, {dir_node, "b"}, at) == HardLinks::Turn::waits);
    const auto waiting = links.failed(links.id_of(status));
    REQUIRE(waiting.size() == 1);
    CHECK(take(links, status, {}, waiting.front(), at) == HardLinks::Turn::first);
}

TEST_CASE("hard_links: a name that could not be linked yet is linked later") {
    HardLinks links;
    const auto dir_node = std::make_shared<tree::DirNode>(nullptr, "");
    const sys::EntryStatus status{.names = 2, .id = {1, 2}};
    tree::EntryPlace at;
    CHECK(take(links, status, {}, {dir_node, "a"}, at) == HardLinks::Turn::first);
    CHECK(links.published(links.id_of(status), {dir_node, "a"}).empty());
    CHECK(take(links, status, {}, {dir_node, "b"}, at) == HardLinks::Turn::ready);
    links.asks_again(links.id_of(status), at);
    CHECK(take(links, status, {}, {dir_node, "b"}, at) == HardLinks::Turn::ready);
    CHECK(at.name == "a");
}

TEST_CASE("hard_links: an inode of the target stands for one of the source") {
    HardLinks links;
    CHECK(links.claim_target({1, 10}, {2, 20}).value());
    CHECK(links.claim_target({1, 10}, {2, 20}).value());
    CHECK_FALSE(links.claim_target({1, 10}, {2, 21}).value());
}

TEST_CASE("hard_links: beyond those in memory inodes with a copy are in a file, with the folders of the target") {
    HardLinks links({.inodes = 1, .inode_bytes = 0, .place_bytes = 0});
    const auto root = std::make_shared<tree::DirNode>(nullptr, "");
    tree::EntryPlace at;
    const auto make = [&](std::uint64_t number) {
        auto above = std::make_shared<tree::DirNode>(root, "above");
        auto folder = std::make_shared<tree::DirNode>(above, "folder" + std::to_string(number));
        folder->status(tree::TreeSide::target).id = {5, 100 + number};
        return folder;
    };
    std::weak_ptr<tree::DirNode> last;
    for (std::uint64_t number = 1; number <= 3; ++number) {
        const auto folder = make(number);
        last = folder;
        const sys::EntryStatus status{.names = 3, .id = {1, number}};
        CHECK(take(links, status, {}, {folder, "first"}, at) == HardLinks::Turn::first);
        CHECK(take(links, status, {}, {folder, "waits"}, at) == HardLinks::Turn::waits);
        CHECK(links.waiting() == 1);
        CHECK(links.published(links.id_of(status), {folder, "first"}).size() == 1);
        CHECK(links.waiting() == 0);
        CHECK(links.knows(status.id.number) == (number == 1));
    }
    CHECK(last.expired());  // nothing of it is in memory
    for (std::uint64_t number = 1; number <= 3; ++number) {
        CAPTURE(number);
        const sys::EntryStatus status{.names = 3, .id = {1, number}};
        CHECK(take(links, status, {}, {make(9), "third"}, at) == HardLinks::Turn::ready);
        CHECK(path_of(*at.dir_node, at.name) == "above/folder" + std::to_string(number) + "/first");
        CHECK(at.dir_node->status(tree::TreeSide::target).id == sys::EntryId{5, 100 + number});
        CHECK(at.dir_node->parent->parent == root);
    }
    // All names of the three were met: another inode has that number now.
    for (std::uint64_t number = 1; number <= 3; ++number)
        CHECK(take(links, {.names = 2, .id = {1, number}}, {}, {make(9), "new"}, at) == HardLinks::Turn::first);
}

TEST_CASE("hard_links: a name that could not be linked yet is linked later, from a file too") {
    HardLinks links({.inodes = 0, .inode_bytes = 0, .place_bytes = 0});
    const auto dir_node = std::make_shared<tree::DirNode>(nullptr, "");
    const sys::EntryStatus status{.names = 3, .id = {1, 2}};
    tree::EntryPlace at;
    CHECK(take(links, status, {}, {dir_node, "a"}, at) == HardLinks::Turn::first);
    CHECK(links.published(links.id_of(status), {dir_node, "a"}).empty());
    CHECK(take(links, status, {}, {dir_node, "b"}, at) == HardLinks::Turn::ready);
    links.asks_again(links.id_of(status), at);
    CHECK(take(links, status, {}, {dir_node, "b"}, at) == HardLinks::Turn::ready);
    CHECK(take(links, status, {}, {dir_node, "c"}, at) == HardLinks::Turn::ready);
    CHECK(at.name == "a");
    CHECK(take(links, status, {}, {dir_node, "of another inode"}, at) == HardLinks::Turn::first);
}

TEST_CASE("hard_links: memory does not follow the number of inodes") {
    HardLinks links({.inodes = 1'000, .inode_bytes = 0, .place_bytes = 0});
    const auto root = std::make_shared<tree::DirNode>(nullptr, "");
    constexpr std::uint64_t count = 20'000;
    tree::EntryPlace at;
    const auto meet = [&](std::uint64_t number, HardLinks::Turn turn) {
        const sys::EntryStatus status{.names = 2, .id = {1, number}};
        const auto folder = std::make_shared<tree::DirNode>(root, "a folder of its own " + std::to_string(number));
        if (take(links, status, {}, {folder, "name"}, at) != turn) return 1;
        if (turn == HardLinks::Turn::first) links.published(links.id_of(status), {folder, "name"});
        else if (at.dir_node->name != folder->name) return 1;
        return 0;
    };
    int wrong = 0;
    const auto before = ::mallinfo2().uordblks;
    for (std::uint64_t number = 0; number < count; ++number) wrong += meet(number, HardLinks::Turn::first);
    const auto used = ::mallinfo2().uordblks - before;
    CHECK(wrong == 0);
    CHECK(used < 2u << 20);  // 1,000 directories and inodes, a page, and the bytes to write; without the file 15 MB
    for (std::uint64_t number = 0; number < count; ++number) wrong += meet(number, HardLinks::Turn::ready);
    CHECK(wrong == 0);
}

TEST_CASE("hard_links: an inode that got the number of another one is not taken for it") {
    const auto dir_node = std::make_shared<tree::DirNode>(nullptr, "");
    const auto differ = [&](HardLinks& links, const sys::EntryStatus& before, const sys::EntryStatus& after) {
        tree::EntryPlace at;
        CHECK(take(links, before, {}, {dir_node, "a"}, at) == HardLinks::Turn::first);
        CHECK(take(links, before, {}, {dir_node, "b"}, at) == HardLinks::Turn::waits);
        CHECK(take(links, after, {}, {dir_node, "c"}, at) == HardLinks::Turn::first);
        CHECK(links.published(links.id_of(after), {dir_node, "c"}).empty());
        CHECK(take(links, after, {}, {dir_node, "d"}, at) == HardLinks::Turn::ready);
        CHECK(at.name == "c");
        CHECK(links.published(links.id_of(before), {dir_node, "a"}).size() == 1);
        CHECK(take(links, after, {}, {dir_node, "e"}, at) == HardLinks::Turn::ready);
        CHECK(at.name == "c");
        return links.id_of(before) != links.id_of(after);
    };
    for (const std::size_t in_memory : {0u, 1'000u}) {
        HardLinks links({.inodes = in_memory});
        CHECK(differ(links, {.names = 9, .id = {1, 2}, .born = {5, 6}}, {.names = 9, .id = {1, 2}, .born = {5, 7}}));
        CHECK(differ(links, {.names = 9, .id = {1, 3}, .modified = {5, 6}},
                     {.names = 9, .id = {1, 3}, .modified = {5, 7}}));
        CHECK(differ(links, {.names = 9, .bytes = 1, .id = {1, 4}}, {.names = 9, .bytes = 2, .id = {1, 4}}));
        CHECK(differ(links, {.kind = sys::EntryKind::file, .names = 9, .id = {1, 5}, .born = {5, 6}},
                     {.kind = sys::EntryKind::fifo, .names = 9, .id = {1, 5}, .born = {5, 6}}));
        const sys::EntryStatus known{.names = 2, .id = {1, 6}, .modified = {5, 6}, .born = {5, 6}};
        const sys::EntryStatus written{.names = 2, .bytes = 1, .id = {1, 6}, .modified = {5, 7}, .born = {5, 6}};
        CHECK(links.id_of(known) == links.id_of(written));
        links.share_with_others({}, {});  // a growing file is one file for a whole group
        CHECK(links.id_of(known) == links.id_of(written));
    }
}
