// Goal: servers are found in what lctl prints, targets are grouped by them, and a server is named where half of its
// targets are slow.
// Method: texts and targets by hand.

#include "insight/report/darshan_servers.hpp"

#include <doctest/doctest.h>

using namespace forebay::report;

TEST_CASE("both commands of lctl say where a target hangs") {
    const auto servers = servers_in(
        "osc.scratch-OST0000-osc-ffff8800.ost_conn_uuid=10.1.1.2@o2ib\n"
        " 9 UP osc scratch-OST000e-osc-ffff8800 4b546a5e-c1e2 4 10.1.1.3@o2ib4\r\n"
        "  1 UP mgc MGC10.1.1.1@o2ib 12345 4\n"
        "scratch-OSTzzzz 10.1.1.9@o2ib\nOST1 1@x\nOST0003 nothing\n\n"
        "OST0001 10.1.1.2@o2ib");
    CHECK(servers ==
          std::map<std::uint32_t, std::string>{{0, "10.1.1.2@o2ib"}, {1, "10.1.1.2@o2ib"}, {14, "10.1.1.3@o2ib4"}});
    CHECK(servers_in("").empty());
}

TEST_CASE("a server of which half of the targets are slow is slow") {
    DarshanMount mount;
    for (std::uint32_t i = 0; i < 8; ++i)
        mount.targets.push_back({.number = i,
                                 .files = 10,
                                 .bytes = 100,
                                 .seconds = 1.0 + i,
                                 .ratio = i < 2 || i == 4 ? 0.1 : 1,
                                 .is_slow = i < 2 || i == 4});
    const auto servers = by_server(mount, {{0, "a"}, {1, "a"}, {2, "a"}, {3, "a"}, {4, "b"}, {5, "b"}, {6, "c"}});
    REQUIRE(servers.size() == 4);
    CHECK(servers[0].name == "a");
    CHECK(servers[0].is_slow);
    CHECK(servers[0].slow_targets == 2);
    CHECK(servers[0].bytes == 400);
    CHECK(servers[0].files == 40);
    CHECK(servers[0].seconds == 4);
    CHECK(servers[0].ratio == doctest::Approx(0.55));
    for (std::size_t i = 1; i < 4; ++i) CHECK_FALSE(servers[i].is_slow);  // one slow target is that target's fault
}
