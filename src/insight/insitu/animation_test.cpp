// Goal: other readers see the first frame as a PNG file. Chunks have the standard's order and numbers.
// tests/cli/movie_test.py reads all frames with other programs.
// Method: frames of different sizes, with few and many colours; libpng reads the file, and the test walks over its
// chunks.

#include "insight/insitu/animation.hpp"

#include <doctest/doctest.h>

#include <random>
#include <string>

using namespace forebay;
using namespace forebay::insitu;

namespace {

std::vector<Photo> frames_of(std::size_t colours, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> palette(3 * colours);
    for (auto& value : palette) value = static_cast<std::uint8_t>(random());
    std::vector<Photo> frames;
    for (std::uint32_t i = 0; i < 5; ++i) {
        Photo photo{.width = 40 + i % 3, .height = 30 - i % 2, .pixels = {}};
        for (std::uint32_t pixel = 0; pixel < photo.width * photo.height; ++pixel) {
            const auto colour = 3 * (random() % colours);
            for (std::size_t part = 0; part < 3; ++part) photo.pixels.push_back(palette[colour + part]);
        }
        frames.push_back(photo);
    }
    return frames;
}

std::vector<std::byte> animated(const std::vector<Photo>& frames, FrameNeeds& needs) {
    for (const auto& frame : frames) needs.take(frame);
    Animation animation(needs, static_cast<std::uint32_t>(frames.size()), 40);
    std::vector<std::byte> file;
    for (const auto& frame : frames) {
        const auto bytes = animation.add(frame).value();
        file.insert(file.end(), bytes.begin(), bytes.end());
    }
    return file;
}

std::uint32_t number_at(const std::vector<std::byte>& bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<std::uint32_t>(bytes[at + i]);
    return number;
}

}  // namespace

TEST_CASE("the first frame is a PNG file, padded with white") {
    for (const std::size_t colours : {3, 200, 2000}) {
        CAPTURE(colours);
        const auto frames = frames_of(colours, colours);
        FrameNeeds needs;
        const auto file = animated(frames, needs);
        CHECK(needs.palette().empty() == (colours == 2000));
        const auto first = decode_png(file, "animation").value();
        CHECK(first.width == 42);
        CHECK(first.height == 30);
        CHECK(first.pixels == padded(frames[0], 42, 30).pixels);
        const std::vector<std::uint8_t> corner(first.pixels.end() - 6, first.pixels.end());
        CHECK(corner == std::vector<std::uint8_t>(6, 255));
    }
}

TEST_CASE("chunks are in their order") {
    FrameNeeds needs;
    const auto file = animated(frames_of(4, 1), needs);
    std::string types;
    std::uint32_t sequence = 0;
    for (std::size_t at = 8; at < file.size(); at += number_at(file, at) + 12) {
        const std::string type(reinterpret_cast<const char*>(file.data()) + at + 4, 4);
        types += type + " ";
        if (type == "fcTL" || type == "fdAT") CHECK(number_at(file, at + 8) == sequence++);
        if (type == "acTL") CHECK(number_at(file, at + 8) == 5);
    }
    CHECK(types == "IHDR PLTE tEXt acTL fcTL IDAT fcTL fdAT fcTL fdAT fcTL fdAT fcTL fdAT IEND ");
}

TEST_CASE("what is no picture is refused") {
    const std::vector<std::byte> text(100, std::byte{'x'});
    const auto none = decode_png(text, "plot.png");
    REQUIRE_FALSE(none);
    CHECK(none.error().kind == ErrorKind::corrupt);
    CHECK(none.error().what.starts_with("plot.png is not a readable picture: "));
    auto cut = encode_png(Photo{50, 50, std::vector<std::uint8_t>(7500, 9)}).value();
    cut.resize(cut.size() / 2);
    CHECK_FALSE(decode_png(cut, "cut.png"));
}
