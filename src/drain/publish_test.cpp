// Goal: agents of one save, agents of several saves of one step, and recover may overtake one another at any operation:
// the save that was sealed last is committed and nothing is left behind. Method: one runs to its end before each
// operation of another, which does so before each operation of a third.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>

#include "drain/commit.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"
#include "support/small_run.hpp"

using namespace forebay;
using drain::Commit;
using test::SimStore;
using test::SmallSnapshot;

namespace {

const std::string run = "run7";

Result<Commit> commit(sys::Store& store, const SmallSnapshot& snapshot) {
    return drain::commit_if_complete(store, run, snapshot.stream, snapshot.step, snapshot.id, snapshot.nodes);
}

bool is_whole(sys::Store& store, const SmallSnapshot& snapshot) {
    const auto directory = test::step_directory(run, snapshot);
    const auto manifest = catalog::load_manifest(store, directory);
    return manifest && manifest->snapshot_id == snapshot.id && catalog::check_whole(store, directory, *manifest);
}

std::size_t leftovers(sys::Store& store) { return catalog::leftovers(store, run, "restart").value().size(); }

// A store that lets `other` run to its end before its own operation number `at`: an agent that is slow there.
class Interrupted final : public test::PassingStore {
public:
    Interrupted(sys::Store& store, int at, std::function<void()> other)
        : PassingStore(store), at_(at), other_(std::move(other)) {}
    int operations() const { return operations_; }

private:
    sys::Store& next() override {
        if (operations_++ == at_) other_();
        return PassingStore::next();
    }
    int at_;
    std::function<void()> other_;
    int operations_ = 0;
};

// What an agent, or a person, does at the target.
using Act = std::function<Result<Commit>(sys::Store&)>;

// first, with second before its operation `at`, with third before that one's operation `at_second`.
std::vector<Result<Commit>> overtake(SimStore& disk, const std::array<Act, 3>& acts, int at, int at_second) {
    std::vector<Result<Commit>> outcomes;
    const auto play = [&](std::size_t act, sys::Store& store) { outcomes.push_back(acts[act](store)); };
    Interrupted second(disk, at_second, [&] { play(2, disk); });
    Interrupted first(disk, at, [&] { play(1, second); });
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
        REQUIRE(commit(disk, *standing).value() == Commit::committed);
    }
    for (const auto& snapshot : snapshots) REQUIRE(test::drain_all(disk, run, snapshot));
    return disk.clone();
}

const SmallSnapshot later{.id = 0xf3, .nodes = 2};
const SmallSnapshot earlier{.id = 0x1d, .nodes = 1, .sealed_unix_ns = 1'600'000'000'000'000'000};
const SmallSnapshot earliest{.id = 0x0e, .nodes = 1, .sealed_unix_ns = 1'500'000'000'000'000'000};

}  // namespace

TEST_CASE("agents of one save agree") {
    const Act agent = [](sys::Store& store) { return commit(store, later); };
    for (const auto* standing : {static_cast<const SmallSnapshot*>(nullptr), &earlier}) {
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
                    return std::ranges::count_if(outcomes, [&](const auto& one) { return one && *one == wanted; });
                };
                for (const auto& outcome : outcomes) REQUIRE(outcome);
                CHECK(count(Commit::committed) == 1);
                CHECK(count(Commit::waiting) == 0);
                CHECK(is_whole(*disk, later));
                CHECK(leftovers(*disk) == 0);
            }
        }
    }
}

TEST_CASE("agents of two saves of one step, and recover: the later save stays, whoever comes last") {
    std::array<Act, 3> acts{[](sys::Store& store) { return commit(store, later); },
                            [](sys::Store& store) { return commit(store, earlier); },
                            [](sys::Store& store) -> Result<Commit> {
                                FB_TRY(drain::recover(store, run, false));
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
                        // An agent from under which recover took the earlier save is told so, and drains it again.
                        if (!outcome) CHECK_MESSAGE(outcome.error().kind == ErrorKind::missing, outcome.error().text);
                    // The third may have had nothing to overtake.
                    CHECK(commit(*disk, later).value() != Commit::waiting);
                    CHECK(is_whole(*disk, later));
                    REQUIRE(drain::recover(*disk, run, false));
                    CHECK(is_whole(*disk, later));
                    CHECK(leftovers(*disk) == 0);
                }
            }
        } while (std::ranges::next_permutation(order).found);
    }
}

TEST_CASE("an earlier save that is complete late is removed, not committed") {
    const auto disk = drained({later, earlier}, nullptr);
    CHECK(commit(*disk, later).value() == Commit::committed);
    CHECK(commit(*disk, earlier).value() == Commit::superseded);
    CHECK(is_whole(*disk, later));
    CHECK(leftovers(*disk) == 0);
    // What is later but damaged protects nobody.
    REQUIRE(disk->remove(test::step_directory(run, later) + "/node-00001.h5"));
    REQUIRE(test::drain_all(*disk, run, earlier));
    CHECK(commit(*disk, earlier).value() == Commit::committed);
    CHECK(is_whole(*disk, earlier));
}
