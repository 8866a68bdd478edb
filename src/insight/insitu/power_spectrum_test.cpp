// Goal: a spectrum equals its formula, for even and odd shapes and unequal lengths.
// Method: sums from the formula (every mode by a direct transform) against power_spectrum(); Parseval's theorem; fields
// of one wave, with all power in one shell; the same field again, to the bit. Random fields print their seed.

#include "insight/insitu/power_spectrum.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <numbers>

#include "core/base/splitmix.hpp"

using namespace forebay;
using namespace forebay::insitu;

namespace {

constexpr double two_pi = 2 * std::numbers::pi;

double random_number(std::uint64_t seed, std::uint64_t i) {
    return static_cast<double>(splitmix(seed, i) >> 11) * 0x1p-53 - 0.25;
}

// Calls visit(i, j, k, number in row-major order).
template <class Visit>
void for_each_cell(const Extents& shape, const Visit& visit) {
    std::uint64_t number = 0;
    for (std::uint64_t i = 0; i < shape[0]; ++i)
        for (std::uint64_t j = 0; j < shape[1]; ++j)
            for (std::uint64_t k = 0; k < shape[2]; ++k) visit(i, j, k, number++);
}

template <class Real, class Value>
SpectralGrid<Real> grid_of(const Extents& shape, const Value& value) {
    auto grid = SpectralGrid<Real>::make(shape).value();
    for_each_cell(shape, [&](auto i, auto j, auto k, auto) { grid.row(i, j)[k] = static_cast<Real>(value(i, j, k)); });
    return grid;
}

// Computes the header's formula mode by mode.
std::map<int, std::array<double, 3>> spectrum_by_formula(const Extents& shape, const std::vector<double>& field,
                                                         const Lengths& lengths) {
    const bool whole = lengths == Lengths{};
    const auto cells = static_cast<double>(field.size());
    double width = 0, cells_volume = 1;
    for (int dim = 0; dim < 3; ++dim) {
        const auto length = lengths[static_cast<std::size_t>(dim)];
        if (shape[dim] > 1) width = std::max(width, whole ? 1 : two_pi / length);
        if (!whole) cells_volume *= length;
    }
    std::map<int, std::array<double, 3>> shells;  // k, power, modes
    for_each_cell(shape, [&](auto a, auto b, auto c, auto) {
        const std::array<std::uint64_t, 3> mode{a, b, c};
        double square = 0;
        for (int dim = 0; dim < 3; ++dim) {
            const auto at = static_cast<std::size_t>(dim);
            const auto n = static_cast<double>(std::min(mode[at], shape[dim] - mode[at]));
            square += std::pow(whole ? n : two_pi * n / lengths[at], 2);
        }
        std::complex<double> sum;
        for_each_cell(shape, [&](auto i, auto j, auto k, auto number) {
            const auto turn = static_cast<double>(a * i % shape[0]) / static_cast<double>(shape[0]) +
                              static_cast<double>(b * j % shape[1]) / static_cast<double>(shape[1]) +
                              static_cast<double>(c * k % shape[2]) / static_cast<double>(shape[2]);
            sum += field[number] * std::polar(1.0, -two_pi * turn);
        });
        // Rounding must not decide on an edge: the lengths of the cases keep k away from shell edges.
        auto& [k, power, modes] = shells[static_cast<int>(std::sqrt(square) / (width > 0 ? width : 1) + 0.5 + 1e-9)];
        k += std::sqrt(square);
        power += std::norm(sum / cells) * cells_volume;
        modes += 1;
    });
    for (auto& [shell, values] : shells) values = {values[0] / values[2], values[1] / values[2], values[2]};
    return shells;
}

template <class Real>
void compare(const Extents& shape, const Lengths& lengths, double tolerance) {
    CAPTURE(shape[0]);
    CAPTURE(shape[1]);
    CAPTURE(shape[2]);
    const auto value = [&](auto i, auto j, auto k) {
        return static_cast<Real>(random_number(11, (i * 100 + j) * 100 + k));
    };
    std::vector<double> field;
    for_each_cell(shape, [&](auto i, auto j, auto k, auto) { field.push_back(static_cast<double>(value(i, j, k))); });
    auto grid = grid_of<Real>(shape, value);
    const auto shells = power_spectrum(grid, lengths).value();
    const auto expected = spectrum_by_formula(shape, field, lengths);
    REQUIRE(shells.k.size() == expected.size());
    REQUIRE(shells.power.size() == expected.size());
    double of_all = 0, squares = 0, volume = 1;
    for (const auto& [shell, values] : expected) {
        const auto s = static_cast<std::size_t>(shell);
        REQUIRE(s < shells.k.size());
        CHECK(shells.k[s] == doctest::Approx(values[0]).epsilon(1e-12));
        CHECK(shells.power[s] == doctest::Approx(values[1]).epsilon(tolerance));
        CHECK(static_cast<double>(shells.modes[s]) == values[2]);
        of_all += shells.power[s] * static_cast<double>(shells.modes[s]);
    }
    for (const auto number : field) squares += number * number;
    if (lengths != Lengths{}) volume = lengths[0] * lengths[1] * lengths[2];
    CHECK(of_all / volume == doctest::Approx(squares / static_cast<double>(field.size())).epsilon(tolerance));
}

}  // namespace

TEST_CASE("power_spectrum: shells hold what the formula gives, and Parseval's sum") {
    for (const auto& shape :
         {Extents{4, 4, 4}, Extents{5, 5, 5}, Extents{6, 4, 5}, Extents{3, 8, 7}, Extents{1, 5, 6}, Extents{4, 1, 1},
          Extents{1, 1, 9}, Extents{2, 2, 2}, Extents{1, 1, 1}, Extents{7, 2, 10}}) {
        compare<double>(shape, {}, 1e-11);
        compare<float>(shape, {}, 1e-4);
        compare<double>(shape, {10, 10, 10}, 1e-11);
        compare<double>(shape, {3, 17.3, 4.1}, 1e-11);
        compare<float>(shape, {3, 1.7, 0.41}, 1e-4);
    }
}

TEST_CASE("power_spectrum: a wave's power stands in its shell") {
    const Extents shape{16, 18, 20};
    // Waves of amplitude 3 on a mean of 2: two modes have (3/2)^2 each, and the mean has 2^2.
    const auto value = [&](auto i, auto j, auto k) {
        const auto turn =
            3.0 * static_cast<double>(i) / 16 + 2.0 * static_cast<double>(j) / 18 - 6.0 * static_cast<double>(k) / 20;
        return 2 + 3 * std::cos(two_pi * turn);
    };
    auto grid = grid_of<double>(shape, value);
    const auto shells = power_spectrum(grid, {}).value();
    CHECK(shells.nyquist == 8);
    for (std::size_t s = 0; s < shells.k.size(); ++s) {
        const auto sum = shells.power[s] * static_cast<double>(shells.modes[s]);
        CAPTURE(s);
        CHECK(sum == doctest::Approx(s == 0 ? 4.0 : s == 7 ? 4.5 : 0.0).epsilon(1e-12).scale(1));
    }
    auto same = grid_of<double>(shape, value);
    const auto in_units = power_spectrum(same, {32, 36, 40}).value();
    CHECK(in_units.power[0] == doctest::Approx(4.0 * 32 * 36 * 40));
    CHECK(in_units.k[1] < two_pi / 20);
    CHECK(in_units.nyquist == doctest::Approx(two_pi / 4));
}

TEST_CASE("power_spectrum: equal fields give equal bits") {
    const auto value = [](auto i, auto j, auto k) { return random_number(3, (i * 64 + j) * 64 + k); };
    const auto once = [&] {
        auto grid = grid_of<float>({24, 20, 22}, value);
        return power_spectrum(grid, {1, 2, 3}).value();
    };
    const auto first = once();
    auto between = grid_of<float>({24, 20, 22}, [](auto i, auto, auto) { return static_cast<double>(i); });
    CHECK(power_spectrum(between, {}));
    const auto again = once();
    CHECK(first.k == again.k);
    CHECK(first.power == again.power);
    CHECK(first.modes == again.modes);
}

TEST_CASE("power_spectrum: what cannot be transformed is refused") {
    CHECK(SpectralGrid<float>::make({4, 4}).error().kind == ErrorKind::refused);
    CHECK(SpectralGrid<float>::make({4, 0, 4}).error().kind == ErrorKind::refused);
    CHECK(SpectralGrid<float>::make({4, 4, 0}).error().kind == ErrorKind::refused);
    CHECK(SpectralGrid<double>::make({1ull << 31, 1, 1}).error().kind == ErrorKind::refused);
    CHECK(SpectralGrid<double>::make({1ull << 30, 1ull << 30, 1ull << 30}).error().kind == ErrorKind::refused);
    for (const auto bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        auto grid = grid_of<double>({4, 4, 4}, [&](auto i, auto j, auto k) { return i + j + k == 9 ? bad : 1.0; });
        CHECK(power_spectrum(grid, {}).error().kind == ErrorKind::refused);
    }
    auto huge = grid_of<float>({4, 4, 4}, [](auto i, auto, auto) { return i == 0 ? 3e38 : 3e38; });
    CHECK(power_spectrum(huge, {}).error().what.find("not finite") != std::string::npos);
}
