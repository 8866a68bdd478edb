// Goal: files of PALM's fortran_binary become global arrays. A file cut at any byte, or with any byte of its marks,
// names or bounds changed, is refused or consistent.

#include <doctest/doctest.h>

#include "core/base/try.hpp"
#include "insight/foreign/palm_fortran/shape.hpp"
#include "support/palm_files.hpp"
#include "support/sim_store.hpp"

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

// One of two processes in a row along x, as palm_process(), with repeated names and names with two records.
std::vector<std::byte> with_oddities(std::int32_t process) {
    test::PalmProcessImage image;
    if (process == 0) {
        image.item("current_timestep_number", std::vector<std::int32_t>{4});
        image.item("current_timestep_number", std::vector<std::int32_t>{5});
        image.item("passive_scalar", std::vector<std::int32_t>{1});
        image.item("passive_scalar", std::vector<std::int32_t>{1});
        image.item("q_init", std::vector<std::int64_t>{808'402'640, 0, 0, 0});
        image.item("u_max_ijk", std::vector<std::int32_t>{1, 2, 3, 4});
        image.item("hom", std::vector(3 * 2 * 4, 1.5));
        image.item("unset", std::vector<std::int64_t>{0x7f0c'e3a0'1b60});
        image.item("curvature_solution_effects", std::vector<std::int32_t>{1});
    }
    image.name("binary_version_local");
    image.text("22.04     ");
    image.record(std::vector<std::int32_t>{2, process, 2 * process, 2 * process + 1, 0, 2, 0, 2});
    image.item("e", std::vector(24, 0.5 + process));
    image.name("random_iv");
    image.record(std::vector<std::int32_t>{1, 2, 3, process});
    image.record(std::vector<std::int32_t>{4});  // as long as a name's length
    image.name("seq_random_array");
    image.record(std::vector<std::int32_t>(6, -7));
    image.record(std::vector<std::int32_t>(30, 8));
    image.item("e", std::vector(24, 0.5));  // differs from the first only in process 1
    image.item("s_av", std::vector(6, 0.5));
    image.item("s_av", std::vector(6, 0.5));
    image.item("surf%us", std::vector(24, 2.5));  // as long as a field
    image.item("surf%start_index", std::vector<std::int32_t>(6, 1));
    image.item("t_soil", std::vector(3, 283.0));     // as long as a plane of i32
    image.item("somebodys", std::vector(3, 283.0));  // also that long
    image.item("mask", std::vector<std::int32_t>(6, 1));
    image.item("m_soil_av", std::vector(12, 0.0));  // two levels, as long as four of i32
    image.item("soil", std::vector(12, 283.0));
    image.name("*** end ***");
    return std::move(image.bytes);
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

TEST_CASE("names that come again, names with two records, and names that say more than sizes") {
    const std::vector files{with_oddities(0), with_oddities(1)};
    const auto contents = open(files).value();
    const auto description = [&](const char* name) {
        const auto* variable = find(contents.schema, name);
        if (variable == nullptr) return std::string("none");
        auto text = name_of(variable->type);
        for (int dim = 0; dim < variable->shape.dims(); ++dim) text += " " + std::to_string(variable->shape[dim]);
        return text;
    };
    CHECK(contents.step == 5);
    CHECK(description("current_timestep_number~2") == "i32");
    CHECK(description("passive_scalar") == "i32");
    CHECK(description("passive_scalar~2") == "none");
    CHECK(description("q_init") == "f64 4");
    CHECK(description("u_max_ijk") == "i32 4");
    CHECK(description("hom") == "f64 3 2 4");
    CHECK(description("unset") == "f64");
    CHECK(description("e") == "f64 4 3 4");
    CHECK(description("e~2") == "f64 4 3 4");
    CHECK(description("random_iv/value") == "i32");
    CHECK(description("random_iy/value") == "i32");
    CHECK(description("id_random_array") == "i32 4 3");
    CHECK(description("seq_random_array") == "i32 4 3 5");
    CHECK(description("s_av~2") == "none");
    CHECK(description("surf%us/value") == "f64");
    CHECK(description("surf%start_index") == "i32 4 3");
    CHECK(description("t_soil/value") == "f64");
    CHECK(description("somebodys/value") == "f64");
    CHECK(description("mask") == "i32 4 3");
    CHECK(description("m_soil_av") == "f64 4 3 2");
    CHECK(description("soil") == "f64 4 3 2");
    REQUIRE(contents.notes.size() == 4);
    CHECK(contents.notes[0].find("PARTICLE_RESTART_DATA_OUT") != std::string::npos);
    CHECK(contents.notes[1].find("'e' as 'e~2'") != std::string::npos);
    CHECK(contents.notes[2].find("TABLE/value: somebodys.") != std::string::npos);
    CHECK(contents.notes[3].find("kept once: passive_scalar, s_av") != std::string::npos);
    const auto layout = lay_out(contents, "restart").value();
    OriginReader reader;
    for (std::size_t i = 0; i < layout.blocks.size(); ++i) {
        const auto& name = contents.schema.variables[layout.blocks[i].variable].name;
        if (name != "e" && name != "e~2") continue;
        test::SpanFile file(files[contents.origins[i].file]);
        std::vector<double> values(24);
        reader.read(file, contents.origins[i], 0, std::as_writable_bytes(std::span(values))).value();
        CHECK(values.front() == (name == "e" ? 0.5 : 0.5 + layout.blocks[i].rank));
    }
}

TEST_CASE("more records than PALM writes behind a name: which one, and what can be done") {
    test::PalmProcessImage image;
    image.item("nx", std::vector<std::int32_t>{3});
    image.item("mine", std::vector{0.5});
    image.record(std::vector{1.5});
    test::SpanFile file(image.bytes);
    const auto error = decode_palm_process(file, "BINOUT").error();
    CHECK(error.kind == ErrorKind::corrupt);
    CHECK(error.what.find("behind the data of 'mine'") != std::string::npos);
    CHECK(error.next.find("restart_data_format mpi") != std::string::npos);
}

TEST_CASE("a serial PALM writes one file, and the way to the other format is told") {
    test::SimStore disk;
    const auto put = [&](const std::string& path, std::span<const std::byte> bytes) {
        auto file = disk.open(path, sys::Access::create).value();
        file->write(0, bytes).value();
        file->close().value();
    };
    put("BINOUT", test::palm_process(0, 1));
    CHECK(find(open_palm_fortran(disk, "BINOUT", {}).value().schema, "u")->shape == Extents{2, 3, 4});
    put("part", test::palm_process(0, 3));
    CHECK(open_palm_fortran(disk, "part", {}).error().next.find("give the directory") != std::string::npos);
    put("mpi", test::palm_mpi_file());
    CHECK(open_palm_fortran(disk, "mpi", {}).error().next.find("palm-mpi") != std::string::npos);
    CHECK(open_palm_mpi(disk, "BINOUT", {}).error().next.find("palm-fortran") != std::string::npos);
    REQUIRE(disk.make_directories("in"));
    CHECK(open_palm_mpi(disk, "in", {}).error().text().find("in is a directory") != std::string::npos);
    CHECK(open_palm_mpi(disk, "none", {}).error().kind == ErrorKind::missing);
    CHECK(open_palm_fortran(disk, "none", {}).error().kind == ErrorKind::missing);
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

    const std::int32_t first = 8;  // as if nothing came before
    std::memcpy(image.bytes.data() + 12 + 16 + 12, &first, sizeof first);
    auto again = FortranReader::open(file, "BINOUT", 4).value();
    again.next().value();
    CHECK(again.next().error().text().find("at byte 40 of 56: the mark after a record is 8, but -8 before it") !=
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
    const auto refusal = [&](const std::string& text) {
        Choices choices;
        choices.wishes = wishes_of({text}).value();
        const auto contents = open(files, choices);
        return contents ? name_of(find(contents->schema, text.substr(0, text.find('=')))->type)
                        : contents.error().text();
    };
    CHECK(refusal("u=i64:box") == "i64");
    CHECK(refusal("simulated_time=u8") == "u8");
    CHECK(refusal("simulated_time=i32:2x1") == "i32");
    CHECK(refusal("simulated_time=i32:3").find("does not match --type") != std::string::npos);
    CHECK(refusal("simulated_time=f64:box").find("does not match --type") != std::string::npos);
    CHECK(refusal("surf=f64:box").find("does not have the size of a box of f64") != std::string::npos);
    CHECK(refusal("surf=c128:rows").find("is not a multiple of c128") != std::string::npos);
    CHECK(refusal("u=f64:6x3x4").find("its shape follows from the files") != std::string::npos);
    CHECK(refusal("w=f64").find("no variable of that name") != std::string::npos);
}
