// Goal: each record of a rank belongs to its own save, in any order of records. Method: made records: late, missing,
// twice, shuffled. Every save is filled from its records and compared with the made values.

#include "path/agent/rank_records.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "support/made_chronicle.hpp"

using namespace forebay;
using agent::RankRecords;
using format::TimingKind;

namespace {

constexpr std::int64_t noon = 1'795'420'000'000'000'000, second = 1'000'000'000;

/// A save of a rank begins at noon + 10 s x number + rank ms and lasts (100 x number + rank) ms: 10 ms for the slot, 20
/// for the layout, 30 for the copy. The rest is waiting for ranks, before and after the copy.
double seconds_of(std::uint64_t number, std::uint32_t rank) { return 0.1 * static_cast<double>(number) + 0.001 * rank; }
std::int64_t begin_of(std::uint64_t number, std::uint32_t rank) {
    return noon + static_cast<std::int64_t>(number) * 10 * second + rank * 1'000'000;
}

std::vector<node::RankTiming> records_of(std::uint16_t slot, std::uint64_t number, std::uint32_t rank) {
    std::vector<node::RankTiming> records;
    const auto begin = begin_of(number, rank);
    const auto put = [&](TimingKind kind, double at, double seconds) {
        records.push_back(
            {test::made_timing(kind, begin + static_cast<std::int64_t>(at * 1e9), seconds, 0, rank), number, slot});
    };
    const double whole = seconds_of(number, rank);
    put(TimingKind::agree, 0, 0.005);
    put(TimingKind::wait, 0.005, 0.01);
    put(TimingKind::plan, 0.015, 0.02);
    put(TimingKind::copy, 0.035, 0.03);
    put(TimingKind::agree, 0.065, whole - 0.065);
    put(TimingKind::save, 0, whole);
    return records;
}

void add(RankRecords& to, std::uint16_t slot, std::uint64_t number, std::uint32_t rank) {
    for (const auto& record : records_of(slot, number, rank)) to.add(record);
}

void check_filled(const RankRecords& records, std::uint32_t slot, std::uint64_t number, std::uint32_t first,
                  std::uint32_t last) {
    CAPTURE(number);
    format::TimingBatch batch;
    records.fill({slot, number}, batch);
    const double longest = seconds_of(number, last);
    CHECK(batch.saved_unix_ns == begin_of(number, first));
    CHECK(batch.blocked_seconds == doctest::Approx(longest));
    CHECK(batch.wait_seconds == doctest::Approx(0.01));
    CHECK(batch.plan_seconds == doctest::Approx(0.02));
    CHECK(batch.copy_seconds == doctest::Approx(0.03));
    CHECK(batch.blocked_parts.slot_seconds == doctest::Approx(0.01));
    CHECK(batch.blocked_parts.ranks_seconds == doctest::Approx(longest - 0.06));
    CHECK(batch.blocked_parts.sum() == doctest::Approx(batch.blocked_seconds));
    CHECK(batch.timings.size() == 6 * (last - first + 1));
}

}  // namespace

TEST_CASE("a record that comes after its slot was used again belongs to its own save all the same") {
    RankRecords records;
    for (const std::uint32_t rank : {0u, 1u, 2u}) add(records, 3, 7, rank);
    for (const std::uint32_t rank : {0u, 2u}) add(records, 3, 8, rank);
    CHECK(records.ranks_of({3, 7}) == 3);
    CHECK(records.ranks_of({3, 8}) == 2);
    CHECK(records.ranks_of({2, 7}) == 0);  // from another stream
    check_filled(records, 3, 7, 0, 2);
    records.forget({3, 7});
    CHECK(records.ranks_of({3, 8}) == 2);
    add(records, 3, 8, 1);
    CHECK(records.ranks_of({3, 8}) == 3);
    check_filled(records, 3, 8, 0, 2);
}

TEST_CASE("what comes too late is of no save, and what comes twice counts once") {
    RankRecords records;
    for (const std::uint32_t rank : {0u, 1u}) add(records, 0, 4, rank);
    for (const std::uint32_t rank : {0u, 1u}) add(records, 0, 4, rank);
    CHECK(records.ranks_of({0, 4}) == 2);
    check_filled(records, 0, 4, 0, 1);
    records.forget({0, 4});
    add(records, 0, 4, 2);
    add(records, 0, 3, 2);
    CHECK(records.ranks_of({0, 4}) == 0);
    CHECK(records.ranks_of({0, 3}) == 0);
    format::TimingBatch batch;
    records.fill({0, 4}, batch);
    CHECK(batch.timings.empty());
    CHECK(batch.blocked_seconds == 0);
    CHECK(records.take_dropped() == 0);
}

TEST_CASE("saves that were replaced in their slot go with the one that was drained; other slots keep theirs") {
    RankRecords records;
    for (const std::uint64_t number : {5u, 6u, 7u, 8u}) add(records, 1, number, 0);
    add(records, 0, 6, 0);
    records.forget({1, 7});
    CHECK(records.ranks_of({1, 5}) == 0);
    CHECK(records.ranks_of({1, 7}) == 0);
    CHECK(records.ranks_of({1, 8}) == 1);
    CHECK(records.ranks_of({0, 6}) == 1);
}

TEST_CASE("in any order each record finds its save") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        std::vector<node::RankTiming> all;
        for (std::uint64_t number = 1; number <= 12; ++number)
            for (std::uint32_t rank = 0; rank < 5; ++rank)
                for (const auto& record : records_of(static_cast<std::uint16_t>(number % 2), number, rank))
                    all.push_back(record);
        std::ranges::shuffle(all, random);
        RankRecords records;
        for (const auto& record : all) records.add(record);
        for (std::uint64_t number = 1; number <= 12; ++number) {
            CHECK(records.ranks_of({static_cast<std::uint32_t>(number % 2), number}) == 5);
            check_filled(records, static_cast<std::uint32_t>(number % 2), number, 0, 4);
        }
    }
}

TEST_CASE("records have a bound, and what finds no room is counted") {
    RankRecords records;
    constexpr std::uint64_t saves = 20'000;
    for (std::uint64_t number = 1; number <= saves; ++number) add(records, 0, number, 0);
    const auto dropped = records.take_dropped();
    CHECK(dropped > 0);
    CHECK(dropped < 6 * saves);
    CHECK(records.take_dropped() == 0);
    records.forget({0, saves});
    add(records, 0, saves + 1, 0);
    CHECK(records.ranks_of({0, saves + 1}) == 1);
    CHECK(records.take_dropped() == 0);
}
