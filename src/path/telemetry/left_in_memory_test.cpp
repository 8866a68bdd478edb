#include "path/telemetry/left_in_memory.hpp"

#include <doctest/doctest.h>

#include "support/sim_store.hpp"
#include "support/status_told.hpp"

using namespace forebay;
using namespace forebay::telemetry;

namespace {

constexpr auto now = test::told_now;

// A status of an agent that held one slot.
format::StatusLine holds(const std::string& host, const std::string& state, std::int64_t step,
                         const std::string& agent = "serving") {
    auto status = test::status_told(agent, false, agent == "serving" ? 60 : 1);
    status.host = host;
    status.streams.push_back({.name = "restart", .slots = {{.state = state, .step = step, .bytes = 10}}});
    return status;
}

std::vector<SealedLeft> left_of(std::vector<format::StatusLine> statuses, const std::vector<std::string>& known = {}) {
    test::SimStore store("run7");
    const auto left = left_in_memory(store, {.run = "run7", .statuses = std::move(statuses)}, now, known);
    REQUIRE(left);
    return *left;
}

}  // namespace

TEST_CASE("sealed snapshots of dead agents are named once, with all their hosts") {
    const auto left = left_of({holds("n4", "draining", 5), holds("n3", "sealed", 5), holds("n5", "drained", 5),
                               holds("n3", "failed", 4), holds("n3", "sealed", 5)});
    REQUIRE(left.size() == 2);
    CHECK(left[0].step == 4);
    CHECK(left[1].step == 5);
    CHECK(left[1].hosts == std::vector<std::string>{"n3", "n4", "n5"});
    CHECK(text_of(left[1]) == "restart@5 was sealed and is not committed. The memory of n[3-5] may still have it.");
    CHECK(
        next_of(left) ==
        "srun --nodelist=n[3-5] --ntasks-per-node=1 forebay drain all. Without Slurm, run forebay drain all on n[3-5]");
}

TEST_CASE("the command that a user pastes has no host name that a shell would read otherwise") {
    const auto left = left_of({holds("n3", "sealed", 5), holds("$(reboot)", "sealed", 5)});
    CHECK(next_of(left).find("reboot") == std::string::npos);
    CHECK(next_of(left).find("--nodelist=n3 ") != std::string::npos);
}

TEST_CASE("an agent that left work is believed at once, an agent at work and an agent that ended hold nothing") {
    CHECK(left_of({holds("n3", "sealed", 5, "left")}).size() == 1);
    CHECK(left_of({holds("n3", "sealed", 5, "ended")}).empty());
    CHECK(left_of({holds("n3", "sealed", 5, "died")}).empty());
    auto lives = holds("n3", "sealed", 5);
    lives.unix_ns = now;
    CHECK(left_of({lives}).empty());
}

TEST_CASE("committed, empty and half filled slots owe nothing, and neither does a host that was looked at") {
    CHECK(left_of({holds("n3", "committed", 5), holds("n3", "empty", -1), holds("n3", "filling", -1)}).empty());
    CHECK(left_of({holds("n3", "sealed", 5)}, {"n3"}).empty());
}
