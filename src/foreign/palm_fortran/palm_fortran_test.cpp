// Goal: files of PALM's fortran_binary are put together to global arrays; a file cut at any byte, or with any byte of
// its marks, names and bounds changed, is refused or consistent.

#include <doctest/doctest.h>

#include "base/try.hpp"
#include "foreign/palm_fortran/shape.hpp"
#include "support/palm_files.hpp"

using namespace forebay;
using namespace forebay::foreign;

namespace {

Result<ForeignContents> open(std::span<const std::vector<std::byte>> files, const Choices& choices = {}) {
    std::vector<PalmProcess> processes;
    std::vector<std::string> names;
    for (const auto& bytes : files) {
        names.push_back("_" + std::to_string(names.size()));
        test::SpanFile file(bytes);
        FB_TRY_ASSIGN(process, decode_palm_process(file, names.back()));
        processes.push_back(std::move(process));
    }
    return combine_palm_processes(std::move(processes), names, choices, test::sample_of(files));
}

std::vector<std::vector<std::byte>> three() {
    return {test::palm_process(0, 3), test::palm_process(1, 3), test::palm_process(2, 3)};
}

}  // namespace

TEST_CASE("three processes make one array of three boxes, and a table of their rows") {
    const auto files = three();
    const auto contents = open(files).value();
    CHECK(contents.step == 4);
    CHECK(contents.time == 12.5);
    const auto* u = find(contents.schema, "u");
    REQUIRE(u != nullptr);
    CHECK(u->shape == Extents{6, 3, 4});
    CHECK(u->attributes.dimensions == std::vector<std::string>{"x", "y", "z"});
    CHECK(find(contents.schema, "zs")->shape == Extents{6, 3});
    CHECK(find(contents.schema, "flags")->type == i32);
    CHECK(find(contents.schema, "runname")->type == string_of(5));
    CHECK(find(contents.schema, "surf/value")->type == f64);
    CHECK(contents.parts[2].rows == std::vector<std::uint64_t>{7});
    const auto layout = lay_out(contents, "restart").value();
    CHECK(layout.ranks == std::vector<std::uint32_t>{0, 1, 2});
    test::SpanFile file(files[1]);
    OriginReader reader;
    for (std::size_t i = 0; i < layout.blocks.size(); ++i) {
        if (contents.schema.variables[layout.blocks[i].variable].name != "u" || layout.blocks[i].rank != 1) continue;
        CHECK(layout.blocks[i].box == Box{{2, 0, 0}, {2, 3, 4}});
        std::vector<double> values(2 * 3 * 4);
        reader.read(file, contents.origins[i], 0, std::as_writable_bytes(std::span(values))).value();
        CHECK(values == std::vector(2 * 3 * 4, 1.5));
    }
}

TEST_CASE("a file cut at any byte is refused") {
    auto files = three();
    const auto whole = files[1];
    for (std::size_t size = 0; size < whole.size(); ++size) {
        files[1].assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        CAPTURE(size);
        const auto contents = open(files);
        REQUIRE_FALSE(contents.has_value());
        CHECK(contents.error().kind == ErrorKind::corrupt);
        CHECK(contents.error().text().find("_1 ") != std::string::npos);
    }
}

TEST_CASE("any byte changed: refused, or contents that hold together") {
    auto files = three();
    const auto whole = files[1];
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (const auto change : {0x01, 0x10, 0x80, 0xff}) {
            files[1] = whole;
            files[1][at] ^= static_cast<std::byte>(change);
            CAPTURE(at);
            CAPTURE(change);
            const auto contents = open(files);
            if (!contents) {
                CHECK(contents.error().kind != ErrorKind::broken);
                continue;
            }
            const auto layout = lay_out(*contents, "restart");
            CHECK((layout || layout.error().kind == ErrorKind::refused));
        }
}

TEST_CASE("a record of several subrecords: their marks tell, and wrong ones are refused") {
    test::PalmProcessImage image;
    const auto part = [&](std::int32_t before, std::vector<std::int32_t> numbers, std::int32_t after) {
        test::append(image.bytes, std::vector{before});
        test::append(image.bytes, numbers);
        test::append(image.bytes, std::vector{after});
    };
    part(4, {7}, 4);
    part(-8, {1, 2}, 8);
    part(-8, {3, 4}, -8);
    part(4, {5}, -4);
    test::SpanFile file(image.bytes);
    auto reader = FortranReader::open(file, "BINOUT", 4).value();
    reader.next().value();
    const auto record = reader.next().value();
    CHECK(record.bytes == 20);
    CHECK(record.ranges.size() == 3);
    CHECK(reader.at_end());
    std::vector<std::int32_t> numbers(5);
    read_ranges(file, record.ranges, 0, std::as_writable_bytes(std::span(numbers))).value();
    CHECK(numbers == std::vector<std::int32_t>{1, 2, 3, 4, 5});
    std::vector<std::int32_t> across(2);
    read_ranges(file, record.ranges, 4, std::as_writable_bytes(std::span(across))).value();
    CHECK(across == std::vector<std::int32_t>{2, 3});

    const std::int32_t first = 8;  // as if nothing had come before
    std::memcpy(image.bytes.data() + 12 + 16 + 12, &first, sizeof first);
    auto again = FortranReader::open(file, "BINOUT", 4).value();
    again.next().value();
    CHECK(again.next().error().text().find("at byte 40 of 56: the mark after a record is 8, before it -8") !=
          std::string::npos);
}

TEST_CASE("the number of ghost layers is the one that most names have; of equals 3, then the smallest") {
    PalmProcess process;
    process.right = 1;
    process.north = 2;
    process.top = 2;
    const auto layers = [&](std::vector<std::uint64_t> around_of_each) {
        std::vector<FortranRecord> records;
        std::vector<PalmItem> items;
        records.reserve(around_of_each.size());
        for (const auto around : around_of_each) {
            records.push_back({.at = 0, .ranges = {}, .bytes = 8 * (2 + 2 * around) * (3 + 2 * around) * 4});
            items.push_back({"a", {&records.back()}});
        }
        return find_ghost_layers({&process, 1}, items);
    };
    CHECK(layers({3, 3, 1}) == 3);
    CHECK(layers({1, 3, 1}) == 1);
    CHECK(layers({5, 3}) == 3);
    CHECK(layers({5, 2}) == 2);
    CHECK(layers({0, 0, 3}) == 0);
}

TEST_CASE("marks of 8 bytes are told apart") {
    std::vector<std::byte> bytes;
    test::append(bytes, std::vector<std::int64_t>{4});
    test::append(bytes, std::vector<std::int32_t>{20});
    test::append(bytes, std::vector<std::int64_t>{4});
    test::SpanFile file(bytes);
    CHECK(FortranReader::open(file, "BINOUT", 4).error().kind == ErrorKind::unsupported);
}

TEST_CASE("a wish that the files cannot fulfil is refused") {
    const auto files = three();
    const auto told = [&](const std::string& text) {
        Choices choices;
        choices.wishes = wishes_of({text}).value();
        const auto contents = open(files, choices);
        return contents ? name_of(find(contents->schema, text.substr(0, text.find('=')))->type)
                        : contents.error().text();
    };
    CHECK(told("u=i64:box") == "i64");
    CHECK(told("simulated_time=u8") == "u8");
    CHECK(told("simulated_time=i32:2x1") == "i32");
    CHECK(told("simulated_time=i32:3").find("asks for something else") != std::string::npos);
    CHECK(told("simulated_time=f64:box").find("asks for something else") != std::string::npos);
    CHECK(told("surf=f64:box").find("does not have the size of a box of f64") != std::string::npos);
    CHECK(told("surf=c128:rows").find("are no whole number of c128") != std::string::npos);
    CHECK(told("u=f64:6x3x4").find("its shape follows from theirs") != std::string::npos);
    CHECK(told("w=f64").find("nothing of that name") != std::string::npos);
}
