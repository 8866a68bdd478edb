// Goal: any number of packers may work in one stream, with killed packers and recover among them. No batch replaces
// another: each file is in a committed batch, in a reported leftover, or still in its spool. Method: a stream whose
// newest step is ahead of the clock, so all packers take the same next step. On the simulated disk one packer runs to
// its end before each operation of another. A hundred threads.

#include <doctest/doctest.h>

#include <array>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "path/agent/pack.hpp"
#include "path/commit/commit.hpp"
#include "path/commit/commit_batch.hpp"
#include "support/crashes.hpp"
#include "support/packed_files.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using agent::Packer;
using test::Contents;
using test::SimStore;
namespace fs = std::filesystem;

namespace {

const std::string run = "run7", stream = "packed-here";
const std::string ahead = run + "/" + stream + "/step-9000000000000";

/// Two spools, and a target with one batch from a host whose clock was ahead.
struct Two {
    Two() {
        REQUIRE(disk.make_directories(ahead));
        disk.settle();
        test::put(a / "a", "of a");
        test::put(b / "b", "of b");
    }
    Result<agent::Packed> pack(sys::Store& store, const fs::path& spool) const {
        return Packer(store, spool, run, stream).pack_batch();
    }
    Contents packed() {
        REQUIRE(disk.remove_tree(ahead));
        return test::packed_in(disk, run, stream);
    }

    test::TempDirectory folder{"/dev/shm"};
    const fs::path a = folder / "spool-a", b = folder / "spool-b";
    SimStore disk;
};

/// The store of a program that is killed before its operation number `at`: nothing reaches the store any more.
class KilledStore final : public test::PassingStore {
public:
    struct Kill {};
    KilledStore(sys::Store& store, int at) : PassingStore(store), at_(at) {}
    bool killed() const { return operations_ > at_; }

private:
    sys::Store& next() override {
        if (operations_++ >= at_) throw Kill{};
        return PassingStore::next();
    }
    int at_;
    int operations_ = 0;
};

/// True if it finished.
bool pack_until_killed(const Two& two, sys::Store& store, const fs::path& spool, int at) {
    KilledStore killed(store, at);
    try {
        return two.pack(killed, spool).has_value();
    } catch (const KilledStore::Kill&) {
        return false;
    }
}

/// True if a part has everything that a batch needs, under the step of its record.
bool holds_a_batch(sys::Store& store) {
    for (const auto& left : catalog::leftovers(store, run, stream).value())
        if (const auto head = catalog::load_head(store, left.directory + "/node-00000.h5"))
            return left.kind == catalog::Leftover::Kind::part && head->record.step == left.step;
    return false;
}

int operations_of_a_batch() {
    Two two;
    test::InterruptedStore store(two.disk, -1, [] {});
    REQUIRE(two.pack(store, two.a));
    return store.operations();
}

}  // namespace

TEST_CASE("two packers that take the same step: both batches are there, whenever one overtakes the other") {
    const int operations = operations_of_a_batch();
    CHECK(operations > 10);
    for (int at = 0; at < operations; ++at) {
        CAPTURE(at);
        Two two;
        test::InterruptedStore slow(two.disk, at, [&] { two.pack(two.disk, two.b).value(); });
        const auto packed = two.pack(slow, two.a);
        REQUIRE(packed);
        CHECK(packed->files == 1);
        CHECK(two.packed() == Contents{{"a", "of a"}, {"b", "of b"}});
        CHECK(catalog::leftovers(two.disk, run, stream).value().empty());
        CHECK(test::files_in(two.a).empty());
    }
}

TEST_CASE("a hundred packers at once: a hundred batches") {
    constexpr std::size_t packers = 100;
    const test::TempDirectory folder("/dev/shm");
    SimStore disk;
    REQUIRE(disk.make_directories(ahead));
    std::latch start(packers);
    std::array<std::string, packers> answers;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < packers; ++i) test::put(folder / std::to_string(i) + "/" + std::to_string(i), "x");
    for (std::size_t i = 0; i < packers; ++i)
        threads.emplace_back([&, i] {
            start.arrive_and_wait();
            const auto done = Packer(disk, folder / std::to_string(i), run, stream).pack_batch();
            answers[i] = done ? std::to_string(done->files) : done.error().text();
        });
    for (auto& thread : threads) thread.join();
    for (const auto& answer : answers) CHECK(answer == "1");
    REQUIRE(disk.remove_tree(ahead));
    CHECK(test::packed_in(disk, run, stream).size() == packers);
}

TEST_CASE("steps of those who were beaten lie above all others, and apart") {
    Two two;
    std::set<std::int64_t> steps;
    for (int i = 0; i < 100; ++i) {
        const auto step = commit::next_step(two.disk, run, stream, 12).value();
        CHECK(step > 9'000'000'000'000);
        CHECK(step <= 9'000'000'000'000 + (1 << 12));
        steps.insert(step);
    }
    CHECK(steps.size() > 50);
    CHECK(commit::next_step(two.disk, run, stream).value() == 9'000'000'000'001);
    // With the highest number taken there is no step above it, but the step must not be low either.
    REQUIRE(two.disk.make_directories(run + "/" + stream + "/step-9223372036854775807"));
    CHECK(commit::next_step(two.disk, run, stream, 100).value() > 9'000'000'000'000);
}

TEST_CASE("a killed packer's batch and another one of the same step: recover keeps both") {
    const int operations = operations_of_a_batch();
    int kept_in_target = 0;
    for (int at = 0; at < operations; ++at)
        for (int killed_at = 0; killed_at < operations; ++killed_at) {
            CAPTURE(at);
            CAPTURE(killed_at);
            Two two;
            // The killed batch was sealed later: of two saves of a step it would be the one that stays.
            bool ended = false;
            test::InterruptedStore slow(two.disk, at,
                                        [&] { ended = pack_until_killed(two, two.disk, two.b, killed_at); });
            two.pack(slow, two.a).value();
            two.disk.kill_programs();
            const bool was_whole = holds_a_batch(two.disk);
            const auto recovered = commit::recover(two.disk, run, false);
            REQUIRE(recovered);
            const auto left = catalog::leftovers(two.disk, run, stream).value();
            const auto packed = two.packed();
            CHECK(packed.contains("a"));
            // A whole batch is committed. Of an incomplete batch nothing is removed.
            const bool is_whole = packed.contains("b");
            if (ended || was_whole) CHECK(is_whole);
            if (!is_whole) CHECK(test::files_in(two.b).size() == 1);
            if (is_whole && !ended) ++kept_in_target;
            for (const auto& snapshot : *recovered) CHECK(snapshot.outcome != commit::Recovered::Outcome::removed);
            CHECK(left.size() <= 1);
        }
    CHECK(kept_in_target > operations);
}

TEST_CASE("a packer that was killed while it gave its batch another step: recover of a run at rest commits it") {
    const int operations = operations_of_a_batch();
    int stuck = 0;
    for (int killed_at = 0; killed_at < 2 * operations; ++killed_at) {
        CAPTURE(killed_at);
        Two two;
        // The second packer takes the step before the last operations of the killed packer.
        test::InterruptedStore beaten(two.disk, operations - 8, [&] { two.pack(two.disk, two.b).value(); });
        pack_until_killed(two, beaten, two.a, killed_at);
        two.disk.kill_programs();
        REQUIRE(commit::recover(two.disk, run, false));
        // Its packer might live, so recover leaves the part.
        const auto left = catalog::leftovers(two.disk, run, stream).value();
        const bool is_stuck = !left.empty() && two.disk.exists(left.front().directory + "/manifest.json").value();
        stuck += is_stuck ? 1 : 0;
        REQUIRE(commit::recover(two.disk, run, true));
        CHECK(catalog::leftovers(two.disk, run, stream).value().empty());
        const auto packed = two.packed();
        if (is_stuck) CHECK(packed.contains("a"));
        if (!packed.contains("a")) CHECK(test::files_in(two.a).size() == 1);
    }
    CHECK(stuck > 0);
}

TEST_CASE("a batch that gets another step is there once, under that step, whatever a power cut takes") {
    const int operations = operations_of_a_batch();
    const auto play = [&](Two& two) {
        test::InterruptedStore beaten(two.disk, operations - 8, [&] { static_cast<void>(two.pack(two.disk, two.b)); });
        static_cast<void>(two.pack(beaten, two.a));
    };
    const auto check = [](Two& two) {
        REQUIRE(commit::recover(two.disk, run, true));
        if (two.disk.exists(ahead).value()) REQUIRE(two.disk.remove_tree(ahead));
        std::map<std::string, int> times;
        test::packed_in(two.disk, run, stream, &times);
        for (const auto& [path, count] : times) CHECK(count == 1);
    };
    const auto make = [] { return std::make_unique<Two>(); };
    test::crash_worlds_at_each(make, test::torn_reboots(20), play, check, 2 * operations);
}

TEST_CASE("files go only when their own batch is seen committed, whatever the target answered") {
    Two two;
    struct Lying : test::PassingStore {
        using PassingStore::PassingStore;
        Result<> rename(const std::string& from, const std::string& to) override {
            return to.find("/step-") == to.npos ? PassingStore::rename(from, to) : Result<>();
        }
    } store(two.disk);
    const auto packed = two.pack(store, two.a);
    REQUIRE_FALSE(packed);
    CHECK(packed.error().kind == ErrorKind::retry);
    CHECK_MESSAGE(packed.error().text().find("Safe: the original files") != std::string::npos, packed.error().text());
    CHECK(test::files_in(two.a) == Contents{{"a", "of a"}});
    CHECK(catalog::leftovers(two.disk, run, stream).value().empty());
}

TEST_CASE("cut at any operation while a step is taken twice: no file is lost, and none is there more than twice") {
    struct Beaten : test::PassingStore {
        using PassingStore::PassingStore;
        Result<> rename(const std::string& from, const std::string& to) override {
            if (to.find("/step-") != to.npos && !done) done = (pack(), true);
            return PassingStore::rename(from, to);
        }
        std::function<void()> pack;
        bool done = false;
    };
    int conflicts = 0;
    const auto play = [&](Two& two) {
        Beaten store(two.disk);
        store.pack = [&] { static_cast<void>(two.pack(two.disk, two.b)); };
        static_cast<void>(two.pack(store, two.a));
        conflicts += store.done ? 1 : 0;
    };
    const auto check = [](Two& two) {
        auto files = test::files_in(two.folder.path());
        for (const auto& [path, content] : two.packed()) files["spool-" + path + "/" + path] = content;
        CHECK(files == Contents{{"spool-a/a", "of a"}, {"spool-b/b", "of b"}});
        REQUIRE(commit::recover(two.disk, run, false));
        for (const auto& spool : {two.a, two.b}) {
            Packer next(two.disk, spool, run, stream);
            test::pack_all(next);
            CHECK(test::files_in(spool).empty());
        }
        std::map<std::string, int> times;
        CHECK(test::packed_in(two.disk, run, stream, &times) == Contents{{"a", "of a"}, {"b", "of b"}});
        for (const auto& [path, count] : times) CHECK(count <= 2);
    };
    const auto make = [] { return std::make_unique<Two>(); };
    CHECK(test::crash_worlds_at_each(make, {test::programs_killed, 0}, play, check) > 20);
    CHECK(conflicts > 10);
}
