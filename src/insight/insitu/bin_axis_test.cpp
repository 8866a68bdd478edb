// Goal: every value counts in the bin between its edges, for given and found ranges. A found range gives the same edges
// and counts in any order and from any parts.
// Method: seeded values of many ranges, with NaN, infinities, zeros and the least doubles, against a search in the
// histogram's edges; shuffled, cut and merged; parts cut short or with changed bits.

#include "insight/insitu/bin_axis.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/splitmix.hpp"
#include "insight/insitu/histogram.hpp"
#include "insight/insitu/histogram_2d.hpp"
#include "support/refused.hpp"
#include "support/wished_number.hpp"

namespace forebay::insitu {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Analysis bins_of(int bins, bool log, double low = NAN, double high = NAN) {
    Analysis analysis;
    analysis.name = "bins";
    analysis.bins = bins;
    analysis.log = log;
    analysis.low = low;
    analysis.high = high;
    return analysis;
}

Histogram histogram_of(const Analysis& analysis) {
    return Histogram(BinAxis::of(analysis, Histogram::cells_a_bin).value());
}

void add_all(Histogram& histogram, std::span<const double> values) {
    for (; !values.empty(); values = values.subspan(std::min<std::size_t>(values.size(), 100)))
        histogram.add(values.first(std::min<std::size_t>(values.size(), 100)));
}

std::vector<std::byte> bytes_of(const Histogram& histogram) {
    PartWriter part;
    histogram.write(part);
    return std::move(part).take();
}

Result<> read(Histogram& histogram, std::span<const std::byte> bytes) {
    PartReader part(bytes, "a histogram");
    if (auto read = histogram.read(part); !read) return read;
    return part.done();
}

std::vector<double> doubles(const std::string& kind, std::size_t count, std::uint64_t seed) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto random = splitmix(seed, i);
        const auto fraction = static_cast<double>(random >> 11) * 0x1p-53;
        if (kind == "around 0") values[i] = 2 * fraction - 1;
        if (kind == "narrow") values[i] = 300 + fraction;
        if (kind == "integers") values[i] = static_cast<double>(random % 40) - 7;
        if (kind == "wide") values[i] = std::ldexp(fraction, static_cast<int>(random % 80) - 40);
        if (kind == "any bits") values[i] = std::bit_cast<double>(random);
        if (kind == "least") values[i] = std::bit_cast<double>(random & 0x800FFFFFFFFFFFFFull);
        if (kind == "growing") values[i] = std::ldexp(static_cast<double>(i), static_cast<int>(i / 40));
        if (kind == "same") values[i] = 0.1;
        if (kind == "zeros") values[i] = (random & 1) != 0 ? 0.0 : -0.0;
    }
    return values;
}

constexpr const char* kinds[] = {"around 0", "narrow",  "integers", "wide", "any bits",
                                 "least",    "growing", "same",     "zeros"};

/// Counts from the edges only. The last edge belongs to the last bin if the range is given.
void check_counts(const Histogram& histogram, const std::vector<double>& values, const Analysis& analysis) {
    const auto edges = histogram.axis().edges();
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(analysis.bins));
    std::uint64_t below = 0, above = 0, nan = 0;
    const bool given = !std::isnan(analysis.low);
    for (const double value : values) {
        if (std::isnan(value)) ++nan;
        else if (std::isnan(edges[0]) || std::isinf(value)) ++(value > 0 ? above : below);
        else if (value < edges.front() || (analysis.log && value <= 0)) ++below;
        else if (value > edges.back()) ++above;
        else if (given && value == edges.back()) ++counts.back();
        else
            ++counts[static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), value) - edges.begin() - 1)];
    }
    REQUIRE(histogram.bins() == counts);
    REQUIRE(histogram.below() == below);
    REQUIRE(histogram.above() == above);
    REQUIRE(histogram.nan() == nan);
}

TEST_CASE("values lie between the edges of their bins") {
    const auto seed = test::wished_number("FOREBAY_SEED", 31);
    CAPTURE(seed);
    const Analysis given[] = {bins_of(100, false, -1, 1),    bins_of(7, false, 0, 0.7),  bins_of(40, false, -7, 33),
                              bins_of(256, true, 1e-6, 1e6), bins_of(3, true, 299, 301), bins_of(1, false, 0, 1e300),
                              bins_of(5000, true, 1, 2)};
    for (const std::string kind : kinds)
        for (const auto& analysis : given) {
            CAPTURE(kind);
            CAPTURE(analysis.bins);
            auto histogram = histogram_of(analysis);
            auto values = doubles(kind, 3000, seed);
            for (const double edge : histogram.axis().edges())
                for (const double value : {edge, std::nextafter(edge, -infinity), std::nextafter(edge, infinity)})
                    values.push_back(value);
            add_all(histogram, values);
            check_counts(histogram, values, analysis);
        }
}

TEST_CASE("a range is found, and the same in any order and by any parts") {
    const auto seed = test::wished_number("FOREBAY_SEED", 32);
    CAPTURE(seed);
    for (const std::string kind : kinds)
        for (const int bins : {1, 2, 10, 256})
            for (const bool log : {false, true}) {
                CAPTURE(kind);
                CAPTURE(bins);
                CAPTURE(log);
                const auto analysis = bins_of(bins, log);
                auto values = doubles(kind, 2000, seed);
                values.insert(values.end(), {NAN, infinity, -infinity, NAN});
                auto whole = histogram_of(analysis);
                add_all(whole, values);
                check_counts(whole, values, analysis);
                const auto bytes = bytes_of(whole);
                for (std::uint64_t times = 0; times < 3; ++times) {
                    for (std::size_t i = values.size() - 1; i > 0; --i)
                        std::swap(values[i], values[splitmix(seed + times, i) % (i + 1)]);
                    auto merged = histogram_of(analysis);
                    for (std::size_t at = 0; at < values.size();) {
                        const auto count = std::min<std::size_t>(values.size() - at, splitmix(seed + times, at) % 700);
                        auto part = histogram_of(analysis), copy = histogram_of(analysis);
                        add_all(part, std::span(values).subspan(at, count));
                        REQUIRE(read(copy, bytes_of(part)));
                        merged.merge(copy);
                        at += count;
                    }
                    REQUIRE(bytes_of(merged) == bytes);
                }
            }
}

TEST_CASE("most bins of a range that is found lie where values are") {
    for (const int bins : {10, 256, 1000}) {
        auto histogram = histogram_of(bins_of(bins, false));
        std::vector<double> values(4000);
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) * 0.37 - 200;
        for (std::size_t i = 0; i < values.size(); i += 100) histogram.add(std::span(values).subspan(i, 100));
        const auto edges = histogram.axis().edges();
        const auto used = std::upper_bound(edges.begin(), edges.end(), values.back()) - edges.begin();
        CHECK(used >= bins * 2 / 3);
        CHECK(edges.front() <= values.front());
        CHECK(edges.back() > values.back());
    }
}

TEST_CASE("nothing, and nothing that has a place") {
    auto histogram = histogram_of(bins_of(4, true));
    CHECK(histogram.bins() == std::vector<std::uint64_t>(4));
    CHECK(std::isnan(histogram.axis().edges()[0]));
    histogram.add(std::vector<double>{-1, 0, NAN, infinity});
    CHECK(histogram.bins() == std::vector<std::uint64_t>(4));
    CHECK(histogram.below() == 2);
    CHECK(histogram.above() == 1);
    CHECK(histogram.nan() == 1);
}

TEST_CASE("ranges that are none are refused") {
    const auto of = [](const Analysis& analysis) { return BinAxis::of(analysis, 1); };
    test::check_refused(of(bins_of(0, false)), {"bins"});
    test::check_refused(of(bins_of(BinAxis::bins_max + 1, false)), {"bins"});
    test::check_refused(of(bins_of(4, false, 1, 1)), {"low"});
    test::check_refused(of(bins_of(4, false, 1)), {"both"});
    test::check_refused(of(bins_of(4, false, 1, infinity)), {"both"});
    test::check_refused(of(bins_of(4, true, 0, 1)), {"above 0"});
    test::check_refused(of(bins_of(9, false, 1e16, 1e16 + 8)), {"too close"});
    test::check_refused(of(bins_of(4, false, -1.7e308, 1.7e308)), {"low"});
}

TEST_CASE("parts that are cut short or damaged are refused, or can be used") {
    for (const bool log : {false, true}) {
        const auto analysis = bins_of(3, log);
        auto whole = histogram_of(analysis);
        add_all(whole, doubles("wide", 200, 33));
        const auto bytes = bytes_of(whole);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            auto other = histogram_of(analysis);
            REQUIRE_FALSE(read(other, std::span(bytes).first(size)));
        }
        for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
            auto damaged = bytes;
            damaged[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
            auto other = histogram_of(analysis), sum = histogram_of(analysis);
            add_all(sum, doubles("narrow", 10, 34));
            const bool is_read = static_cast<bool>(read(other, damaged));
            if (is_read) sum.merge(other);
            const auto at = bit / 8;  // in the range every bit matters
            REQUIRE((!is_read || (at >= 17 && at < 33)));
        }
        auto others = histogram_of(bins_of(4, log));
        REQUIRE_FALSE(read(others, bytes));
    }
}

TEST_CASE("pairs") {
    const auto analysis = bins_of(9, false);
    const auto axis = BinAxis::of(analysis, Histogram2d::cells_a_bin).value();
    auto x = doubles("around 0", 4000, 35), y = doubles("integers", 4000, 36);
    x[7] = NAN;
    y[9] = infinity;
    Histogram2d whole(axis, axis);
    whole.add(std::span(x).first(2000), std::span(y).first(2000));
    whole.add(std::span(x).last(2000), std::span(y).last(2000));
    const auto x_edges = whole.x().edges(), y_edges = whole.y().edges();
    std::vector<std::uint64_t> counts(81);
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (i == 7 || i == 9) continue;
        const auto row = std::upper_bound(x_edges.begin(), x_edges.end(), x[i]) - x_edges.begin() - 1;
        const auto column = std::upper_bound(y_edges.begin(), y_edges.end(), y[i]) - y_edges.begin() - 1;
        ++counts[static_cast<std::size_t>(row * 9 + column)];
    }
    CHECK(whole.bins() == counts);
    CHECK(whole.outside() == 2);
    Histogram2d merged(axis, axis);
    for (std::size_t at = 4000; at > 0; at -= 40) {
        Histogram2d part(axis, axis), copy(axis, axis);
        part.add(std::span(x).subspan(at - 40, 40), std::span(y).subspan(at - 40, 40));
        PartWriter writer;
        part.write(writer);
        const auto bytes = std::move(writer).take();
        PartReader reader(bytes, "pairs");
        REQUIRE(copy.read(reader));
        REQUIRE(reader.done());
        const auto short_bytes = std::span(bytes).first(bytes.size() - 1);
        PartReader cut(short_bytes, "pairs");
        Histogram2d other(axis, axis);
        REQUIRE_FALSE((other.read(cut) && cut.done()));
        merged.merge(copy);
    }
    CHECK(merged.bins() == counts);
    CHECK(merged.outside() == 2);
    CHECK(merged.x().edges() == x_edges);
    CHECK(merged.y().edges() == y_edges);
}

}  // namespace
}  // namespace forebay::insitu
