// Goal: the helpers above Group and the cut of the world into nodes are right at any rank count.
// Ranks: threads, 1 2 3 5 17.

#include "core/comm/group.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "core/base/bytes.hpp"
#include "core/comm/alike.hpp"
#include "support/thread_group.hpp"

using namespace forebay;

TEST_CASE("gather_all_sized: strings of any length, also none") {
    for (const int ranks : {1, 2, 3, 5, 17}) {
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> group) {
            const std::string own_text(static_cast<std::size_t>(group->rank() % 3),
                                       static_cast<char>('a' + group->rank()));
            const auto all = group->gather_all_sized(bytes_of(own_text)).value();
            for (int rank = 0; rank < ranks; ++rank)
                CHECK(text_of(all[static_cast<std::size_t>(rank)]) ==
                      std::string(static_cast<std::size_t>(rank % 3), static_cast<char>('a' + rank)));
        });
    }
}

TEST_CASE("agree: every rank gets the lowest failing rank's error") {
    test::with_threads(5, [&](std::unique_ptr<comm::Group> group) {
        CHECK(comm::agree(*group, {}));
        Result<> own_outcome;
        if (group->rank() == 2) own_outcome = Error{ErrorKind::full, "no room"};
        if (group->rank() == 4) own_outcome = Error{ErrorKind::retry, "later"};
        const auto common = comm::agree(*group, own_outcome);
        REQUIRE(!common);
        CHECK(common.error().kind == ErrorKind::full);
        CHECK(common.error().what == "no room (reported by rank 2)");
    });
}

TEST_CASE("agree: who reports stands behind what failed, once, and is a rank of the group that agreed last") {
    test::with_threads(4, [&](std::unique_ptr<comm::Group> world) {
        const auto node = world->split(world->rank() / 2);
        const Error error{ErrorKind::full, "no room", "all", "make room"};
        const auto of_node = comm::agree(*node, world->rank() == 3 ? Result<>(error) : Result<>());
        if (world->rank() >= 2) CHECK(of_node.error().what == "no room (reported by rank 1)");
        const auto of_world = comm::agree(*world, of_node);
        CHECK(of_world.error().what == "no room (reported by rank 2)");
        CHECK(comm::agree(*world, of_world).error().text() ==
              "forebay: no room (reported by rank 0).\n  Safe: all.\n  Next: make room");
    });
}

TEST_CASE("find_unlike: the lowest rank that has not rank 0's bytes, and how many have not") {
    for (const int ranks : {1, 2, 3, 5, 17}) {
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> group) {
            CHECK_FALSE(comm::find_unlike(*group, bytes_of("same")).value());
            CHECK_FALSE(comm::find_unlike(*group, {}).value());
            const auto odd = comm::find_unlike(*group, bytes_of(group->rank() < 2 ? "" : "other")).value();
            CHECK(odd.has_value() == (ranks > 2));
            if (!odd) return;
            CHECK(text_of(odd->of_first).empty());
            CHECK(text_of(odd->of_other) == "other");
            CHECK(odd->other == 2);
            CHECK(odd->others == ranks - 2);
        });
    }
}

TEST_CASE("agree_alike: an error goes before a difference, and a difference of length is one") {
    test::with_threads(5, [&](std::unique_ptr<comm::Group> group) {
        const bool odd = group->rank() == 3;
        CHECK_FALSE(comm::agree_alike(*group, {}, bytes_of("a")).value());
        CHECK(comm::agree_alike(*group, {}, bytes_of(odd ? "" : "a")).value()->other == 3);
        CHECK(comm::agree_alike(*group, {}, bytes_of(odd ? "b" : "a")).value()->other == 3);
        const Error error{ErrorKind::missing, "no file"};
        const auto failed = comm::agree_alike(*group, odd ? Result<>(error) : Result<>(), bytes_of(odd ? "b" : "a"));
        REQUIRE_FALSE(failed);
        CHECK(failed.error().what == "no file (reported by rank 3)");
    });
}

TEST_CASE("is_alike: by the maxima of a number and of its inverse, for the smallest and the largest number too") {
    const auto least = std::numeric_limits<std::int64_t>::min(), largest = std::numeric_limits<std::int64_t>::max();
    test::with_threads(3, [&](std::unique_ptr<comm::Group> group) {
        for (const auto common : {least, std::int64_t{-1}, std::int64_t{0}, largest}) {
            for (const auto odd : {least, std::int64_t{-1}, std::int64_t{0}, largest}) {
                const auto own_number = group->rank() == 1 ? odd : common;
                std::int64_t maxima[] = {own_number, ~own_number};
                group->max(maxima);
                const auto [number_max, inverse_max] = maxima;
                CHECK(comm::is_alike(number_max, inverse_max) == (odd == common));
            }
        }
    });
}

TEST_CASE("find_topology: machines and virtual nodes") {
    test::with_machines(5, 2, [&](std::unique_ptr<comm::Group> world) {
        const int rank = world->rank();
        const auto topology = comm::find_topology(std::move(world), 2).value();
        CHECK(topology.nodes == 4);  // machines hold ranks 0-2 and 3-4, each cut in two
        const std::uint32_t node_of[] = {0, 0, 1, 2, 3};
        CHECK(topology.node_index == node_of[rank]);
        CHECK(topology.node_ranks.size() == (rank < 2 ? 2u : 1u));
        CHECK((topology.leaders != nullptr) == topology.leads());
    });
    test::with_threads(3, [&](std::unique_ptr<comm::Group> world) {
        const auto topology = comm::find_topology(std::move(world), 99).value();
        CHECK(topology.nodes == 3);
    });
}
