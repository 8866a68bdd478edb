// Goal: two snapshots are equal if their data are, for any ranks, nodes and cuts. Each kind of difference is counted,
// with the place of the largest.
//
// Method: threads as ranks save one global state, cut along another dimension each time. Includes blocks of several
// segments, strings across segment ends, and changed elements, types, shapes and rows.

#include "program/look/snapshot_compare.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "program/look/value_difference.hpp"
#include "support/sessions.hpp"

using namespace forebay;
using namespace forebay::cli;

namespace {

constexpr std::uint64_t depth = 4, height = 6, width = 20'000;  // 3.8 MB
constexpr std::uint64_t names = 100'000,
                        rows = 70'001;  // strings of 13 bytes, which divide no segment; rows of a table

struct SavedState {
    int ranks = 1, nodes = 1, axis = 0;
    std::vector<double> u = std::vector<double>(depth * height * width);
    std::vector<std::int64_t> id = std::vector<std::int64_t>(rows);
    std::string text = std::string(names * 13, 'n');
    double time = 0.5;
    bool has_extra = false;
    Type flat = f32;

    SavedState() {
        for (std::size_t i = 0; i < u.size(); ++i) u[i] = static_cast<double>(i) * 0.25;
        for (std::size_t i = 0; i < id.size(); ++i) id[i] = static_cast<std::int64_t>(i);
    }
};

/// The part of [0, count) of one rank. The first ranks get less.
std::pair<std::uint64_t, std::uint64_t> part_of(std::uint64_t count, int rank, int ranks) {
    const auto edge = [&](int at) {
        return count * static_cast<std::uint64_t>(at * at) / static_cast<std::uint64_t>(ranks * ranks);
    };
    return {edge(rank), edge(rank + 1)};
}

void save(const test::TempDirectory& folder, const std::string& run, const SavedState& state) {
    test::with_session(
        state.ranks, test::options_in(folder, state.nodes, run), [&](Session& session, comm::Group& group) {
            const auto part = [&](std::uint64_t count) { return part_of(count, group.rank(), state.ranks); };
            const Extents shape{depth, height, width};
            Box box{{0, 0, 0}, shape};
            const auto [first, last] = part(shape[state.axis]);
            box.lo[state.axis] = first;
            box.size[state.axis] = last - first;
            std::vector<double> u;
            for (auto z = box.lo[0]; z < box.lo[0] + box.size[0]; ++z)
                for (auto y = box.lo[1]; y < box.lo[1] + box.size[1]; ++y)
                    for (auto x = box.lo[2]; x < box.lo[2] + box.size[2]; ++x)
                        u.push_back(state.u[(z * height + y) * width + x]);
            const auto [first_name, last_name] = part(names);
            const auto [first_row, last_row] = part(state.id.size());
            auto text = state.text.substr(first_name * 13, (last_name - first_name) * 13);
            auto id = std::vector<std::int64_t>(state.id.begin() + static_cast<std::ptrdiff_t>(first_row),
                                                state.id.begin() + static_cast<std::ptrdiff_t>(last_row));
            auto time = state.time;
            std::vector<float> flat(4, 1.0f);
            auto stream = session.stream("state").value();
            stream.replicated("time", &time).value();
            stream.replicated("flat", state.flat, {4}, flat.data()).value();
            std::vector<Piece> pieces, labels;
            if (last > first) pieces.push_back(packed(box, u.data()));
            if (last_name > first_name)
                labels.push_back(packed({{first_name}, {last_name - first_name}}, string_of(13), text.data()));
            stream.array("u", f64, shape, pieces).value();
            stream.array("names", string_of(13), {names}, labels).value();
            if (state.has_extra) stream.replicated("extra", &time).value();
            auto gas = stream.particles("gas", {{"id", i64}}).value();
            gas.bind(id.size(), {ColumnData(id.data())}).value();
            stream.save(1).value();
        });
}

catalog::Snapshot snapshot_of(const test::TempDirectory& folder, const std::string& run) {
    return catalog::snapshots(sys::posix_store(), folder / run, "state").value().front();
}

ComparedSnapshots compared(const test::TempDirectory& folder) {
    return compare_snapshots(sys::posix_store(), snapshot_of(folder, "one"), snapshot_of(folder, "other"),
                             [](std::uint64_t, std::uint64_t) {})
        .value();
}

const VariableDifference& of(const ComparedSnapshots& all, const std::string& name) {
    return *std::ranges::find(all.variables, name, &VariableDifference::name);
}

}  // namespace

TEST_CASE("equal states are equal, whatever ranks, nodes and cuts saved them") {
    const test::TempDirectory folder("/dev/shm");
    SavedState state;
    save(folder, "one", state);
    for (const auto& [ranks, nodes, axis] : {std::tuple{3, 2, 0}, {2, 1, 1}, {5, 3, 2}}) {
        state.ranks = ranks;
        state.nodes = nodes;
        state.axis = axis;
        std::filesystem::remove_all(folder / "other");
        save(folder, "other", state);
        const auto all = compared(folder);
        REQUIRE(all.variables.size() == 5);
        for (const auto& variable : all.variables) CHECK_MESSAGE(variable.is_equal(), variable.name);
        CHECK(of(all, "u").compared == depth * height * width);
        CHECK(of(all, "names").compared == names);
        CHECK(of(all, "gas/id").compared == rows);
        CHECK(of(all, "time").compared == 1);
        CHECK(all.bytes == depth * height * width * 8 + names * 13 + rows * 8 + 8 + 16);
    }
}

TEST_CASE("what differs is counted, with the place of the largest difference") {
    const test::TempDirectory folder("/dev/shm");
    SavedState state;
    state.ranks = 2;
    state.axis = 1;
    save(folder, "one", state);
    state = {};
    state.ranks = 3;
    state.nodes = 2;
    state.axis = 2;
    const auto at = [](std::uint64_t z, std::uint64_t y, std::uint64_t x) { return (z * height + y) * width + x; };
    state.u[at(0, 0, 0)] += 1;
    state.u[at(3, 5, 19'999)] -= 2.5;
    state.u[at(2, 1, 7)] = std::numeric_limits<double>::quiet_NaN();
    for (const std::uint64_t name : {0u, 80'659u, 99'999u})
        state.text[name * 13 + 12] = 'x';  // 80,659 lies in two segments
    state.text[80'659 * 13] = 'y';
    state.id[41] = -9;
    for (int i = 0; i < 7; ++i) state.id.push_back(i);
    state.time = 0.75;
    state.has_extra = true;
    state.flat = i32;
    save(folder, "other", state);
    const auto all = compared(folder);
    const auto& u = of(all, "u");
    CHECK(u.values.elements == 3);
    CHECK(u.values.largest == 2.5);
    CHECK(u.values.without_number == 1);
    CHECK(u.at == Extents{3, 5, 19'999});
    CHECK(of(all, "names").values.elements == 3);
    CHECK(of(all, "names").values.without_number == 3);
    const auto& id = of(all, "gas/id");
    CHECK(id.values.elements == 1);
    CHECK(id.values.largest == 50);
    CHECK(id.at == Extents{41});
    CHECK(id.first_alone == 0);
    CHECK(id.second_alone == 7);
    CHECK(of(all, "time").values.largest == 0.25);
    CHECK(of(all, "extra").first.empty());
    CHECK_FALSE(of(all, "flat").is_comparable);
    for (const auto& variable : all.variables) CHECK_MESSAGE(!variable.is_equal(), variable.name);
}

TEST_CASE("distances are exact in 64 bits, and of complex numbers those of the plane") {
    const auto largest = [](Type type, auto first, auto second) {
        ValueDifference difference;
        auto last = no_element;
        add_difference(type, std::as_bytes(std::span(&first, 1)), std::as_bytes(std::span(&second, 1)), 0, last,
                       difference);
        CHECK(difference.elements == 1);
        return difference.largest;
    };
    CHECK(largest(i64, std::int64_t{-9'007'199'254'740'993}, std::int64_t{-9'007'199'254'740'992}) == 1);
    CHECK(largest(u64, std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()) == 18446744073709551615.0);
    CHECK(largest(i8, std::int8_t{-128}, std::int8_t{127}) == 255);
    CHECK(largest(f16, std::uint16_t{0x3C00}, std::uint16_t{0x4000}) == 1);  // 1 and 2
    CHECK(largest(c128, std::complex<double>{0, 0}, std::complex<double>{3, 4}) == 5);
    CHECK(largest(f64, 0.0, -0.0) == 0);
    CHECK(largest(f32, 1.0f, std::numeric_limits<float>::quiet_NaN()) < 0);
}
