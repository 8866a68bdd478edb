// Goal: the number of a session is above the numbers of all sessions that saved in its run, even if snapshots came
// without their locks. It costs two lists of the run, and a list and a read of 4 KiB for each stream. Method: small
// snapshots of several sessions on the simulated disk, counted operations.

#include "path/catalog/savers.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "path/catalog/history.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run_lock.hpp"
#include "support/committed_run.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using test::SimStore;

namespace {

const std::string run = "run7", own = run + "/forebay";
constexpr std::uint64_t run_id = 0xf3;

// An owner on another machine, with a lock that counts as dead.
Result<std::uint32_t> claim(SimStore& disk, std::uint32_t above = 0, bool is_copy = false) {
    return catalog::claim(disk, run, {.host = "nid2", .user = "me", .is_copy = is_copy}, {.above = above});
}

struct Run {
    Run() : disk(own) {}

    /// Commits a snapshot of a session that went on from below this step.
    void commit(std::uint32_t session, std::int64_t step, const std::string& stream = "restart",
                std::uint64_t of_run = run_id, const std::string& to = run) {
        REQUIRE(disk.make_directories(to + "/forebay"));
        REQUIRE(
            sys::write_text_durable(disk, fmt::format("{}/forebay/run-{}.json", to, catalog::id_text(of_run)), "{}"));
        test::SmallSnapshot snapshot{.id = session * 1000u + static_cast<std::uint64_t>(step),
                                     .step = step,
                                     .lineage = {of_run, 1, {{{session, 0}, step - 1}}}};
        snapshot.stream = stream;
        REQUIRE(test::commit_all(disk, to, snapshot));
    }

    SimStore disk;
};

}  // namespace

TEST_CASE("a session gets a number above that of the newest snapshot of any stream, whoever has claimed the run") {
    Run here;
    CHECK(claim(here.disk).value() == 1);
    here.commit(3, 100);
    here.commit(7, 110);
    here.commit(9, 5, "particles");
    CHECK(claim(here.disk).value() == 10);
    CHECK(claim(here.disk).value() == 11);
}

TEST_CASE("names of lines count, and what cannot be read or is of another run hides nothing") {
    Run here;
    CHECK(claim(here.disk).value() == 1);
    here.commit(7, 110);
    here.commit(50, 120, "restart", 0xabc, "another");
    REQUIRE(here.disk.rename("another/restart/step-000120", run + "/restart/step-000120"));
    here.commit(8, 130);
    REQUIRE(here.disk.remove(run + "/restart/step-000130/manifest.json"));
    CHECK(catalog::last_saver(here.disk, run, "restart", run_id).value() == 7);
    REQUIRE(here.disk.make_directory(run + "/restart/line-12.step-000090"));
    CHECK(claim(here.disk).value() == 13);
    REQUIRE(catalog::mark_start(here.disk, run + "/restart", {{20, 0}, 5}));
    CHECK(claim(here.disk).value() == 21);
    REQUIRE(catalog::mark_dropped(here.disk, run + "/restart", {30, 0}));
    CHECK(claim(here.disk).value() == 31);
}

TEST_CASE("an older step of a later session is found by whoever reads all") {
    Run here;
    here.commit(2, 500);
    here.commit(5, 110);
    CHECK(catalog::last_saver(here.disk, run).value() == 2);
    CHECK(catalog::last_saver_of_all(here.disk, run).value() == 5);
    CHECK(claim(here.disk).value() == 6);  // there was no lock
    CHECK(claim(here.disk, 40).value() == 41);
}

TEST_CASE("a claim costs the same whatever number of snapshots a stream has") {
    for (const int snapshots : {1, 30}) {
        CAPTURE(snapshots);
        Run here;
        for (int step = 1; step <= snapshots; ++step)
            for (const auto* stream : {"restart", "particles"}) here.commit(1, step, stream);
        const auto lists = here.disk.calls(test::Op::list), opens = here.disk.calls(test::Op::open);
        CHECK(catalog::last_saver(here.disk, run).value() == 1);
        CHECK(here.disk.calls(test::Op::list) - lists == 2 + 2);
        CHECK(here.disk.calls(test::Op::open) - opens == 2);
    }
}

TEST_CASE("a copy gives its claim back, but one that brought later sessions leaves it, and no older one of copies") {
    Run here;
    const auto claims = [&] {
        std::vector<std::string> names;
        for (const auto& entry : here.disk.list(own + "/sessions").value()) names.push_back(entry.name);
        return names;
    };
    const auto copy = [&](std::uint32_t above) {
        const auto session = claim(here.disk, above, true).value();
        REQUIRE(catalog::withdraw_run_lock(here.disk, run, session, above));
        return session;
    };
    CHECK(copy(4) == 5);
    CHECK(claims().empty());
    CHECK(claim(here.disk).value() == 1);
    CHECK(copy(1) == 2);
    CHECK(claims() == std::vector<std::string>{"000001"});
    CHECK(copy(6) == 7);
    CHECK(claims() == std::vector<std::string>{"000001", "000007"});
    CHECK(here.disk.exists(own + "/sessions/000007/ended").value());
    CHECK(catalog::last_session(here.disk, run).value()->session == 1);
    CHECK(copy(6) == 8);
    CHECK(claims() == std::vector<std::string>{"000001", "000007"});
    CHECK(copy(9) == 10);
    CHECK(claims() == std::vector<std::string>{"000001", "000010"});
    CHECK(claim(here.disk).value() == 11);
    CHECK(claims() == std::vector<std::string>{"000011"});
}

TEST_CASE("for a session retention does nothing where a later one has saved, and says which") {
    Run here;
    for (const std::int64_t step : {1, 2, 3}) here.commit(2, step);
    here.commit(5, 4);
    const auto prune = [&](std::uint32_t session) {
        return catalog::prune(here.disk, run, "restart", {.keep = 1, .keep_abandoned = 0, .session = session}).value();
    };
    const auto pruned = prune(4);
    CHECK(pruned.later_session == 5);
    CHECK(pruned.removed.empty());
    CHECK(here.disk.list(run + "/restart").value().size() == 4);
    CHECK(prune(5).removed.size() == 3);
}
