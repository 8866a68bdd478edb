// Goal: a PNG file has the canvas's pixels in their colours, and a refusal by libpng is an error.
// Method: decoding by libpng; impossible pictures, each followed by a good picture.

#include "insight/insitu/png.hpp"

#include <doctest/doctest.h>
#include <png.h>

#include <random>

using namespace forebay;
using namespace forebay::insitu;

TEST_CASE("pixels come back") {
    std::mt19937_64 random(91);
    for (int round = 0; round < 40; ++round) {
        const int width = 1 + static_cast<int>(random() % 90), height = 1 + static_cast<int>(random() % 40);
        std::vector<Colour> colours(1 + random() % 256);
        for (auto& colour : colours)
            colour = {static_cast<std::uint8_t>(random()), static_cast<std::uint8_t>(random()),
                      static_cast<std::uint8_t>(random())};
        Canvas canvas(width, height);
        for (int y = 0; y < height; ++y)
            for (auto& pixel : canvas.row(y)) pixel = static_cast<std::uint8_t>(random() % colours.size());
        const auto bytes = encode_png(canvas, colours).value();
        CHECK(bytes == encode_png(canvas, colours).value());
        CHECK(is_own_png({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));

        png_image image{};
        image.version = PNG_IMAGE_VERSION;
        REQUIRE(png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()));
        image.format = PNG_FORMAT_RGB;
        std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
        REQUIRE(static_cast<int>(image.width) == width);
        REQUIRE(static_cast<int>(image.height) == height);
        REQUIRE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr));
        std::size_t same = 0;
        for (std::size_t i = 0; i < canvas.pixels().size(); ++i) {
            const auto& colour = colours[canvas.pixels()[i]];
            same += Colour{pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]} == colour;
        }
        CHECK(same == canvas.pixels().size());
    }
}

TEST_CASE("what libpng refuses is an error") {
    const std::vector<Colour> two(2), many(257);
    for (int round = 0; round < 3; ++round) {
        const auto empty = encode_png(Canvas(0, 5), two);
        REQUIRE_FALSE(empty);
        CHECK(empty.error().kind == ErrorKind::broken);
        CHECK(empty.error().what.starts_with("libpng cannot write a picture: "));
        CHECK_FALSE(encode_png(Canvas(3, 3), many));
        CHECK(encode_png(Canvas(3, 3), two));
    }
}
