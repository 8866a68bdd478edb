// Goal: the decoder of PALM's MPI-IO file accepts whole files. After a change of any header byte it refuses the file or
// returns consistent contents.

#include <doctest/doctest.h>

#include <limits>

#include "support/palm_files.hpp"

using namespace forebay;
using namespace forebay::foreign;

namespace {

Result<ForeignContents> open(std::span<const std::byte> bytes) {
    test::SpanFile file(bytes);
    return open_palm_mpi(file, "BINOUT", {});
}

// Checks all promises about contents: a layout, and readable blocks.
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

TEST_CASE("surface data are told by the index planes before them, in runs") {
    const std::vector<std::int64_t> hilly{1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 1, 1}, flat(12, 2);
    for (const auto& counts : {hilly, flat})
        for (const int runs : {1, 3}) {
            CAPTURE(runs);
            test::PalmMpiImage image;
            test::add_surface(image, "surf%us", counts, runs);
            const auto file = image.bytes();
            const auto contents = open(file).value();
            CHECK(find(contents.schema, "surf%us_start_index")->type == i64);
            CHECK(find(contents.schema, "surf%us_end_index")->shape == Extents{3, 4});
            const auto* data = find(contents.schema, "surf%us");
            CHECK(data->type == f64);
            CHECK(data->shape == (runs == 1 ? Extents{24} : Extents{3, 24}));
            CHECK(std::get<std::string>(data->attributes.others.front().second) == "surf%us_start_index");
            CHECK(contents.notes.empty());
            CHECK(holds_together(contents, file));
        }
}

TEST_CASE("what only resembles surface data, or their index planes, is none") {
    // First the type of the planes, then the shape of the data.
    const auto refusal = [](auto&& change) {
        test::PalmMpiImage image;
        test::add_surface(image, "data", {1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 1, 1}, 2);
        const auto words = [&](std::size_t array) {
            return std::span(reinterpret_cast<double*>(image.arrays[array].second.data()),
                             image.arrays[array].second.size() / 8);
        };
        const auto indexes = [&](std::size_t array) {
            return std::span(reinterpret_cast<std::int64_t*>(image.arrays[array].second.data()), 12);
        };
        change(words(2), indexes(0), indexes(1));
        const auto contents = open(image.bytes()).value();
        return std::pair(find(contents.schema, "data_start_index")->type, find(contents.schema, "data")->shape);
    };
    const Extents levels{3, 4, 4};  // 48 elements over 3 x 4 points, also the size of a field
    const std::pair data_is_none(i64, levels), planes_are_none(f64, levels);
    CHECK(refusal([](auto, auto, auto) {}) == std::pair(i64, Extents{2, 24}));
    CHECK(refusal([](auto data, auto, auto) { data[0] = 2; }) == data_is_none);
    CHECK(refusal([](auto data, auto, auto) { data[24 + 1] = 1.5; }) == data_is_none);  // in the second run
    CHECK(refusal([](auto data, auto, auto) { data[23] = -1; }) == data_is_none);
    // Two columns swap their numbers of elements.
    CHECK(refusal([](auto data, auto, auto) {
              data[0] = 2;
              data[2] = 1;
          }) == data_is_none);
    CHECK(refusal([](auto, auto start, auto) { start[0] = 0; }) == planes_are_none);
    CHECK(refusal([](auto, auto start, auto) { start[5] += 1; }) == planes_are_none);
    CHECK(refusal([](auto, auto, auto end) { end[8] = std::numeric_limits<std::int64_t>::max(); }) == planes_are_none);
    // A gap between the columns of two x.
    CHECK(refusal([](auto, auto start, auto end) {
              for (const std::size_t place : {3, 7, 11}) {
                  start[place] += 5;
                  end[place] += 5;
              }
          }) == planes_are_none);
    // The last column is longer than its data.
    CHECK(refusal([](auto, auto, auto end) { end[11] += 1; }) == data_is_none);
}

TEST_CASE("PALM's own arrays are known by their names, whatever their sizes resemble") {
    test::PalmMpiImage image;
    image.array("time_domask", std::vector(6, 0.0));  // as long as a plane of i32
    image.array("hom", std::vector(2 * 4 * 3, 1.5));  // as two levels
    image.array("hom_sum", std::vector(4 * 3, 1.5));  // as a plane
    image.array("q_init", std::vector<std::int64_t>{808'402'640, 0, 0, 0});
    image.array("u_max_ijk", std::vector<std::int32_t>{1, 2, 3});
    image.array("id_random_array", std::vector(6, 0.5));  // 12 integers that look like floats
    image.array("prt_global_index", std::vector(48, 0.5));
    image.array("forcing", std::vector(6, 0.125));  // from a user's own module
    image.array("mask", std::vector<std::int32_t>(12, 1));
    image.array("s_av", std::vector<std::int64_t>(12, 0x7f0c'e3a0'1b60));  // unset memory
    image.array("m_soil_av", std::vector(24, 0.0));                        // two levels, as long as four of i32
    image.array("soil", std::vector(24, 283.0));
    image.array("particles", std::vector<std::int8_t>(21, 1));
    const auto file = image.bytes();
    const auto contents = open(file).value();
    const auto description = [&](const char* name) {
        const auto& variable = *find(contents.schema, name);
        std::string text = variable.kind == Kind::replicated ? "every " : "";
        text += name_of(variable.type);
        for (int dim = 0; dim < variable.shape.dims(); ++dim) text += " " + std::to_string(variable.shape[dim]);
        return text;
    };
    CHECK(description("time_domask") == "every f64 6");
    CHECK(description("hom") == "every f64 3 2 4");
    CHECK(description("hom_sum") == "every f64 3 4");
    CHECK(description("q_init") == "every f64 4");
    CHECK(description("u_max_ijk") == "every i32 3");
    CHECK(description("id_random_array") == "i32 3 4");
    CHECK(description("prt_global_index") == "i64 3 4 4");
    CHECK(description("forcing") == "f64 6");
    CHECK(description("mask") == "i32 3 4");
    CHECK(description("s_av") == "f64 3 4");
    CHECK(description("m_soil_av") == "f64 3 4 2");
    CHECK(description("soil") == "f64 3 4 2");
    CHECK(description("particles") == "u8 21");
    REQUIRE(contents.notes.size() == 2);
    CHECK(contents.notes[0].find("in one dimension: forcing.") != std::string::npos);
    CHECK(contents.notes[1].find("kept as bytes") != std::string::npos);
    CHECK(holds_together(contents, file));
}

TEST_CASE("of a name that comes again the first is kept, and another content under another name") {
    test::PalmMpiImage image;
    image.integers.insert(image.integers.end(), {{"nz", 2}, {"current_timestep_number", 10}, {"nz", 7}});
    image.reals.emplace_back("simulated_time", 13.5);
    image.texts.emplace_back("runname", "a b c");
    image.array("u", std::vector(12, 0.5));
    image.array("u", std::vector(12, 0.5));
    image.array("u", std::vector(12, 1.5));
    image.array("u~2", std::vector(12, 2.5));
    image.array("nz", std::vector(12, 3.5));  // in another list
    const auto file = image.bytes();
    const auto contents = open(file).value();
    CHECK(contents.step == 9);
    CHECK(contents.time == 12.5);
    test::SpanFile in(file);
    const auto first = [&](const char* name, auto value) {
        const auto at = find(contents.schema, name) - contents.schema.variables.data();
        OriginReader reader;
        reader.read(in, contents.origins[static_cast<std::size_t>(at)], 0, std::as_writable_bytes(std::span(&value, 1)))
            .value();
        return value;
    };
    CHECK(first("nz", 0) == 2);
    CHECK(first("nz~2", 0) == 7);
    CHECK(first("current_timestep_number~2", 0) == 10);
    CHECK(first("simulated_time~2", 0.0) == 13.5);
    CHECK(first("u", 0.0) == 0.5);
    CHECK(first("u~3", 0.0) == 1.5);
    CHECK(first("u~2", 0.0) == 2.5);
    CHECK(first("nz~3", 0.0) == 3.5);
    REQUIRE(contents.notes.size() == 2);
    CHECK(contents.notes[0].find("PALM reads the first") != std::string::npos);
    CHECK(contents.notes[0].find("'u' as 'u~3'") != std::string::npos);
    CHECK(contents.notes[1].find("kept once: nz, runname, u") != std::string::npos);
    CHECK(holds_together(contents, file));
}

TEST_CASE("a name that no snapshot can have is refused with the file") {
    test::PalmMpiImage image;
    image.array("a//b", std::vector(12, 0.5));
    const auto error = lay_out(open(image.bytes()).value(), "restart").error();
    CHECK(error.kind == ErrorKind::refused);
    CHECK(error.what.find("BINOUT: variable 'a//b' is refused") == 0);
    CHECK_FALSE(error.next.empty());
}

TEST_CASE("a run whose particles are all gone has an array of none") {
    test::PalmMpiImage image;
    image.array("u", std::vector(12, 0.5));
    image.array("particles", std::vector<double>());
    image.array("v", std::vector(12, 0.5));
    const auto contents = open(image.bytes()).value();
    CHECK(find(contents.schema, "particles") == nullptr);
    CHECK(contents.notes == std::vector<std::string>{"empty, so left out: particles"});
    image.arrays.pop_back();
    CHECK(open(image.bytes()).value().notes == contents.notes);  // at the end of the file
}

TEST_CASE("every byte of the header changed: refused, or still consistent") {
    const auto whole = test::palm_mpi_file();
    int refused = 0, accepted = 0;
    for (std::size_t at = 0; at < palm_mpi_header_bytes; ++at) {
        // Unused entries after the used entries are never read; most blanks are skipped for speed.
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
    const auto refusal = [](auto&& change) {
        auto file = test::palm_mpi_file();
        change(file);
        const auto contents = open(file);
        return contents ? std::string() : contents.error().text();
    };
    const auto put = [](std::vector<std::byte>& file, std::size_t at, auto value) {
        std::memcpy(file.data() + at, &value, sizeof value);
    };
    CHECK(refusal([&](auto& file) { put(file, 8, 601); }).find("601 arrays, but PALM has at most 600") !=
          std::string::npos);
    CHECK(refusal([&](auto& file) { put(file, 12, -1); }).find("-1 texts") != std::string::npos);
    CHECK(refusal([&](auto& file) { put(file, 4, 2); }).find("flag of outer ghost layers is 2") != std::string::npos);
    CHECK(refusal([&](auto& file) { put(file, 4, 1); }).find("with outer ghost layers") != std::string::npos);
    CHECK(refusal([&](auto& file) { put(file, 32, 6); }).find("6 x 3 points are stored of a grid of 4 x 3") !=
          std::string::npos);
    CHECK(refusal([&](auto& file) { put(file, 40, 'm'); }).find("integer 1 is not nx") != std::string::npos);
    CHECK(refusal([&](auto& file) { put(file, 8232, -3); }).find("nx is -3") != std::string::npos);
    CHECK(refusal([&](auto& file) { put(file, 9288, '\n'); }).find("'runname' has control characters") !=
          std::string::npos);
    CHECK(refusal([&](auto& file) { put(file, 55'080, std::int64_t{131'071}); }).find("at byte 55080") !=
          std::string::npos);
    CHECK(refusal([&](auto& file) {
              put(file, 55'096, std::int64_t{131'080});
          }).find("array 'profile' begins at byte 131080, before the earlier array 'zs'") != std::string::npos);
    CHECK(refusal([&](auto& file) { put(file, 55'080, std::int64_t{131'080}); }).find("the first array begins there") !=
          std::string::npos);
    CHECK(refusal([&](auto& file) {
              put(file, 55'088, std::int64_t{131'072});
          }).find("'u' begins there, and so does 'zs'") != std::string::npos);
}
