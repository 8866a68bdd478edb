// Goal: only one writer has a run; numbers rise after any death and after any power cut; a living writer is never
// displaced, a dead writer always. Method: locks on the simulated disk; the file lock of an owner on this machine is
// real.

#include "path/catalog/run_lock.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <set>
#include <thread>

#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "path/catalog/history.hpp"
#include "support/committed_run.hpp"
#include "support/crashes.hpp"
#include "support/sim_store.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using test::SimStore;

namespace {

const std::string run = "run7", own = run + "/forebay";

// An owner on another machine.
catalog::RunLockOwner elsewhere(const std::string& host = "nid2") {
    return {.host = host,
            .user = "me",
            .boot = "another start",
            .lock_path = "/dev/shm/lock",
            .lock_id = "1:2",
            .process = 7};
}

catalog::RunLockOwner here(const std::string& lock) {
    return {.host = "nid1",
            .user = "me",
            .boot = sys::boot_id(),
            .lock_path = lock,
            .lock_id = sys::file_id(lock),
            .process = 8};
}

Result<std::uint32_t> claim(SimStore& disk, const catalog::RunLockOwner& lock_owner,
                            std::chrono::milliseconds watch = 0ms) {
    return catalog::claim(disk, run, lock_owner, {.watch = watch});
}

}  // namespace

TEST_CASE("sessions are numbered, and the newest claim alone is kept") {
    SimStore disk(own);
    for (std::uint32_t number = 1; number <= 5; ++number) {
        CHECK(claim(disk, elsewhere()).value() == number);
        REQUIRE(catalog::end_run_lock(disk, run, number));
    }
    CHECK(disk.list(own + "/sessions").value().size() == 1);
    CHECK(claim(disk, elsewhere(), 1h).value() == 6);  // an ended session is not watched
}

TEST_CASE("where the claims are lost, numbers go on above those that snapshots and marks know") {
    SimStore disk(own);
    REQUIRE(test::commit_all(disk, run, {.id = 1, .step = 10, .lineage = {0, 1, {{{7, 0}, -1}}}}));
    CHECK(claim(disk, elsewhere()).value() == 8);
    REQUIRE(disk.remove_tree(own + "/sessions"));
    REQUIRE(catalog::mark_start(disk, run + "/restart", {{12, 0}, 5}));
    CHECK(claim(disk, elsewhere()).value() == 13);
}

TEST_CASE("a number that was given is given to nobody else, whatever the power cut takes") {
    SimStore disk(own);
    for (std::uint32_t number = 1; number <= 3; ++number) {
        CHECK(claim(disk, elsewhere()).value() == number);
        disk.reboot({.names = false, .bytes = false});
    }
}

TEST_CASE("on its own machine a session lives as long as its lock is held") {
    const test::TempDirectory folder;
    const auto path = folder / "application.lock", other = folder / "other.lock";
    SimStore disk(own);
    auto lock = sys::FileLock::take(path).value();
    REQUIRE(claim(disk, here(path)).value() == 1);
    auto own_lock = sys::FileLock::take(other).value();
    const auto refused = claim(disk, here(other), 1h);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::refused);
    for (const auto* word : {"session 1", "me", "nid1", "process 8", "application.lock"})
        CHECK_MESSAGE(refused.error().text().find(word) != std::string::npos, refused.error().text());
    lock.release();
    CHECK(claim(disk, here(other), 1h).value() == 2);
    // A session with the same file lock, as after a crash on this node, is not kept out.
    CHECK(claim(disk, here(other), 1h).value() == 3);
}

TEST_CASE("a lock of the same path on another machine says nothing: the claim is watched") {
    const test::TempDirectory folder;
    const auto path = folder / "application.lock";
    const auto lock = sys::FileLock::take(path).value();
    SimStore disk(own);
    auto lock_owner = here(path);
    lock_owner.boot = "a third start";
    REQUIRE(claim(disk, lock_owner));
    CHECK(claim(disk, elsewhere("nid3"), 300ms).value() == 2);
    auto other_file = here(path);
    other_file.lock_id = "0:0";
    REQUIRE(claim(disk, other_file, 300ms).value() == 3);
    CHECK(claim(disk, elsewhere("nid3"), 300ms).value() == 4);
}

TEST_CASE("from elsewhere a session lives as long as it shows life, and a dead one is taken over") {
    SimStore disk(own);
    REQUIRE(claim(disk, elsewhere()).value() == 1);
    std::atomic<bool> dead{false};
    std::jthread alive([&] {
        for (std::uint64_t count = 0; !dead; ++count) {
            REQUIRE(catalog::renew_run_lock(disk, run, 1, count));
            std::this_thread::sleep_for(20ms);
        }
    });
    std::string log;
    const auto refused = catalog::claim(disk, run, elsewhere("nid3"),
                                        {.watch = 1h, .say = [&](const std::string& line) { log += line; }});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == ErrorKind::refused);
    CHECK(refused.error().text().find("nid2") != std::string::npos);
    CHECK(log.find("3600 s") != std::string::npos);
    CHECK_FALSE(catalog::claimed_after(disk, run, 1).value());
    dead = true;
    alive.join();
    CHECK(claim(disk, elsewhere("nid3"), 300ms).value() == 2);
    CHECK(catalog::claimed_after(disk, run, 1).value() ==
          std::optional<std::string>("session 2 of me on nid3 (process 7)"));
    CHECK_FALSE(catalog::claimed_after(disk, run, 2).value());
    // A session that was taken for dead finds no lock to renew when it comes back.
    CHECK(catalog::renew_run_lock(disk, run, 1, 99).error().kind == ErrorKind::missing);
}

TEST_CASE("of many that claim at once each gets a number of its own") {
    for (int round = 0; round < 10; ++round) {
        SimStore disk(own);
        std::vector<std::uint32_t> numbers(6);
        {
            std::vector<std::jthread> claimers;
            for (auto& number : numbers) claimers.emplace_back([&] { number = claim(disk, elsewhere()).value(); });
        }
        CHECK(std::set<std::uint32_t>(numbers.begin(), numbers.end()).size() == numbers.size());
    }
}

TEST_CASE("a power cut at any operation never gives a number twice") {
    SimStore before(own);
    REQUIRE(claim(before, elsewhere()).value() == 1);
    before.settle();
    const auto claim_next = [](SimStore& disk) { return claim(disk, elsewhere()); };
    REQUIRE(claim_next(*before.clone()).value() == 2);
    test::crash_at_each(before, test::reboots(20), claim_next, [&](SimStore& disk, const auto& given) {
        CHECK(claim_next(disk).value() > (given ? *given : 1));
    });
}

TEST_CASE("a claim that cannot be read is watched as that of anybody") {
    SimStore disk(own);
    REQUIRE(claim(disk, elsewhere()).value() == 1);
    REQUIRE(sys::write_text_durable(disk, own + "/sessions/000001/claim.json", "{"));
    CHECK(claim(disk, elsewhere(), 300ms).value() == 2);
}
