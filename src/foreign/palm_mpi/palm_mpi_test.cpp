// Goal: the decoder of PALM's MPI-IO file takes what is whole, and whatever byte of the header changes, it refuses the
// file or gives contents that hold together.

#include <doctest/doctest.h>

#include "support/palm_files.hpp"

using namespace forebay;
using namespace forebay::foreign;

namespace {

Result<ForeignContents> open(std::span<const std::byte> bytes) {
    test::SpanFile file(bytes);
    return open_palm_mpi(file, "BINOUT", {});
}

// Everything that is promised of contents: a layout, and blocks that can be read.
bool holds_together(const ForeignContents& contents, std::span<const std::byte> bytes) {
    const auto layout = lay_out(contents, "restart");
    if (!layout) return layout.error().kind == ErrorKind::refused;
    test::SpanFile file(bytes);
    OriginReader reader;
    for (const auto& origin : contents.origins) {
        std::vector<std::byte> block(origin.bytes());
        if (!reader.read(file, origin, 0, block)) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("a whole file: grid, values and arrays") {
    const auto file = test::palm_mpi_file();
    const auto header = decode_palm_mpi(std::span(file).first(palm_mpi_header_bytes), file.size(), "BINOUT").value();
    CHECK(header.points_x == 4);
    CHECK(header.points_y == 3);
    CHECK(header.levels == 4);
    CHECK(header.ghost_layers == 0);
    CHECK(header.step == 9);
    CHECK(header.time == 12.5);
    REQUIRE(header.arrays.size() == 3);
    CHECK(header.arrays[2].name == "profile");
    CHECK(header.arrays[2].place == Range{131'072 + 8 * (48 + 12), 40});
    CHECK(header.texts.front().place == Range{9288, 5});
    const auto contents = open(file).value();
    CHECK(find(contents.schema, "u")->shape == Extents{3, 4, 4});
    CHECK(find(contents.schema, "profile")->shape == Extents{5});
    CHECK(contents.notes.size() == 1);
    CHECK(holds_together(contents, file));
}

TEST_CASE("two surfaces in each column have the size of three levels of soil; the counts tell them apart") {
    const auto shape_of_last = [](double first) {
        auto file = test::palm_mpi_file();
        file.resize(file.size() - 40);
        for (int column = 0; column < 12; ++column) test::append(file, std::vector{first, 280.5, 281.5});
        return find(open(file).value().schema, "profile")->shape;
    };
    CHECK(shape_of_last(2) == Extents{36});
    CHECK(shape_of_last(279.5) == Extents{3, 4, 3});
}

TEST_CASE("every byte of the header changed: refused, or still consistent") {
    const auto whole = test::palm_mpi_file();
    int refused = 0, accepted = 0;
    for (std::size_t at = 0; at < palm_mpi_header_bytes; ++at) {
        // Nobody reads beyond the used entries, which lie at the beginning of each table; what is blank is passed fast.
        if (whole[at] == std::byte{' '} && at % 61 != 0) continue;
        for (const auto change : {0x01, 0x10, 0x80, 0xff}) {
            auto file = whole;
            file[at] ^= static_cast<std::byte>(change);
            const auto contents = open(file);
            CAPTURE(at);
            CAPTURE(change);
            if (contents) {
                ++accepted;
                CHECK(holds_together(*contents, file));
            } else {
                ++refused;
                CHECK((contents.error().kind == ErrorKind::corrupt || contents.error().kind == ErrorKind::refused));
                CHECK(contents.error().text().find("BINOUT") != std::string::npos);
            }
        }
    }
    CHECK(refused > 300);
    CHECK(accepted > 300);
}

TEST_CASE("a file cut anywhere in the header, or before its last array, is refused") {
    const auto whole = test::palm_mpi_file();
    for (std::size_t size = 0; size <= whole.size() - 40; size += size < palm_mpi_arrays_begin ? 509 : 1) {
        CAPTURE(size);
        CHECK_FALSE(open(std::span(whole).first(size)).has_value());
    }
}

TEST_CASE("contradictions are told with their place") {
    const auto told = [](auto&& change) {
        auto file = test::palm_mpi_file();
        change(file);
        const auto contents = open(file);
        return contents ? std::string() : contents.error().text();
    };
    const auto put = [](std::vector<std::byte>& file, std::size_t at, auto value) {
        std::memcpy(file.data() + at, &value, sizeof value);
    };
    CHECK(told([&](auto& file) { put(file, 8, 601); }).find("601 arrays; PALM has at most 600") != std::string::npos);
    CHECK(told([&](auto& file) { put(file, 12, -1); }).find("-1 texts") != std::string::npos);
    CHECK(told([&](auto& file) { put(file, 4, 2); }).find("flag of outer ghost layers is 2") != std::string::npos);
    CHECK(told([&](auto& file) { put(file, 4, 1); }).find("with outer ghost layers") != std::string::npos);
    CHECK(told([&](auto& file) { put(file, 32, 6); }).find("6 x 3 points are stored of a grid of 4 x 3") !=
          std::string::npos);
    CHECK(told([&](auto& file) { put(file, 40, 'm'); }).find("integer 1 is not nx") != std::string::npos);
    CHECK(told([&](auto& file) { put(file, 8232, -3); }).find("nx is -3") != std::string::npos);
    CHECK(told([&](auto& file) { put(file, 9288, '\n'); }).find("'runname' has control characters") !=
          std::string::npos);
    CHECK(told([&](auto& file) { put(file, 55'080, std::int64_t{131'071}); }).find("at byte 55080") !=
          std::string::npos);
    CHECK(told([&](auto& file) { put(file, 55'080, std::int64_t{131'080}); }).find("the first array begins there") !=
          std::string::npos);
    CHECK(told([&](auto& file) { put(file, 55'088, std::int64_t{131'072}); }).find("'u' and 'zs' begin there") !=
          std::string::npos);
}
