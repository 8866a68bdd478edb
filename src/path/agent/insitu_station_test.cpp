// Goal: the worker sees the snapshots to analyse. Any fate of the worker costs only its own analysis: no slot, no
// drain, no commit. Method: shell scripts as workers of an agent over staged node files.

#include "path/agent/insitu_station.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "path/node/flagged.hpp"
#include "support/analysed_site.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using agent::What;
using test::Site;
using test::WorkerScript;

namespace {

constexpr auto lease = node::lease_hold;

const std::string good = "echo seen; echo made 3";

}  // namespace

TEST_CASE("one worker sees what is to be analysed, once, and nothing else") {
    Site site(good);
    for (const std::int64_t step : {6, 7, 9, 10}) {
        site.seal(step, "restart", 3);
        REQUIRE_MESSAGE(site.serve(), site.log);
    }
    CHECK(site.worker.lines("asked") == std::vector<std::string>{"see 0 6 6", "see 1 9 9"});
    CHECK(site.count(What::analysed) == 2);
    CHECK(site.log.find("step 9 of stream 'restart' is analysed: 3 results in ") != std::string::npos);
    CHECK(site.not_analysed() == 0);
    CHECK(site.node.page().counts.commits == 4);
    CHECK(std::ranges::all_of(site.node.page().slots, [](const auto& slot) { return slot.holds.load() == 0; }));
}

TEST_CASE("what a worker raises is told, and is on the page where it is for the application") {
    Site site("echo seen; echo 'raise mark 3 n: a > 0'; echo 'raise mark,stop nan n: b != 1 (b is nan)'; echo made 1");
    site.seal(7);
    REQUIRE_MESSAGE(site.serve(), site.log);
    CHECK(site.count(What::flagged) == 2);
    CHECK(site.log.find("step 7 of stream 'restart' fulfils a condition: n: a > 0, mark\n") != std::string::npos);
    CHECK(site.log.find("n: b != 1 (b is nan), mark, stop\n") != std::string::npos);
    const auto flagged = node::take_flagged(site.node.page());
    REQUIRE(flagged.size() == 1);
    CHECK(flagged[0].stream == "restart");
    CHECK(flagged[0].step == 7);
    CHECK(flagged[0].snapshot_id == 7);
    CHECK(flagged[0].actions == (node::bit_of(Analysis::Action::mark) | node::bit_of(Analysis::Action::stop)));
    CHECK(std::isnan(flagged[0].value));
    CHECK(flagged[0].text == "n: b != 1 (b is nan)");
    CHECK(site.count(What::analysed) == 1);
}

TEST_CASE("a worker stays from one snapshot to the next; where nothing is to be analysed there is none") {
    Site site(good);
    site.seal(1, "other", 0);
    REQUIRE(site.serve());
    CHECK(site.worker.lines("starts").empty());
    site.seal(2);
    site.seal(3);
    REQUIRE(site.serve());
    CHECK(site.count(What::worker_begun) == 1);
    CHECK(site.worker.lines("asked").size() == 2);
    CHECK_FALSE(test::alive(site.worker.process()));
}

TEST_CASE("a worker that fails costs the snapshot that it had, and the next one gets a new worker") {
    struct Case {
        const char* on_see;
        const char* problem;
    };
    for (const auto& [on_see, problem] :
         {Case{"exit 3", "ended with exit code 3"}, Case{"kill -9 $$", "was ended by signal 9"},
          Case{"echo seen; exit 3", "ended with exit code 3"}, Case{"echo hello", "said 'hello'"},
          Case{"echo made 3", "sent 'made' before 'seen'"}, Case{"echo raise mark 3 a", "sent 'raise' before 'seen'"},
          Case{"echo seen; echo raise jump 3 a", "said 'raise jump 3 a'"},
          Case{"echo seen; echo raise mark x a", "said 'raise mark x a'"},
          Case{"echo seen; echo raise mark 3", "said 'raise mark 3'"}, Case{"echo seen; echo made x", "said 'made x'"},
          Case{"echo seen; echo seen", "sent 'seen' twice"}, Case{"echo", "said ''"},
          Case{"head -c 5000 /dev/zero | tr '\\0' x; echo", "printed a line of more than 4096 bytes"},
          Case{"exec >&- <&-; sleep 60", "has closed its output"}}) {
        CAPTURE(on_see);
        // The second snapshot is analysed.
        Site site(fmt::format("if [ $step = 1 ]; then {}; else {}; fi", on_see, good));
        site.seal(1);
        site.seal(2);
        REQUIRE_MESSAGE(site.serve(), site.log);
        CHECK(site.log.find(problem) != std::string::npos);
        CHECK(site.log.find("step 1 of stream 'restart' is not analysed: ") != std::string::npos);
        CHECK(site.count(What::not_analysed) == 1);
        CHECK(site.count(What::analysed) == 1);
        CHECK(site.count(What::worker_begun) == 2);
        CHECK(site.count(What::left_unseen) == 0);
        CHECK(site.not_analysed() == 1);
        CHECK(site.node.page().counts.commits == 2);
        CHECK(site.node.page().counts.aborts == 0);
        CHECK(site.slot(0).holds == 0);
        CHECK(site.slot(1).holds == 0);
    }
}

TEST_CASE("a worker that hangs is killed, before it has read and after") {
    for (const std::string on_see : {"sleep 60", "echo seen; sleep 60"}) {
        CAPTURE(on_see);
        Site site(fmt::format("if [ $step = 1 ]; then {}; else {}; fi", on_see, good));
        (on_see == "sleep 60" ? site.pace.seen_max : site.pace.made_max) = 300ms;
        site.seal(1);
        REQUIRE_MESSAGE(site.serve(), site.log);
        CHECK(site.log.find(on_see == "sleep 60" ? "did not read it within" : "did not finish it within") !=
              std::string::npos);
        CHECK_FALSE(test::alive(site.worker.process()));
        CHECK(site.not_analysed() == 1);
        CHECK(site.slot(1).holds == 0);
    }
}

TEST_CASE("after five ends in a row there are no more workers, which is told once; all of it is counted") {
    for (const bool absent : {false, true}) {
        CAPTURE(absent);
        Site site("exit 3");
        if (absent) site.node.session.agent.program = "/no/such/program";
        std::atomic<bool> stop{false};
        std::jthread agent([&] { site.serve(stop, false); });
        for (std::int64_t step = 1; step <= 7; ++step) {
            site.seal(step);
            REQUIRE(test::soon([&] { return site.node.page().counts.commits == static_cast<std::uint64_t>(step); }));
            REQUIRE(test::soon([&] { return site.slot(static_cast<std::size_t>(step % 2)).holds == 0; }));
        }
        stop = true;
        node::ring(site.node.page().bell);
        agent.join();
        CHECK(site.count(What::worker_ended) == 4);
        CHECK(site.count(What::analyses_end) == 1);
        CHECK(site.worker.lines("starts").size() == (absent ? 0 : 5));
        CHECK(site.not_analysed() == 7);
        CHECK(site.node.page().counts.aborts == 0);
    }
}

TEST_CASE("what a worker has to say is told once, and a snapshot that it cannot analyse is no end of it") {
    Site site("echo problem no such variable; echo problem $step; echo problem no such variable; echo failed too flat");
    site.seal(1);
    site.seal(2);
    REQUIRE(site.serve());
    CHECK(site.count(What::analysis_note) == 3);
    CHECK(site.log.find("analyses of step 1 of stream 'restart': no such variable\n") != std::string::npos);
    CHECK(site.log.find("step 2 of stream 'restart' is not analysed: too flat\n") != std::string::npos);
    CHECK(site.count(What::worker_begun) == 1);
    CHECK(site.count(What::worker_ended) == 0);
    CHECK(site.not_analysed() == 2);
}

TEST_CASE("a worker that has died between two snapshots is replaced before the next one") {
    Site site("echo seen; echo made 3; [ $step = 1 ] && exit 0");
    site.seal(1);
    std::atomic<bool> stop{false};
    std::jthread agent([&] { site.serve(stop, false); });
    REQUIRE(test::soon([&] { return site.worker.process() > 0 && !test::alive(site.worker.process()); }));
    site.seal(2);
    REQUIRE(site.worker.was_asked(2));
    site.node.page().ending = 1;
    node::ring(site.node.page().bell);
    agent.join();
    CHECK(site.count(What::analysed) == 2);
    CHECK(site.not_analysed() == 0);
}

TEST_CASE("what is sealed while the worker works is drained and committed; the lease stays until its last word") {
    Site site("wait_for go; echo seen; touch $folder/said; wait_for on; echo made 3");
    site.seal(2);
    std::atomic<bool> stop{false};
    std::jthread agent([&] { site.serve(stop); });
    REQUIRE(site.worker.was_asked(1));
    CHECK(site.slot(0).holds == lease);
    CHECK(node::is_free(site.slot(0)));
    const StreamOptions others{.slots = 2, .priority = -5};
    site.node.seal({.id = 3, .step = 8, .stream = "other"}, others);
    CHECK(test::soon([&] { return site.node.page().counts.commits == 2; }));
    site.worker.give("go");
    REQUIRE(site.worker.has("said"));
    site.node.seal({.id = 4, .step = 9, .stream = "other"}, others, sys::unix_ns(), 1);
    CHECK(test::soon([&] { return site.node.page().counts.commits == 3; }));
    CHECK(site.slot(0).holds == (lease | node::lease_read));
    site.worker.give("on");
    agent.join();
    CHECK(site.count(What::analysed) == 1);
    CHECK(site.slot(0).holds == 0);
}

TEST_CASE("a save that takes the slot while the worker finishes the one before has its own lease, and costs none") {
    Site site("echo seen; touch $folder/said; [ $step = 4 ] || wait_for on; echo made 3");
    site.seal(2);
    std::atomic<bool> stop{false};
    std::jthread agent([&] { site.serve(stop); });
    REQUIRE(site.worker.has("said"));
    site.slot(0).state = node::SlotState::filling;
    node::take_leases(site.node.page(), site.slot(0));
    site.seal(4);
    REQUIRE(test::soon([&] { return site.node.page().counts.commits == 2; }));
    CHECK(site.slot(0).holds == lease);
    site.worker.give("on");
    agent.join();
    CHECK(site.count(What::analysed) == 2);
    CHECK(site.not_analysed() == 0);
}

TEST_CASE("a save that takes the slot ends the lease: the worker is killed, the new snapshot is analysed") {
    Site site("[ $step = 4 ] || wait_for never; echo seen; echo made 3");
    site.seal(2);
    std::atomic<bool> stop{false};
    std::jthread agent([&] { site.serve(stop, false); });
    REQUIRE(site.worker.was_asked(1));
    const auto reader = site.worker.process();
    auto& slot = site.slot(0);
    slot.state = node::SlotState::filling;
    node::take_leases(site.node.page(), slot);
    CHECK(site.not_analysed() == 1);
    CHECK(test::soon([&] { return !test::alive(reader); }));
    site.seal(4);
    site.node.page().ending = 1;
    node::ring(site.node.page().bell);
    agent.join();
    CHECK(site.not_analysed() == 1);
    CHECK(site.count(What::analysed) == 1);
    CHECK(site.count(What::worker_ended) == 0);
    CHECK(site.log.find("step 2 of stream 'restart' is not analysed: a save needed its slot\n") != std::string::npos);
    CHECK(slot.holds == 0);
}

namespace {

/// Runs only the station, over slot 0. The gate calls `pass` the first time.
Result<> run_station(Site& site, const std::function<void()>& pass, const std::atomic<bool>& stop) {
    class Once final : public move::Gate {
    public:
        explicit Once(const std::function<void()>& act) : act_(act) {}
        bool wanted() override { return !passed_; }
        void pass() override {
            passed_ = true;
            act_();
        }

    private:
        const std::function<void()>& act_;
        bool passed_ = false;
    };
    agent::Schedule schedule(site.node.page());
    const auto tell = site.hear();
    agent::Slots slots(site.disk, site.node.staging, site.node.session, schedule, tell);
    Once gate(pass);
    return site.station(slots).front()->run(0, true, gate, stop);
}

}  // namespace

TEST_CASE("a slot that is taken when the worker has read it, and before that is heard, was analysed") {
    for (const bool resealed : {false, true}) {
        CAPTURE(resealed);
        Site site("echo seen; echo made 3; touch $folder/said");
        site.seal(2);
        auto& slot = site.slot(0);
        slot.holds = lease;
        const std::atomic<bool> never{false};
        const auto taken_and_drained = [&] {
            REQUIRE(test::soon([&] { return std::filesystem::exists(site.worker / "said"); }));
            node::take_leases(site.node.page(), slot);
            if (!resealed) return;
            slot.snapshot_id = 4;
            slot.holds = lease;
        };
        REQUIRE(run_station(site, taken_and_drained, never));
        CHECK(site.count(What::analysed) == 1);
        CHECK(site.not_analysed() == 0);
        CHECK(slot.holds == (resealed ? lease : 0));
    }
}

TEST_CASE("what a killed agent had read, and a save has overtaken, the next agent counts, once") {
    for (const bool taken : {false, true}) {
        CAPTURE(taken);
        Site site(good);
        site.seal(2);
        auto& page = site.node.page();
        site.slot(0).holds = lease | node::lease_read;
        page.streams[0].read_by_analyses = 2;
        if (taken) node::take_leases(page, site.slot(0));
        for (int agents = 0; agents < 2; ++agents) {
            agent::Schedule schedule(page);
            const auto tell = site.hear();
            agent::Slots slots(site.disk, site.node.staging, site.node.session, schedule, tell);
            REQUIRE(site.station(slots).size() == 1);
            CHECK(site.not_analysed() == (taken ? 1 : 0));
        }
    }
}

TEST_CASE("a snapshot that is read is counted by nobody while its results are made, and once if they fail") {
    for (const bool fails : {false, true}) {
        CAPTURE(fails);
        Site site("echo seen; touch $folder/said; wait_for on; echo " + std::string(fails ? "failed so" : "made 3"));
        site.seal(2);
        std::atomic<bool> stop{false};
        std::jthread agent([&] { site.serve(stop); });
        REQUIRE(site.worker.has("said"));
        auto& slot = site.slot(0);
        REQUIRE(test::soon([&] { return (slot.holds & node::lease_read) != 0; }));
        node::take_leases(site.node.page(), slot);
        CHECK(site.not_analysed() == 0);
        site.worker.give("on");
        agent.join();
        CHECK(site.not_analysed() == (fails ? 1 : 0));
    }
}

TEST_CASE("the next save of a slot keeps its lease, whatever becomes of the one before") {
    Site site("sleep 60");
    site.seal(2);
    auto& slot = site.slot(0);
    slot.holds = lease;
    const std::atomic<bool> never{false};
    const auto taken_and_drained = [&] {
        node::take_leases(site.node.page(), slot);
        slot.snapshot_id = 4;
        slot.holds = lease;
    };
    REQUIRE(run_station(site, taken_and_drained, never));
    CHECK(site.count(What::not_analysed) == 1);
    CHECK(site.not_analysed() == 1);
    CHECK(slot.holds == lease);
}

TEST_CASE("an agent that is told to leave leaves the lease to the next one, also of what was read and not finished") {
    for (const bool seen : {false, true}) {
        CAPTURE(seen);
        Site site(std::string(seen ? "echo seen; touch $folder/said; " : "") + "wait_for go; " +
                  (seen ? "" : "echo seen; ") + "echo made 3");
        site.seal(2);
        std::atomic<bool> stop{false};
        std::jthread agent([&] { site.serve(stop); });
        REQUIRE(site.worker.was_asked(1));
        if (seen) REQUIRE(site.worker.has("said"));
        stop = true;
        agent.join();
        CHECK_FALSE(test::alive(site.worker.process()));
        CHECK((site.slot(0).holds & ~node::lease_read) == lease);
        CHECK(site.not_analysed() == 0);
        site.worker.give("go");
        REQUIRE(site.serve());
        CHECK(site.count(What::analysed) == 1);
        CHECK(site.slot(0).holds == 0);
    }
}

TEST_CASE("an agent that is told to leave tells of what a save has taken before it was finished") {
    Site site("echo seen; touch $folder/said; wait_for never");
    site.seal(2);
    std::atomic<bool> stop{false};
    std::jthread agent([&] { site.serve(stop); });
    REQUIRE(site.worker.has("said"));
    site.slot(0).state = node::SlotState::filling;
    node::take_leases(site.node.page(), site.slot(0));
    stop = true;
    agent.join();
    CHECK(site.count(What::not_analysed) == 1);
    CHECK(site.not_analysed() == 1);
}

TEST_CASE("a worker that says too much is ended long before its time; so is one that speaks unasked") {
    for (const std::string on_see : {"while :; do echo problem too much; done", "echo seen; yes problem too much",
                                     "echo seen; echo made 3; echo seen; touch $folder/said"}) {
        CAPTURE(on_see);
        const bool is_flood = on_see.find("too much") != std::string::npos;
        Site site(fmt::format("if [ $step = 1 ]; then {}; else {}; fi", on_see, good));
        site.seal(1);
        std::atomic<bool> stop{false};
        std::jthread agent([&] { site.serve(stop, false); });
        REQUIRE(test::soon([&] { return site.node.page().counts.commits == 1 && site.slot(1).holds == 0; }));
        if (!is_flood) REQUIRE(site.worker.has("said"));
        site.seal(2);
        site.node.page().ending = 1;
        node::ring(site.node.page().bell);
        agent.join();
        CHECK(site.log.find(is_flood ? "sent more than 65536 lines about it" : "sent an unexpected answer") !=
              std::string::npos);
        CHECK(site.count(What::analysis_note) == (is_flood ? 1 : 0));
        CHECK(site.count(What::worker_begun) == 2);
        CHECK(site.count(What::analysed) == (is_flood ? 1 : 2));
        CHECK(site.not_analysed() == (is_flood ? 1 : 0));
        CHECK(site.node.page().counts.commits == 2);
    }
}
