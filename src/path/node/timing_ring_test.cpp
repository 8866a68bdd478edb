// Goal: each timing leaves its ring once and whole while ranks go on writing; overwritten timings are counted. Method:
// threads as ranks on one file.

#include "path/node/timing_ring.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::node;
using namespace std::chrono_literals;
using format::TimingKind;

namespace {

void put(TimingRings& rings, std::uint32_t rank, std::uint64_t kib) {
    rings.put(rank, {kib, 3}, TimingKind::copy, sys::Clock::now(), std::chrono::microseconds(kib), kib << 10);
}

}  // namespace

TEST_CASE("a timing comes out of the ring of its rank, once") {
    test::TempDirectory folder;
    auto rings = TimingRings::create(folder.path(), 5).value();
    auto others = TimingRings::open(folder.path(), true).value();
    const auto reader = TimingRings::open(folder.path(), false).value();
    CHECK(reader.ranks() == 5);
    const auto before = static_cast<std::uint64_t>(sys::unix_ns());
    rings.put(0, {7, 1}, TimingKind::wait, sys::Clock::now(), 1500us, 0);
    others.put(4, {8, 2}, TimingKind::copy, sys::Clock::now(), -5us, 1025);
    others.put(5, {8, 0}, TimingKind::copy, sys::Clock::now(), 5us, 1);  // no such rank
    std::vector<RankTiming> taken;
    std::uint64_t seen0 = 0, seen4 = 0, missed = 0;
    reader.take(0, seen0, missed, taken);
    reader.take(4, seen4, missed, taken);
    REQUIRE(taken.size() == 2);
    CHECK(taken[0].timing.kind == static_cast<std::uint16_t>(TimingKind::wait));
    CHECK(taken[0].timing.duration_us == 1500);
    CHECK(taken[0].timing.target == format::no_target);
    CHECK(taken[0].slot == 1);
    CHECK(taken[0].save == 7);
    CHECK(taken[1].slot == 2);
    CHECK(taken[1].save == 8);
    CHECK(taken[0].timing.flags == 0);
    CHECK(taken[0].timing.start_unix_ns + 1'000'000 >= before);
    CHECK(taken[1].timing.duration_us == 0);
    CHECK(taken[1].timing.kib == 2);
    CHECK(taken[1].timing.flags == 4);
    reader.take(0, seen0, missed, taken);
    CHECK(taken.size() == 2);
    CHECK(missed == 0);
}

TEST_CASE("saves that are not kept are counted, and push nothing out of a ring") {
    test::TempDirectory folder;
    auto rings = TimingRings::create(folder.path(), 2).value();
    const auto reader = TimingRings::open(folder.path(), false).value();
    put(rings, 1, 1);
    for (std::size_t i = 0; i < 3 * ring_timings; ++i) rings.count_unkept(1, 2us);
    rings.count_unkept(2, 1s);  // no such rank
    CHECK(reader.unkept(1).count == 3 * ring_timings);
    CHECK(reader.unkept(1).ns == 3 * ring_timings * 2000);
    CHECK(reader.unkept(0).count == 0);
    CHECK(reader.unkept(2).count == 0);
    std::vector<RankTiming> taken;
    std::uint64_t seen = 0, missed = 0;
    reader.take(1, seen, missed, taken);
    CHECK(taken.size() == 1);
    CHECK(missed == 0);
}

TEST_CASE("the next agent knows which saves the batches contain") {
    test::TempDirectory folder;
    auto rings = TimingRings::create(folder.path(), 2).value();
    rings.count_unkept(1, 3ms);
    {
        // The first agent of a session begins late.
        auto agent = TimingRings::open(folder.path(), true).value();
        CHECK(agent.reported().count == 0);
        agent.set_reported(agent.unkept(1));
    }
    rings.count_unkept(1, 3ms);
    const auto next = TimingRings::open(folder.path(), true).value();
    CHECK(next.reported().count == 1);
    CHECK(next.reported().ns == 3'000'000);
    CHECK(next.unkept(1).count == 2);
}

TEST_CASE("what a full ring has overwritten is counted") {
    test::TempDirectory folder;
    auto rings = TimingRings::create(folder.path(), 1).value();
    for (std::uint64_t i = 1; i <= ring_timings + 10; ++i) put(rings, 0, i);
    std::vector<RankTiming> taken;
    std::uint64_t seen = 0, missed = 0;
    rings.take(0, seen, missed, taken);
    CHECK(missed == 10);
    REQUIRE(taken.size() == ring_timings);
    CHECK(taken.front().timing.kib == 11);
    CHECK(taken.back().timing.kib == ring_timings + 10);
}

TEST_CASE("a reader beside a writer sees whole timings alone, and all are taken or counted") {
    test::TempDirectory folder;
    auto rings = TimingRings::create(folder.path(), 1).value();
    constexpr std::uint64_t each = 200'000;
    std::atomic<bool> writing = true;
    std::thread writer([&] {
        for (std::uint64_t n = 1; n <= each; ++n) put(rings, 0, n);
        writing = false;
    });
    std::vector<RankTiming> taken;
    std::uint64_t seen = 0, missed = 0, wrong = 0, count = 0;
    const auto look = [&] {
        taken.clear();
        rings.take(0, seen, missed, taken);
        for (const auto& [timing, save, slot] : taken)
            wrong += timing.kib != timing.duration_us || save != timing.kib || slot != 3 ? 1 : 0;
        count += taken.size();
    };
    while (writing.load()) look();
    writer.join();
    look();
    CHECK(wrong == 0);
    CHECK(count + missed == each);
    CHECK(count > 0);
}

TEST_CASE("a file that holds no rings is refused") {
    test::TempDirectory folder;
    CHECK(TimingRings::open(folder.path(), false).error().kind == ErrorKind::missing);
    CHECK_FALSE(TimingRings::create(folder.path(), 0).has_value());
    {
        auto mapping = sys::Mapping::create(folder.path() + "/timings", 4096).value();
        CHECK(TimingRings::open(folder.path(), false).error().kind == ErrorKind::corrupt);
    }
}
