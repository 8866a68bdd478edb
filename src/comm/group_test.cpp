// Goal: the helpers above Group and the cut of the world into nodes are right at any rank count.
// Ranks: threads, 1 2 3 5 17.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "comm/group.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/bytes.hpp"
#include "support/thread_group.hpp"

using namespace forebay;

TEST_CASE("gather_all_sized: strings of any length, also none") {
    for (const int ranks : {1, 2, 3, 5, 17}) {
        test::with_threads(ranks, [&](std::unique_ptr<comm::Group> group) {
            const std::string mine(static_cast<std::size_t>(group->rank() % 3), static_cast<char>('a' + group->rank()));
            const auto all = group->gather_all_sized(bytes_of(mine)).value();
            for (int rank = 0; rank < ranks; ++rank)
                CHECK(text_of(all[static_cast<std::size_t>(rank)]) ==
                      std::string(static_cast<std::size_t>(rank % 3), static_cast<char>('a' + rank)));
        });
    }
}

TEST_CASE("agree: every rank gets the lowest failing rank's error") {
    test::with_threads(5, [&](std::unique_ptr<comm::Group> group) {
        CHECK(comm::agree(*group, {}));
        Result<> mine;
        if (group->rank() == 2) mine = Error{ErrorKind::full, "no room"};
        if (group->rank() == 4) mine = Error{ErrorKind::retry, "later"};
        const auto common = comm::agree(*group, mine);
        REQUIRE(!common);
        CHECK(common.error().kind == ErrorKind::full);
        CHECK(common.error().text == "no room (reported by rank 2)");
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
