// Goal: a binned sum has the same bits for any order of values on any number of nodes, keeps its header's error bound,
// and keeps values that are not finite.
// Method: random values over wide ranges, shuffled and distributed; whole numbers with a known sum; the bound against
// long double; cut or changed parts.

#include "insight/insitu/operators/binned_sums.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <span>

using namespace forebay::insitu;

namespace {

std::vector<double> wide_values(std::size_t count, int exponents, std::mt19937_64& random) {
    std::vector<double> values(count);
    for (auto& value : values) {
        const int exponent = static_cast<int>(random() % static_cast<std::uint64_t>(2 * exponents + 1)) - exponents;
        value = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-63, exponent);
        if (random() % 20 == 0) value = 0;
    }
    return values;
}

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

}  // namespace

TEST_CASE("order and nodes do not change a bit") {
    std::mt19937_64 random(11);
    for (int round = 0; round < 300; ++round) {
        const int bins = 2 + round % 2;
        auto values = wide_values(1 + random() % 300, round % 5 == 0 ? 900 : 1 + round % 120, random);
        if (round % 7 == 0) values.push_back(values.front() == 0 ? 1 : -values.front());
        BinnedSums all(1, bins);
        all.add_all(0, values);
        const auto expected = bits_of(all.value(0));
        for (int order = 0; order < 6; ++order) {
            std::ranges::shuffle(values, random);
            const auto nodes = 1 + random() % 7;
            std::vector<BinnedSums> parts(nodes, BinnedSums(3, bins));
            for (std::size_t done = 0; done < values.size();) {
                const auto count = std::min<std::size_t>(values.size() - done, 1 + random() % 40);
                auto& node = parts[random() % nodes];
                const auto batch = std::span(values).subspan(done, count);
                if (random() % 2 == 0) node.add_all(1, batch);
                else
                    for (const double& value : batch) node.add_each(1, {&value, 1});
                done += count;
            }
            BinnedSums sum(2, bins);
            for (const auto& part : parts) sum.add_sum(1, part, 1);
            CAPTURE(round);
            CHECK(bits_of(sum.value(1)) == expected);
            CHECK(sum.value(0) == 0);
        }
    }
}

TEST_CASE("many sums at once are each of them alone") {
    std::mt19937_64 random(12);
    for (const int bins : {2, 3}) {
        constexpr std::size_t width = 700;
        BinnedSums rows(width + 5, bins), spaced(width, bins);
        std::vector<BinnedSums> alone(width, BinnedSums(1, bins));
        for (int row = 0; row < 40; ++row) {
            const auto values = wide_values(width, row < 20 ? 3 : 200, random);
            rows.add_each(5, values);
            std::vector<double> wide(3 * width - 2, 7);  // every third value counts
            for (std::size_t i = 0; i < width; ++i) wide[3 * i] = values[i];
            spaced.add_each(0, wide, 3);
            for (std::size_t i = 0; i < width; ++i) alone[i].add_all(0, {&values[i], 1});
        }
        for (std::size_t i = 0; i < width; ++i) {
            CHECK(bits_of(rows.value(5 + i)) == bits_of(alone[i].value(0)));
            CHECK(bits_of(spaced.value(i)) == bits_of(alone[i].value(0)));
        }
        CHECK(rows.value(4) == 0);
    }
}

TEST_CASE("errors are within the bound, and whole numbers have none") {
    std::mt19937_64 random(13);
    for (int round = 0; round < 200; ++round) {
        const int bins = 2 + round % 2;
        const auto values = wide_values(1 + random() % 400, 30, random);
        BinnedSums sum(1, bins);
        sum.add_all(0, values);
        long double expected = 0;
        double largest = 0;
        for (const double value : values) {
            expected += value;
            largest = std::max(largest, std::abs(value));
        }
        const double bound = static_cast<double>(values.size()) * largest * (bins == 2 ? 0x1p-32 : 0x1p-52);
        CHECK(std::abs(static_cast<double>(sum.value(0) - expected)) <= bound);
    }
    BinnedSums whole(1, 2);
    std::int64_t expected = 0;
    std::vector<double> numbers;
    for (int i = 0; i < 100'000; ++i) {
        const auto number = static_cast<std::int64_t>(random() >> 32) - (std::int64_t{1} << (random() % 31));
        numbers.push_back(static_cast<double>(std::clamp<std::int64_t>(number, -2147483648ll, 4294967295ll)));
        expected += static_cast<std::int64_t>(numbers.back());
    }
    whole.add_all(0, numbers);
    CHECK(static_cast<std::int64_t>(whole.value(0)) == expected);
    BinnedSums cancelled(1, 3);
    const std::vector<double> pair{1e17, 1.0, -1e17};
    cancelled.add_all(0, pair);
    CHECK(cancelled.value(0) == 1.0);
}

TEST_CASE("what is not finite stays, whatever comes after it") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto sum_of = [](std::vector<double> values) {
        BinnedSums all(1, 3), each(1, 3), both(1, 3);
        all.add_all(0, values);
        for (const double& value : values) each.add_each(0, {&value, 1});
        both.add_sum(0, each, 0);
        CHECK(bits_of(all.value(0)) == bits_of(both.value(0)));
        return all.value(0);
    };
    CHECK(sum_of({1, infinity, 2}) == infinity);
    CHECK(sum_of({-infinity, 2}) == -infinity);
    CHECK(std::isnan(sum_of({infinity, -infinity})));
    CHECK(std::isnan(sum_of({3, nan, infinity})));
    CHECK(sum_of({1e300}) == infinity);
    CHECK(sum_of({std::numeric_limits<double>::denorm_min(), 1}) == 1);
    CHECK(sum_of({0x1p-1000, 0x1p-1000}) == 0x1p-999);
}

TEST_CASE("a part is read back, and no other bytes are taken for one") {
    std::mt19937_64 random(14);
    BinnedSums sums(40, 2);
    sums.add_each(0, wide_values(40, 200, random));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    sums.add_each(7, {&nan, 1});
    PartWriter to;
    sums.write(to);
    const auto bytes = std::move(to).take();
    PartReader from(bytes, "sums");
    BinnedSums back(0, 2);
    REQUIRE(back.read(from, 40));
    REQUIRE(from.done());
    for (std::size_t i = 0; i < 40; ++i) CHECK(bits_of(back.value(i)) == bits_of(sums.value(i)));

    const auto is_read = [](const std::vector<std::byte>& part) {
        PartReader reader(part, "sums");
        BinnedSums into(0, 2);
        return into.read(reader, 40) && reader.done();
    };
    for (std::size_t length = 0; length < bytes.size(); ++length)
        CHECK_FALSE(is_read({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)}));
    auto odd = bytes;
    odd[8] = std::byte{100};  // an invalid level
    CHECK_FALSE(is_read(odd));
    odd = bytes;
    const double half_unit = 0x1p-500;
    std::memcpy(odd.data() + 8 + 40 + 8, &half_unit, sizeof half_unit);
    CHECK_FALSE(is_read(odd));
}
