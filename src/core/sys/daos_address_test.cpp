// Goal: DAOS addresses and the texts of its links are read as DAOS reads them; all other texts are refused.
// Method: addresses with labels, UUIDs, odd names and slashes; attribute values in the form of dfuse and the DAOS
//         tools; texts in no such form.

#include "core/sys/daos_address.hpp"

#include <doctest/doctest.h>

using namespace forebay;
using sys::daos_place_from;
using sys::daos_place_of_link;

namespace {

const std::string pool = "3559e4b2-7f55-41ad-8d37-f279a8f3f586", container = "7DEE7162-8ab2-4704-ad22-8b43f2eb5279";

}  // namespace

TEST_CASE("addresses: labels, UUIDs, and any path below the container") {
    const auto place = daos_place_from("daos://tank/my_cont.1:a-b//a/b c/\xff/").value();
    CHECK(place.pool == "tank");
    CHECK(place.container == "my_cont.1:a-b");
    CHECK(place.path == "/a/b c/\xff");
    CHECK(place.address() == "daos://tank/my_cont.1:a-b/a/b c/\xff");
    CHECK(daos_place_from("daos://" + pool + "/" + container).value().path.empty());
    CHECK(daos_place_from("daos://tank/cont/").value().path.empty());
    for (const auto* wrong :
         {"daos://", "daos://tank", "daos://tank/", "daos:///cont", "daos://ta nk/cont", "daos:/tank/cont",
          "daos://tank/co%nt", "daos://tank/cont/..", "daos://tank/cont/a/./b", "/tank/cont"})
        CHECK_MESSAGE(daos_place_from(wrong).error().kind == ErrorKind::refused, wrong);
    CHECK_FALSE(daos_place_from("daos://" + std::string(128, 'a') + "/cont"));
    CHECK(daos_place_from("daos://" + std::string(127, 'a') + "/cont"));
}

TEST_CASE("links: with and without the ending zero, and of files alone") {
    const auto value = "DAOS.POSIX://" + pool + "/" + container;
    for (const auto& text : {value, value + '\0'}) {
        const auto place = daos_place_of_link(text).value();
        CHECK(place.pool == pool);
        CHECK(place.container == container);
        CHECK(place.path.empty());
    }
    CHECK(daos_place_of_link("DAOS.HDF5://" + pool + "/" + container).error().kind == ErrorKind::unsupported);
    for (const auto& wrong : {std::string(), std::string("DAOS.POSIX"), "DAOS.POSIX://" + pool, value + "/a",
                              "POSIX://" + pool, "DAOS.POSIX://tank/" + container})
        CHECK_MESSAGE(daos_place_of_link(wrong).error().kind == ErrorKind::refused, wrong);
}

TEST_CASE("containers: the classes fit the ranks of the pool") {
    for (const std::uint32_t ranks : {0u, 1u, 2u, 3u, 5u, 6u, 9u, 10u, 17u, 18u, 128u}) {
        const auto& profile = sys::daos_profile_for(ranks);
        CHECK((ranks == 0 || profile.ranks_min <= ranks));
        CHECK((profile.losses == 2) == (ranks == 0 || ranks >= 6));
    }
    CHECK(sys::daos_create_command({"tank", "cont", ""}, 18) ==
          "daos container create tank cont --type POSIX --file-oclass=EC_16P2GX --dir-oclass=RP_3G1 "
          "--chunk-size=2097152 --properties=cksum:crc32,srv_cksum:on,rd_fac:2,ec_cell_sz:131072");
    CHECK(sys::daos_create_command({"tank", "cont", ""}, 1).find("--file-oclass=SX --dir-oclass=S1") !=
          std::string::npos);
}
