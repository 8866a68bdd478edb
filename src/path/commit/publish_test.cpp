// Goal: agents of one save, agents of several saves of a step, and recover may overtake each other at any operation.
// The save that was sealed last is committed and nothing is left behind. Method: a second program runs to its end
// before each operation of the first. A third program runs before each operation of the second.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>

#include "core/base/try.hpp"
#include "path/commit/commit.hpp"
#include "support/committed_run.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using commit::Commit;
using test::SimStore;
using test::SmallSnapshot;

namespace {

const std::string run = "run7";
const SmallSnapshot later{.id = 0xf3, .nodes = 2};
const SmallSnapshot earlier{.id = 0x1d, .nodes = 1, .sealed_unix_ns = 1'600'000'000'000'000'000};
const SmallSnapshot earliest{.id = 0x0e, .nodes = 1, .sealed_unix_ns = 1'500'000'000'000'000'000};

std::size_t leftovers(sys::Store& store) { return catalog::leftovers(store, run, "restart").value().size(); }

// A committed snapshot always has its name: agents of the same save never rename it away.
class NameStays final : public test::PassingStore {
public:
    using PassingStore::PassingStore;
    Result<> rename(const std::string& from, const std::string& to) override {
        CHECK(from != test::step_directory(run, later));
        return PassingStore::rename(from, to);
    }
};

// An act of an agent, or of a person, at the target.
using Act = std::function<Result<Commit>(sys::Store&)>;

// Runs the first act, with the second before its operation `at`. The third runs before operation `at_second` of the
// second.
std::vector<Result<Commit>> overtake(SimStore& disk, const std::array<Act, 3>& acts, int at, int at_second) {
    std::vector<Result<Commit>> outcomes;
    const auto play = [&](std::size_t act, sys::Store& store) { outcomes.push_back(acts[act](store)); };
    test::InterruptedStore second(disk, at_second, [&] { play(2, disk); });
    test::InterruptedStore first(disk, at, [&] { play(1, second); });
    play(0, first);
    return outcomes;
}

int operations_of(const SimStore& before, const Act& act) {
    const auto disk = before.clone();
    REQUIRE(act(*disk));
    return disk->operations();
}

std::unique_ptr<SimStore> drained(std::initializer_list<SmallSnapshot> snapshots, const SmallSnapshot* standing) {
    SimStore disk;
    if (standing != nullptr) {
        REQUIRE(test::drain_all(disk, run, *standing));
        REQUIRE(test::commit(disk, run, *standing).value() == Commit::committed);
    }
    for (const auto& snapshot : snapshots) REQUIRE(test::drain_all(disk, run, snapshot));
    return disk.clone();
}

}  // namespace

TEST_CASE("agents of one save agree") {
    for (const auto* standing : {static_cast<const SmallSnapshot*>(nullptr), &earlier}) {
        const Act agent = [standing](sys::Store& store) {
            NameStays watched(store);
            return test::commit(standing == nullptr ? watched : store, run, later);
        };
        const auto before = drained({later}, standing);
        const int operations = operations_of(*before, agent);
        for (int at = 0; at < operations; ++at) {
            for (int at_second = -1; at_second < operations; ++at_second) {
                CAPTURE(standing != nullptr);
                CAPTURE(at);
                CAPTURE(at_second);
                const auto disk = before->clone();
                const auto outcomes = overtake(*disk, {agent, agent, agent}, at, at_second);
                const auto count = [&](Commit wanted) {
                    return std::ranges::count_if(outcomes,
                                                 [&](const auto& outcome) { return outcome && *outcome == wanted; });
                };
                for (const auto& outcome : outcomes) REQUIRE(outcome);
                CHECK(count(Commit::committed) == 1);
                CHECK(count(Commit::waiting) == 0);
                CHECK(test::is_whole(*disk, run, later));
                CHECK(leftovers(*disk) == 0);
            }
        }
    }
}

TEST_CASE("agents of two saves of one step, and recover: the later save stays, whoever comes last") {
    std::array<Act, 3> acts{[](sys::Store& store) { return test::commit(store, run, later); },
                            [](sys::Store& store) { return test::commit(store, run, earlier); },
                            [](sys::Store& store) -> Result<Commit> {
                                FB_TRY(commit::recover(store, run, false));
                                return Commit::already;
                            }};
    std::array<std::size_t, 3> order{0, 1, 2};
    for (const auto* standing : {static_cast<const SmallSnapshot*>(nullptr), &earliest}) {
        const auto before = drained({later, earlier}, standing);
        do {
            const std::array<Act, 3> ordered{acts[order[0]], acts[order[1]], acts[order[2]]};
            const int operations = operations_of(*before, ordered[0]);
            const int operations_second = operations_of(*before, ordered[1]);
            for (int at = 0; at < operations; ++at) {
                for (int at_second = at % 4; at_second < operations_second; at_second += 4) {
                    CAPTURE(standing != nullptr);
                    CAPTURE(order[0]);
                    CAPTURE(order[1]);
                    CAPTURE(at);
                    CAPTURE(at_second);
                    const auto disk = before->clone();
                    for (const auto& outcome : overtake(*disk, ordered, at, at_second))
                        // If recover took the earlier save from an agent, the agent gets an error and drains it again.
                        if (!outcome) CHECK_MESSAGE(outcome.error().kind == ErrorKind::missing, outcome.error().what);
                    // The third act may have had nothing to overtake.
                    CHECK(test::commit(*disk, run, later).value() != Commit::waiting);
                    CHECK(test::is_whole(*disk, run, later));
                    REQUIRE(commit::recover(*disk, run, false));
                    CHECK(test::is_whole(*disk, run, later));
                    CHECK(leftovers(*disk) == 0);
                }
            }
        } while (std::ranges::next_permutation(order).found);
    }
}

TEST_CASE("an earlier save that is complete late is removed, not committed") {
    const auto disk = drained({later, earlier}, nullptr);
    CHECK(test::commit(*disk, run, later).value() == Commit::committed);
    CHECK(test::commit(*disk, run, earlier).value() == Commit::superseded);
    CHECK(test::is_whole(*disk, run, later));
    CHECK(leftovers(*disk) == 0);
    // A later but damaged save protects nothing.
    REQUIRE(disk->remove(test::step_directory(run, later) + "/node-00001.h5"));
    REQUIRE(test::drain_all(*disk, run, earlier));
    CHECK(test::commit(*disk, run, earlier).value() == Commit::committed);
    CHECK(test::is_whole(*disk, run, earlier));
}
