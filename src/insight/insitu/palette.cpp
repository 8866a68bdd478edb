#include "insight/insitu/palette.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>

namespace forebay::insitu {

namespace {

/// A colour on a palette's path. Between two stations the path is straight in Oklab.
struct PaletteStation {
    double lightness, chroma, hue_degrees;
};

constexpr PaletteStation ember[] = {{0.05, 0.02, 290}, {0.22, 0.13, 296}, {0.40, 0.18, 338}, {0.58, 0.20, 22},
                                    {0.75, 0.17, 58},  {0.88, 0.16, 90},  {0.97, 0.07, 104}};
constexpr PaletteStation tide[] = {{0.20, 0.11, 272}, {0.38, 0.11, 242}, {0.54, 0.10, 195},
                                   {0.70, 0.15, 155}, {0.85, 0.17, 122}, {0.97, 0.08, 106}};
constexpr PaletteStation grey[] = {{0, 0, 0}, {1, 0, 0}};
constexpr PaletteStation balance[] = {{0.36, 0.15, 262}, {0.60, 0.15, 252}, {0.82, 0.07, 240}, {0.97, 0, 0},
                                      {0.82, 0.08, 38},  {0.60, 0.19, 28},  {0.36, 0.14, 24}};

std::span<const PaletteStation> stations_of(Palette palette) {
    switch (palette) {
        case Palette::tide: return tide;
        case Palette::grey: return grey;
        case Palette::balance: return balance;
        case Palette::ember: break;
    }
    return ember;
}

using Linear = std::array<double, 3>;  // red, green, blue before sRGB's curve

Linear linear_of(double lightness, double a, double b) {
    const auto cube = [](double x) { return x * x * x; };
    const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
    const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
    const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
            -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

std::uint8_t encoded(double linear) {
    const double part = std::clamp(linear, 0.0, 1.0);
    const double curved = part <= 0.0031308 ? 12.92 * part : 1.055 * std::pow(part, 1 / 2.4) - 0.055;
    return static_cast<std::uint8_t>(std::lround(255 * curved));
}

double decoded(std::uint8_t value) {
    const double part = value / 255.0;
    return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
}

/// The colour, with its chroma reduced until screens can show it. Lightness and hue stay.
Colour shown_colour(double lightness, double a, double b) {
    const auto fits = [&](double share) {
        const auto linear = linear_of(lightness, share * a, share * b);
        return std::ranges::all_of(linear, [](double part) { return part >= -1e-4 && part <= 1 + 1e-4; });
    };
    double share = 1;
    if (!fits(1)) {
        double too_much = 1;
        share = 0;
        // 16 halvings are finer than the 8 bits of a colour.
        for (int halving = 0; halving < 16; ++halving) {
            const double middle = (share + too_much) / 2;
            (fits(middle) ? share : too_much) = middle;
        }
    }
    const auto linear = linear_of(lightness, share * a, share * b);
    return {encoded(linear[0]), encoded(linear[1]), encoded(linear[2])};
}

Colour colour_between(const PaletteStation& before, const PaletteStation& after, double share) {
    const auto mixed = [&](double from, double to) { return from + share * (to - from); };
    const auto a_of = [](const PaletteStation& at) {
        return at.chroma * std::cos(at.hue_degrees * std::numbers::pi / 180);
    };
    const auto b_of = [](const PaletteStation& at) {
        return at.chroma * std::sin(at.hue_degrees * std::numbers::pi / 180);
    };
    return shown_colour(mixed(before.lightness, after.lightness), mixed(a_of(before), a_of(after)),
                        mixed(b_of(before), b_of(after)));
}

}  // namespace

std::vector<Colour> colours_of(Palette palette, std::size_t count) {
    const auto stations = stations_of(palette);
    // The path is measured in lightness, so its steps are even.
    std::vector<double> way{0};
    for (std::size_t i = 1; i < stations.size(); ++i)
        way.push_back(way.back() + std::abs(stations[i].lightness - stations[i - 1].lightness));

    std::vector<Colour> colours;
    colours.reserve(count);
    for (std::size_t i = 0, leg = 1; i < count; ++i) {
        const double at = way.back() * static_cast<double>(i) / static_cast<double>(count - 1);
        while (leg + 1 < way.size() && at > way[leg]) ++leg;
        const double share = (at - way[leg - 1]) / (way[leg] - way[leg - 1]);
        colours.push_back(colour_between(stations[leg - 1], stations[leg], share));
    }
    return colours;
}

double lightness_of(Colour colour) {
    const double red = decoded(colour.red), green = decoded(colour.green), blue = decoded(colour.blue);
    const double l = std::cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
    const double m = std::cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
    const double s = std::cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
    return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
}

}  // namespace forebay::insitu
