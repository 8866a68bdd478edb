// Goal: one process copies each inode with several names. All other processes learn the place of the copy, even after
// failures and losses, and no question stays unanswered.
// Method: processes ask in turn. Copies are published, fail, or are lost with their process.

#include "transfer/team/team_links.hpp"

#include <doctest/doctest.h>

using namespace forebay;
using tree::TeamKind;
using tree::TeamLinks;

namespace {

const sys::EntryId inode{0, 42};

TeamLinks::Answers ask(TeamLinks& links, std::uint64_t process, const sys::EntryId& id = inode,
                       const sys::EntryId& existing = {}) {
    return links.ask(process, {.kind = TeamKind::link_ask, .id = id, .other_id = existing}).value();
}

bool is_first(const TeamLinks::Answers& answers, std::uint64_t process) {
    return answers.size() == 1 && answers[0].first == process && (answers[0].second.flags & tree::link_is_first) != 0;
}

}  // namespace

TEST_CASE("team_links: the first copies, the others hear where it is") {
    TeamLinks links;
    CHECK(is_first(ask(links, 1), 1));
    CHECK(ask(links, 2).empty());
    CHECK(ask(links, 0).empty());
    const auto heard = links.published({.kind = TeamKind::link_published, .id = inode, .path = "a", .text = "b"});
    REQUIRE(heard.size() == 2);
    CHECK(heard[0].first == 2);
    CHECK(heard[1].first == 0);
    CHECK(heard[1].second.path == "a");
    CHECK(heard[1].second.text == "b");
    const auto late = ask(links, 3);
    REQUIRE(late.size() == 1);
    CHECK(late[0].second.text == "b");
}

TEST_CASE("team_links: where the first one fails or is lost, the next one copies") {
    TeamLinks links;
    CHECK(is_first(ask(links, 1), 1));
    CHECK(ask(links, 2).empty());
    CHECK(ask(links, 3).empty());
    CHECK(is_first(links.failed({.kind = TeamKind::link_failed, .id = inode}), 2));
    CHECK(is_first(links.lost(2), 3));
    CHECK(links.lost(3).empty());
    CHECK(is_first(ask(links, 1), 1));
    // A copy published by a lost process stays.
    CHECK(links.published({.kind = TeamKind::link_published, .id = inode, .path = "a", .text = "b"}).empty());
    CHECK(links.lost(1).empty());
    CHECK(ask(links, 2)[0].second.text == "b");
    CHECK(links.failed({.kind = TeamKind::link_failed, .id = inode}).empty());
}

TEST_CASE("team_links: an inode of the target stands for one of the source") {
    TeamLinks links;
    const sys::EntryId old{0, 7};
    CHECK((ask(links, 1, {0, 1}, old)[0].second.flags & tree::link_may_keep) != 0);
    CHECK((ask(links, 2, {0, 2}, old)[0].second.flags & tree::link_may_keep) == 0);
    CHECK((ask(links, 2, {0, 3})[0].second.flags & tree::link_may_keep) == 0);
}

TEST_CASE("team_links: beyond those in memory inodes with a copy are in a file") {
    TeamLinks links({.inodes = 1, .inode_bytes = 0, .place_bytes = 0});
    for (std::uint64_t number = 1; number <= 5; ++number) {
        CHECK(is_first(ask(links, 1, {0, number}, {0, 50}), 1));
        CHECK(ask(links, 2, {0, number}).empty());
        const auto path = number < 4 ? "a" : "a/b";
        const auto heard = links.published(
            {.kind = TeamKind::link_published, .id = {0, number}, .path = path, .text = std::to_string(number)});
        CHECK(heard.size() == 1);
    }
    CHECK(links.lost(1).empty());
    for (std::uint64_t number = 1; number <= 5; ++number) {
        const auto late = ask(links, 3, {0, number});
        REQUIRE(late.size() == 1);
        CHECK(late[0].second.path == (number < 4 ? "a" : "a/b"));
        CHECK(late[0].second.text == std::to_string(number));
        CHECK(links.failed({.kind = TeamKind::link_failed, .id = {0, number}}).empty());
    }
}
