// Goal: a plane has the saved values, across each dimension and for any number of blocks. Damage and impossible
// requests are errors, and the reader continues. Cached values never belong to another save.
//
// Method: compares planes of a session of this process element by element, and flips a byte.

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include "forebay/forebay.hpp"
#include "program/look/field_reader.hpp"
#include "program/look/page_fields.hpp"
#include "program/look/page_parameters.hpp"
#include "support/committed_run.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::cli;

namespace {

constexpr std::uint64_t depth = 5, rows = 7, columns = 300'000;  // a plane of several segments
constexpr std::uint64_t small = 12;

float value_of(std::int64_t step, std::uint64_t z, std::uint64_t y, std::uint64_t x) {
    return static_cast<float>(step) * 1000.0f + static_cast<float>(z * 100 + y * 10) + static_cast<float>(x % 7);
}

/// One node: "long" with long rows, "small" in eight blocks, and a flat array.
struct FieldRun {
    explicit FieldRun(std::int64_t step = 1) { save(step); }

    void save(std::int64_t step) {
        std::vector<float> rowed(depth * rows * columns), cube(small * small * small);
        std::vector<double> flat(small * small);
        for (std::uint64_t i = 0; i < rowed.size(); ++i)
            rowed[i] = value_of(step, i / (rows * columns), i / columns % rows, i % columns);
        std::vector<Piece> pieces;
        const auto half = small / 2;
        auto* to = cube.data();
        for (std::uint64_t part = 0; part < 8; ++part) {
            const Box box{{part / 4 * half, part / 2 % 2 * half, part % 2 * half}, {half, half, half}};
            pieces.push_back(packed(box, to));
            for (std::uint64_t i = 0; i < half * half * half; ++i)
                *to++ = value_of(step, box.lo[0] + i / half / half, box.lo[1] + i / half % half, box.lo[2] + i % half);
        }
        for (std::uint64_t i = 0; i < flat.size(); ++i) flat[i] = static_cast<double>(i);
        auto session =
            Session::open({.run = run, .staging = place.path(), .agent = {.mode = AgentMode::thread}}).value();
        auto stream = session.stream("state").value();
        stream.array("long", f32, {depth, rows, columns}, {packed({{0, 0, 0}, {depth, rows, columns}}, rowed.data())})
            .value();
        stream.array("small", f32, {small, small, small}, pieces, {.unit = "K"}).value();
        stream.array("flat", f64, {small, small}, {packed({{0, 0}, {small, small}}, flat.data())}).value();
        stream.save(step).value();
        session.close().value();
    }

    test::TempDirectory place{"/dev/shm"};
    std::string run = place / "run";
    FieldReader reader{sys::posix_store(), run};
};

bool is_right(const FieldPlane& plane, std::int64_t step) {
    for (std::uint64_t y = 0; y < plane.height; ++y)
        for (std::uint64_t x = 0; x < plane.width; ++x) {
            std::array<std::uint64_t, 3> at{};
            at[static_cast<std::size_t>(plane.axis)] = plane.index;
            at[static_cast<std::size_t>(plane.y_dim)] = y * plane.y_stride;
            at[static_cast<std::size_t>(plane.x_dim)] = x * plane.x_stride;
            if (plane.values[y * plane.width + x] != value_of(step, at[0], at[1], at[2])) return false;
        }
    return true;
}

}  // namespace

TEST_CASE("field reader: planes across each dimension") {
    FieldRun run;
    for (const auto* name : {"long", "small"})
        for (int axis = 0; axis < 3; ++axis)
            for (const std::int64_t index : {0, 3, -1}) {
                CAPTURE(name);
                CAPTURE(axis);
                CAPTURE(index);
                const auto plane = run.reader.plane({"state", name, -1, axis, index});
                REQUIRE(plane);
                CHECK((*plane)->index == (index < 0 ? (*plane)->variable.shape[axis] / 2 : index));
                CHECK(is_right(**plane, 1));
            }
    const auto last = run.reader.plane({"state", "long", 1, 2, columns - 1}).value();
    CHECK(is_right(*last, 1));
    CHECK(last->width == rows);
    const auto wide = run.reader.plane({"state", "long", -1, 0, 4}).value();
    CHECK(wide->x_stride == 147);  // 300,000 in at most 2,048
    CHECK(wide->width == 2041);
    CHECK(wide->height == rows);
    const auto flat = run.reader.plane({"state", "flat", -1, 0, -1}).value();
    CHECK(flat->axis == -1);
    CHECK(flat->values[small + 2] == static_cast<float>(small + 2));
}

TEST_CASE("field reader: what is kept is that of the save that is there") {
    FieldRun run;
    CHECK(is_right(*run.reader.plane({"state", "small", -1, 0, 2}).value(), 1));
    run.save(2);
    CHECK(is_right(*run.reader.plane({"state", "small", -1, 0, 2}).value(), 2));
    CHECK(is_right(*run.reader.plane({"state", "small", 1, 0, 2}).value(), 1));
    // The step is saved again: other bytes under the same name.
    std::filesystem::remove_all(run.run + "/state");
    run.save(2);
    CHECK(is_right(*run.reader.plane({"state", "small", 2, 0, 2}).value(), 2));
    const auto gone = run.reader.plane({"state", "small", 1, 0, 2});
    REQUIRE(!gone);
    CHECK(gone.error().kind == ErrorKind::missing);
}

TEST_CASE("field reader: wishes that cannot be met") {
    FieldRun run;
    const auto kind = [&](const PlaneRequest& request) {
        const auto plane = run.reader.plane(request);
        REQUIRE(!plane);
        return plane.error().kind;
    };
    CHECK(kind({"nothing", "small"}) == ErrorKind::missing);
    CHECK(kind({"../run/state", "small"}) == ErrorKind::missing);
    CHECK(kind({"", "small"}) == ErrorKind::missing);
    CHECK(kind({"state", "nothing"}) == ErrorKind::missing);
    CHECK(kind({"state", "small", 7}) == ErrorKind::missing);
    CHECK(kind({"state", "small", -1, 3, 0}) == ErrorKind::refused);
    CHECK(kind({"state", "small", -1, -1, 0}) == ErrorKind::refused);
    CHECK(kind({"state", "small", -1, 0, small}) == ErrorKind::refused);
    CHECK(kind({"state", "small", -1, 0, -2}) == ErrorKind::refused);
}

TEST_CASE("field reader: damage is told, where a plane goes through it") {
    FieldRun run;
    const auto snapshot = run.reader.snapshot_of("state", -1).value();
    const auto path = snapshot.directory + "/node-00000.h5";
    const auto head = catalog::load_head(sys::posix_store(), path).value();
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(head.blocks[head.first_block[0]].offset_bytes + 5));
    file.put('\x55');
    file.close();
    const auto plane = run.reader.plane({"state", "long", -1, 0, 0});
    REQUIRE(!plane);
    CHECK(plane.error().kind == ErrorKind::corrupt);
    CHECK(run.reader.plane({"state", "long", -1, 0, depth - 1}));
    CHECK(run.reader.plane({"state", "small", -1, 0, 0}));
    std::ofstream(snapshot.directory + "/manifest.json", std::ios::trunc) << "{";
    const auto torn = run.reader.plane({"state", "small", -1, 0, 1});
    REQUIRE(!torn);
    CHECK(torn.error().kind == ErrorKind::corrupt);
}

TEST_CASE("field reader: pictures, histograms and the menu of fields") {
    FieldRun run;
    const auto plane = run.reader.plane({"state", "small", -1, 1, 2}).value();
    CHECK(plane_png(*plane, {{"palette", "tide"}, {"log", "1"}}).value().starts_with("\x89PNG"));
    CHECK(!plane_png(*plane, {{"palette", "pink"}}));
    CHECK(!plane_png(*plane, {{"low", "3"}, {"high", "2"}}));
    const auto histogram = plane_histogram(*plane, false).value();
    CHECK(histogram.find("\"count\":144") != std::string::npos);
    CHECK(histogram.find("\"unit\":\"K\"") != std::string::npos);
    const auto menu = field_menu(sys::posix_store(), run.run).value();
    CHECK(menu.find("\"name\":\"small\",\"unit\":\"K\",\"shape\":[12,12,12]") != std::string::npos);
    ProjectionMaker projections(sys::posix_store(), run.reader);
    CHECK(projections.png({{"stream", "state"}, {"variable", "small"}, {"axis", "2"}}).value().starts_with("\x89PNG"));
    CHECK(!projections.png({{"stream", "state"}, {"x", "small"}, {"y", "flat"}}));
    CHECK(!projections.png({{"stream", "state"}, {"variable", "nothing"}}));
}

TEST_CASE("page parameters: whatever is given") {
    CHECK(whole_of({{"step", "12"}}, "step", -1, {-1, 20}).value() == 12);
    CHECK(whole_of({}, "step", -1, {-1, 20}).value() == -1);
    for (const auto* text : {"21", "-2", "1x", " 1", "1.5", "999999999999999999999", "0x3"}) {
        CAPTURE(text);
        CHECK(!whole_of({{"step", text}}, "step", -1, {-1, 20}));
    }
    CHECK(std::isnan(plane_style_of({}).value().low));
    CHECK(plane_style_of({{"low", "-1e3"}, {"high", "2"}}).value().low == -1000);
    for (const auto* text : {"nan", "inf", "x", "1 2"}) CHECK(!plane_style_of({{"low", text}}));
    CHECK(!plane_style_of({{"pixels", "100000"}}));
    CHECK(!plane_request_of({{"variable", "u"}}));
    CHECK(!plane_request_of({{"stream", "s"}, {"variable", "u"}, {"axis", "8"}}));
}

TEST_CASE("segment cache: as many as it may keep, those that were asked for last") {
    SegmentCache cache(2);
    const std::vector<std::byte> bytes(3, std::byte{7});
    const auto key = [](std::uint64_t segment) { return SegmentCache::Key{1, 0, 0, segment}; };
    for (std::uint64_t i = 0; i < 2; ++i) CHECK(cache.keep(key(i), bytes).size() == 3);
    CHECK(cache.find(key(0)));
    cache.keep(key(2), bytes);
    CHECK(cache.find(key(0)));
    CHECK(!cache.find(key(1)));
    CHECK(cache.find(key(2))->front() == std::byte{7});
    CHECK(cache.count() == 2);
}
