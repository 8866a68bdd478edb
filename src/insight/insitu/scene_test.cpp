// Goal: a picture shows a plane: each value's colour in place, with axes and a bar. Equal planes give equal bytes. Any
// size, value and text can be drawn; invalid planes are refused.
// Method: PNG files decoded by libpng, colours against palette.hpp; planes of random sizes with unusual values.

#include "insight/insitu/scene.hpp"

#include <doctest/doctest.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <tuple>

#include "insight/insitu/colour_scale.hpp"
#include "insight/insitu/palette.hpp"
#include "insight/insitu/picture_words.hpp"

using namespace forebay;
using namespace forebay::insitu;

namespace {

constexpr Colour ink{24, 24, 24}, missing{168, 172, 176}, paper{255, 255, 255};

struct Decoded {
    int width = 0, height = 0;
    std::vector<std::uint8_t> bytes;
    Colour at(int x, int y) const {
        const auto* const pixel = bytes.data() + 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                                                      static_cast<std::size_t>(x));
        return {pixel[0], pixel[1], pixel[2]};
    }
    std::size_t count(Colour colour) const {
        std::size_t count = 0;
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) count += at(x, y) == colour;
        return count;
    }
};

Decoded decoded(const std::vector<std::byte>& png) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    REQUIRE(png_image_begin_read_from_memory(&image, png.data(), png.size()));
    image.format = PNG_FORMAT_RGB;
    Decoded picture{static_cast<int>(image.width), static_cast<int>(image.height), {}};
    picture.bytes.resize(PNG_IMAGE_SIZE(image));
    REQUIRE(png_image_finish_read(&image, nullptr, picture.bytes.data(), 0, nullptr));
    return picture;
}

Scene scene_of(std::vector<float> values, std::uint64_t width) {
    Scene scene;
    scene.width = width;
    scene.height = values.size() / width;
    scene.values = std::move(values);
    scene.x_high = static_cast<double>(width);
    scene.y_high = static_cast<double>(scene.height);
    return scene;
}

/// The plane's corner inside its frame, the leftmost frame.
std::pair<int, int> corner(const Decoded& picture) {
    for (int x = 0; x + 12 < picture.width; ++x) {
        for (int y = 0; y + 5 < picture.height; ++y) {
            bool is_frame = picture.at(x + 1, y + 1) != ink;
            for (int i = 0; is_frame && i < 12; ++i)
                is_frame = picture.at(x + i, y) == ink && (i >= 5 || picture.at(x, y + i) == ink);
            if (is_frame) return {x + 1, y + 1};
        }
    }
    return {-1, -1};
}

/// True if this build draws text and axes.
bool has_words() {
    const bool has_bar = ink_around({.plane_width = 64, .plane_height = 64}).value().bar_width > 0;
    if (!has_bar) MESSAGE("left out: this build has no Cairo");
    return has_bar;
}

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("values have their colours at their places") {
    auto scene = scene_of({0, 1, 2, not_a_number, infinity, -infinity}, 3);
    scene.pixels = 96;
    scene.palette = Palette::tide;
    const auto picture = decoded(draw_png(scene).value());
    const auto colours = colours_of(Palette::tide, 250);
    const auto [left, top] = corner(picture);
    REQUIRE(left > 0);
    const auto cell = [&, left = left, top = top](int column, int row) {
        return picture.at(left + 32 * column + 16, top + 32 * (1 - row) + 16);
    };
    CHECK(cell(0, 0) == colours.front());
    CHECK(cell(1, 0) == colours[125]);
    CHECK(cell(2, 0) == colours.back());
    CHECK(cell(0, 1) == missing);
    CHECK(cell(1, 1) == colours.back());
    CHECK(cell(2, 1) == colours.front());
    CHECK(picture.at(left + 32 * 3, top + 5) == ink);
    CHECK(picture.at(left + 10, top + 32 * 2) == ink);
    CHECK(picture.at(left, top) == missing);
    CHECK(picture.at(left + 95, top + 63) == colours.back());
    CHECK(picture.at(0, 0) == paper);
}

TEST_CASE("colours by the logarithm, and within limits") {
    auto scene = scene_of({1, 10, 100, 0, -5, 1000}, 6);
    scene.pixels = 60;
    scene.log = true;
    scene.high = 100;
    const auto picture = decoded(draw_png(scene).value());
    const auto colours = colours_of(Palette::ember, 250);
    const auto [left, top] = corner(picture);
    const auto cell = [&, left = left, top = top](int column) { return picture.at(left + 10 * column + 5, top + 2); };
    CHECK(cell(0) == colours.front());
    CHECK(cell(1) == colours[125]);
    CHECK(cell(2) == colours.back());
    CHECK(cell(3) == missing);
    CHECK(cell(4) == missing);
    CHECK(cell(5) == colours.back());
}

TEST_CASE("a palette that diverges has its middle at 0 unless a range is given") {
    auto scene = scene_of({-1, 0, 3}, 3);
    scene.pixels = 30;
    scene.palette = Palette::balance;
    const auto colours = colours_of(Palette::balance, 250);
    const auto cells_of = [&] {
        const auto picture = decoded(draw_png(scene).value());
        const auto [left, top] = corner(picture);
        std::vector<Colour> cells;
        for (int column = 0; column < 3; ++column) cells.push_back(picture.at(left + 10 * column + 5, top + 2));
        return cells;
    };
    // -3 to 3: a third of the way down from white, white, and the upper end.
    CHECK(cells_of() == std::vector{colours[83], colours[125], colours[249]});
    scene.low = -1;
    CHECK(cells_of() == std::vector{colours[0], colours[125], colours[249]});
    scene.high = 3;
    CHECK(cells_of() == std::vector{colours[0], colours[62], colours[249]});
    scene.low = scene.high = not_a_number;
    scene.palette = Palette::ember;
    CHECK(cells_of()[0] == colours_of(Palette::ember, 250)[0]);
    // All values 0, and an end on the wrong side of 0.
    CHECK(ColourScale::over(std::vector{0.0f}, not_a_number, not_a_number, false, true).value().high() == 1);
    CHECK(ColourScale::over(std::vector{2.0f, 5.0f}, 1, not_a_number, false, true).value().high() == 5);
}

TEST_CASE("a large plane has the means of its boxes") {
    std::vector<float> values(200 * 100);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 200 < 100 ? 0.0f : i % 2 == 0 ? 1.0f : 3.0f;
    values[0] = not_a_number;
    auto scene = scene_of(values, 200);
    scene.pixels = 100;
    const auto picture = decoded(draw_png(scene).value());
    const auto colours = colours_of(Palette::ember, 250);
    const auto [left, top] = corner(picture);
    CHECK(picture.at(left + 99, top + 25) == colours.back());
    CHECK(picture.at(left, top + 49) == colours.front());
    CHECK(picture.at(left + 100, top + 25) == ink);
    CHECK(picture.count(missing) == 0);
}

TEST_CASE("the bar has all colours, and texts are there") {
    if (!has_words()) return;
    auto scene = scene_of(std::vector<float>(64 * 64, 273.15f), 64);
    scene.pixels = 320;
    const auto bare = decoded(draw_png(scene).value());
    std::set<std::tuple<int, int, int>> shown;
    for (int y = 0; y < bare.height; ++y)
        for (int x = 0; x < bare.width; ++x) shown.insert({bare.at(x, y).red, bare.at(x, y).green, bare.at(x, y).blue});
    CHECK(shown.size() > 200);
    CHECK(bare.count(colours_of(Palette::ember, 250)[125]) >= 64 * 64 * 25);
    scene.title = "temperature   step 120   t = 3.5";
    scene.label = "temperature [K]";
    scene.x_label = "x";
    scene.y_label = "y";
    const auto full = decoded(draw_png(scene).value());
    const auto dark = [](const Decoded& picture) { return picture.count(ink) + picture.count({86, 86, 86}); };
    CHECK(dark(full) > dark(bare) + 100);
    CHECK(full.width > bare.width);
    CHECK(full.height > bare.height);
    CHECK(draw_png(scene).value() == draw_png(scene).value());
}

TEST_CASE("marks of the axes stand at their values") {
    if (!has_words()) return;
    auto scene = scene_of(std::vector<float>(64 * 64, 1.0f), 64);
    scene.pixels = 320;
    scene.x_low = -20;
    scene.x_high = 80;
    scene.y_high = 1e-7;
    const auto picture = decoded(draw_png(scene).value());
    const auto [left, top] = corner(picture);
    const auto places_of = [](double first, double step, int count) {
        std::vector<int> places;
        for (int i = 0; i < count; ++i) places.push_back(static_cast<int>(std::lround((first + step * i) * 319)));
        return places;
    };
    // Beyond the frame, three rows of marks come before the numbers.
    std::vector<int> columns, rows;
    for (int x = left; x < left + 320; ++x)
        if (picture.at(x, top + 322) == ink) columns.push_back(x - left);
    for (int y = top + 319; y >= top; --y)
        if (picture.at(left - 3, y) == ink) rows.push_back(top + 319 - y);
    CHECK(columns == places_of(0, 0.1, 11));
    CHECK(rows == places_of(0, 0.2, 6));
}

TEST_CASE("a text that does not fit is cut, and the picture stays as small") {
    if (!has_words()) return;
    auto scene = scene_of(std::vector<float>(64 * 64, 1.0f), 64);
    scene.pixels = 320;
    scene.title = "short";
    const auto usual = decoded(draw_png(scene).value());
    scene.title = std::string(5000, 'W');
    const auto longer = decoded(draw_png(scene).value());
    CHECK(longer.width > usual.width);
    CHECK(longer.width <= usual.width * 6 / 5 + 4);
    CHECK(longer.height == usual.height);
    for (int y = 0; y < longer.height; ++y) CHECK(longer.at(longer.width - 1, y) == paper);
}

TEST_CASE("anything is drawn") {
    std::mt19937_64 random(81);
    for (int round = 0; round < 60; ++round) {
        const auto width = 1 + random() % (random() % 4 == 0 ? 3000 : 60), height = 1 + random() % 60;
        std::vector<float> values(width * height);
        for (auto& value : values) {
            const auto bits = static_cast<std::uint32_t>(random());
            std::memcpy(&value, &bits, sizeof value);
            if (round % 3 == 0) value = round % 2 == 0 ? not_a_number : static_cast<float>(round);
        }
        auto scene = scene_of(values, width);
        scene.pixels = static_cast<int>(random() % 500) - 10;
        scene.log = round % 4 == 1;
        scene.palette = static_cast<Palette>(round % 4);
        for (auto* text : {&scene.title, &scene.label, &scene.x_label, &scene.y_label}) {
            text->resize(random() % 200);
            for (auto& letter : *text) letter = static_cast<char>(random());
        }
        scene.x_low = round % 5 == 0 ? not_a_number : scene.x_low;
        scene.y_high = round % 7 == 0 ? infinity : scene.y_high;
        const auto png = draw_png(scene);
        REQUIRE(png);
        const auto picture = decoded(*png);
        CHECK(picture.width < 2500);
        CHECK(picture.height < 1500);
        CHECK(corner(picture).first > 0);
    }
}

TEST_CASE("what is no plane or no range is refused") {
    const auto kind_of = [](const Scene& scene) {
        const auto png = draw_png(scene);
        return png ? ErrorKind::broken : png.error().kind;
    };
    CHECK(kind_of({}) == ErrorKind::refused);
    auto scene = scene_of({1, 2, 3, 4}, 2);
    scene.height = 3;
    CHECK(kind_of(scene) == ErrorKind::refused);
    scene.height = std::uint64_t{1} << 63;
    CHECK(kind_of(scene) == ErrorKind::refused);
    scene = scene_of({1, 2, 3, 4}, 2);
    scene.low = 2;
    scene.high = 2;
    CHECK(kind_of(scene) == ErrorKind::refused);
    scene.high = 3;
    CHECK(kind_of(scene) == ErrorKind::broken);
    scene.low = -1;
    scene.log = true;
    CHECK(kind_of(scene) == ErrorKind::refused);
}
