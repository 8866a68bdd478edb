// Goal: Slurm and Forebay read the lists that Forebay writes.
// Method: lists by hand, and invalid lists.

#include "core/describe/host_list.hpp"

#include <doctest/doctest.h>

using namespace forebay;
using namespace forebay::describe;

TEST_CASE("hosts as Slurm lists them") {
    CHECK(show_hosts({"nid00977", "nid00123"}) == "nid00[123,977]");
    CHECK(show_hosts({"nid3", "nid1", "nid2", "nid2"}) == "nid[1-3]");
    CHECK(show_hosts({"x4305c3s5b0n0"}) == "x4305c3s5b0n0");
    CHECK(show_hosts({"x1n0", "x1n1", "login"}) == "login,x1n[0-1]");
    CHECK(show_hosts({"n9", "n10"}) == "n9,n10");
    CHECK(show_hosts({"n08.site", "n09.site", "n10.site"}) == "n[08-10].site");
    CHECK(show_hosts({}).empty());
}

TEST_CASE("a list that is written is read back") {
    for (const char* list : {"nid00[123,977]", "nid[1-3]", "login,x1n[0-1]", "n[08-10].site", "n9,n10"}) {
        const auto hosts = hosts_of(list);
        REQUIRE(hosts);
        CHECK(show_hosts(*hosts) == list);
    }
    CHECK(hosts_of("a b\nc,d\n").value() == std::vector<std::string>{"a", "b", "c", "d"});
    CHECK(hosts_of("").value().empty());
    CHECK(hosts_of("# every node fails: [look\n").value().empty());
    CHECK(hosts_of("#\na # b, c\nd#e").value() == std::vector<std::string>{"a", "d"});
}

TEST_CASE("what is no list") {
    for (const char* list : {"n[", "n]", "n[1", "n[a]", "n[3-1]", "n[1-999999999]", "n[1][2]", "n[]", "n[1,]", "n[1 2]",
                             "n[1#2]", "-oProxyCommand=id", "a,-b"})
        CHECK_MESSAGE(!hosts_of(list), list);
}

TEST_CASE("numbers of storage targets as lfs setstripe takes them") {
    CHECK(show_numbers({0, 1, 2, 3, 5, 7, 8}) == "0-3,5,7-8");
    CHECK(show_numbers({}).empty());
}
