// Goal: of an inode with several names one is copied and the others become its links, in whatever order they are met;
// nothing is kept of an inode all of whose names were met.
// Method: the turns of names that come before, while and after the first is copied, and after it failed.

#include <doctest/doctest.h>

#include "tree/hard_links.hpp"

using namespace forebay;
using tree::HardLinks;

TEST_CASE("hard_links: the first copies, the others wait or link") {
    HardLinks links;
    const auto branch = std::make_shared<tree::Branch>(nullptr, "");
    const sys::EntryStatus status{.names = 4, .id = {1, 2}};
    tree::EntryPlace at;
    CHECK_FALSE(links.knows(status.id));
    CHECK(links.take(status, {}, {branch, "a"}, at) == HardLinks::Turn::first);
    CHECK(links.knows(status.id));
    CHECK(links.take(status, {}, {branch, "b"}, at) == HardLinks::Turn::waits);
    CHECK(links.take(status, {}, {branch, "c"}, at) == HardLinks::Turn::waits);
    const auto waiting = links.published(status.id, {branch, "a"});
    REQUIRE(waiting.size() == 2);
    CHECK(waiting.back().name == "c");
    CHECK(links.take(status, {}, {branch, "d"}, at) == HardLinks::Turn::ready);
    CHECK(at.name == "a");
    CHECK_FALSE(links.knows(status.id));  // all four names were met
}

TEST_CASE("hard_links: where the first fails, another one is first") {
    HardLinks links;
    const auto branch = std::make_shared<tree::Branch>(nullptr, "");
    const sys::EntryStatus status{.names = 2, .id = {1, 2}};
    tree::EntryPlace at;
    CHECK(links.take(status, {}, {branch, "a"}, at) == HardLinks::Turn::first);
    CHECK(links.take(status, {}, {branch, "b"}, at) == HardLinks::Turn::waits);
    const auto waiting = links.failed(status.id);
    REQUIRE(waiting.size() == 1);
    CHECK(links.take(status, {}, waiting.front(), at) == HardLinks::Turn::first);
}

TEST_CASE("hard_links: a name that could not be linked yet is linked later") {
    HardLinks links;
    const auto branch = std::make_shared<tree::Branch>(nullptr, "");
    const sys::EntryStatus status{.names = 2, .id = {1, 2}};
    tree::EntryPlace at;
    CHECK(links.take(status, {}, {branch, "a"}, at) == HardLinks::Turn::first);
    CHECK(links.published(status.id, {branch, "a"}).empty());
    CHECK(links.take(status, {}, {branch, "b"}, at) == HardLinks::Turn::ready);
    links.asks_again(status.id, at);
    CHECK(links.take(status, {}, {branch, "b"}, at) == HardLinks::Turn::ready);
    CHECK(at.name == "a");
}

TEST_CASE("hard_links: an inode of the target stands for one of the source") {
    HardLinks links;
    CHECK(links.claim_target({1, 10}, {2, 20}));
    CHECK(links.claim_target({1, 10}, {2, 20}));
    CHECK_FALSE(links.claim_target({1, 10}, {2, 21}));
}
