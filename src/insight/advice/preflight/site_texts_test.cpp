// Goal: every form of Lustre's and DAOS's output about storage is understood.
// Method: outputs in the forms of manuals and of users' reports, with our own names and numbers.

#include "insight/advice/preflight/site_texts.hpp"

#include <doctest/doctest.h>

using namespace forebay::advice;

TEST_CASE("lfs df: full, marked and inactive OSTs") {
    const auto osts = read_lfs_df(R"(UUID                   1K-blocks        Used   Available Use% Mounted on
scratch-MDT0000_UUID   815800000     3100000   810600000   1% /scratch[MDT:0]
scratch-OST0000_UUID   529449792   490000000    39449792  93% /scratch[OST:0]
scratch-OST0001_UUID   529449792        1268   524063432   1% /scratch[OST:1] D
OST0002             : inactive device
scratch-OST000a_UUID   529449792        1264   524063436   1% /scratch[OST:10]RS

filesystem_summary:   2117799168   490003796  1087576660  31% /scratch
)");
    REQUIRE(osts.size() == 4);
    CHECK(osts[0].name == "scratch-OST0000");
    CHECK(osts[0].used_share == doctest::Approx(0.925).epsilon(0.01));
    CHECK(osts[1].letters == "D");
    CHECK((osts[2].index == 2 && osts[2].inactive));
    CHECK((osts[3].index == 10 && osts[3].letters == "RS"));
    const auto people = read_lfs_df("x-OST0001_UUID   15.7T   8.0M   15.7T   1% /mnt/x[OST:1]\n");
    REQUIRE(people.size() == 1);
    CHECK(people[0].used_share < 0.01);
    CHECK(read_lfs_df("df: no such file\n").empty());
}

TEST_CASE("lfs quota: with and without a head, over the limit, in approximate numbers") {
    const auto quota = read_lfs_quota(R"(Disk quotas for usr ann (uid 1000):
     Filesystem  kbytes   quota   limit   grace   files   quota   limit   grace
       /scratch 1041408* 5242880 6291456       -   51234       0 2000000       -
uid 1000 is using default file quota setting
)");
    REQUIRE(quota);
    CHECK(quota->used_bytes == 1041408ull * 1024);
    CHECK(quota->hard_bytes == 6291456ull * 1024);
    CHECK((quota->files == 51234 && quota->hard_files == 2000000));
    const auto bare = read_lfs_quota("/a/long/path/to/a/project\n   [1024]  0k  9.537T  -  [7]  0  0  -\n");
    REQUIRE(bare);
    CHECK((bare->used_bytes == 1u << 20 && bare->soft_bytes == 0 && bare->hard_bytes > 10'000'000'000'000ull));
    CHECK_FALSE(read_lfs_quota("lfs quota: '/home' not on a mounted Lustre filesystem\n"));
}

TEST_CASE("daos pool query: disabled targets, rebuilds, tiers, later forms") {
    const auto pool =
        read_pool_query(R"(Pool 050b20a3-3fcc-499b-a6cf-07d4b80b04fd, ntarget=640, disabled=32, leader=2, version=131
Pool space info:
- Target(VOS) count:608
- Storage tier 0 (SCM):
  Total size: 6.0 TB
  Free: 4.4 TB, min:6.5 GB, max:7.0 GB, mean:6.9 GB
- Storage tier 1 (NVMe):
  Total size: 200 TB
  Free: 194 TB, min:244 GB, max:308 GB, mean:303 GB
Rebuild busy, 4 objs, 0 recs
)");
    REQUIRE(pool);
    CHECK((pool->targets == 640 && pool->disabled == 32 && pool->rebuild == "busy"));
    REQUIRE(pool->tiers.size() == 2);
    CHECK(pool->tiers[1].total_bytes == 200e12);
    CHECK(pool->tiers[1].least_free_bytes == 244e9);
    const auto later = read_pool_query(
        "Pool 7f9d, ntarget=64, disabled=8, leader=3, version=9, state=Degraded\n"
        "Pool health info:\n- Rebuild failed, status=-1007\n");
    REQUIRE(later);
    CHECK((later->state == "Degraded" && later->rebuild == "failed"));
    CHECK_FALSE(read_pool_query("ERROR: daos: no such pool\n"));
}

TEST_CASE("servers of OSTs") {
    const auto servers = read_ost_servers(
        "osc.tfs-OST0003-osc-ffff93af0c638800.ost_conn_uuid=192.168.0.205@tcp\nosc.tfs.ost_conn_uuid=x\n");
    REQUIRE(servers.size() == 1);
    CHECK((servers[0].name == "tfs-OST0003" && servers[0].server == "192.168.0.205@tcp"));
}

TEST_CASE("amounts") {
    CHECK(read_amount("997k") == 997 * 1024.0);
    CHECK(read_amount("6.5GB") == 6.5e9);
    CHECK(read_amount("0") == 0.0);
    for (const char* none : {"", "k", "5x", "5KBB", "-3G", "nan"}) CHECK_MESSAGE(!read_amount(none), none);
}
