// The data of a rank of a small application: every kind, with unequal shares. For tests of snapshots in one file. Each
// value follows from its global position, so that any number of ranks can check it.

#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "core/comm/group.hpp"
#include "core/describe/geometry.hpp"
#include "forebay/forebay.hpp"

namespace forebay::test {

struct SharedState {
    static constexpr std::uint64_t rows = 53, columns = 3'001;  // of `slabs`
    static constexpr Extents boxes_shape{31, 37, 11};
    static constexpr Extents holes_shape{40, 16};

    SharedState(Stream& stream, comm::Group& world)
        : stream_(stream),
          rank_(static_cast<std::uint32_t>(world.rank())),
          ranks_(static_cast<std::uint32_t>(world.size())) {
        const auto slab = balanced_share(rows, rank_, ranks_);
        slabs_box = {{slab.first, 0}, {slab.count, columns}};
        // Cut along the second dimension, so that no box is contiguous in its dataset.
        const auto part = balanced_share(boxes_shape[1], rank_, ranks_);
        boxes_box = {{0, part.first, 0}, {boxes_shape[0], part.count, boxes_shape[2]}};
        // Every other rank has a box, with unwritten elements around it.
        const auto hole = balanced_share(holes_shape[0], rank_, ranks_);
        holes_box = {{hole.first, 3}, {rank_ % 2 == 0 ? hole.count : 0, 7}};
        slabs.resize(volume(slabs_box.size));
        boxes.resize(volume(boxes_box.size));
        holes.resize(volume(holes_box.size));
        const auto piece = [](const Box& box, auto& data) {
            return data.empty() ? std::vector<Piece>{} : std::vector<Piece>{packed(box, data.data())};
        };
        stream.replicated("clock/dt", &dt, {.unit = "s"}).value();
        stream.replicated("matrix", c128, {2, 3}, matrix.data()).value();
        stream.array("fields/slabs", f64, {rows, columns}, piece(slabs_box, slabs)).value();
        stream.array("fields/boxes", f32, boxes_shape, piece(boxes_box, boxes), {.dimensions = {"z", "y", "x"}})
            .value();
        stream.array("fields/holes", i32, holes_shape, piece(holes_box, holes), {}, Coverage::partial).value();
        gas.emplace(stream.particles("gas", {{"id", i64}, {"x", f32}, {"name", string_of(5)}}).value());
        ghosts.emplace(stream.particles("ghosts", {{"mass", f64}}).value());
    }

    /// The rows that a rank saves. A third of the ranks have none, the rest have different numbers.
    static std::uint64_t rows_of(std::uint32_t rank, std::int64_t step) {
        return rank % 3 == 1 ? 0 : 700 + 113 * rank + static_cast<std::uint64_t>(step % 7) * 40;
    }
    static std::uint64_t rows_before(std::uint32_t rank, std::int64_t step) {
        std::uint64_t before = 0;
        for (std::uint32_t other = 0; other < rank; ++other) before += rows_of(other, step);
        return before;
    }
    static std::array<char, 5> name_of(std::uint64_t row) {
        return {'n', static_cast<char>('a' + row % 26), static_cast<char>('0' + row % 10), 0, 0};
    }
    static double value(std::uint64_t element, std::int64_t step) {
        return static_cast<double>(element) + 1e5 * static_cast<double>(step);
    }

    Result<Saved> save(std::int64_t step) {
        fill(step);
        bind(rows_of(rank_, step));
        const auto first = rows_before(rank_, step);
        for (std::uint64_t i = 0; i < id.size(); ++i) {
            id[i] = static_cast<std::int64_t>(first + i);
            x[i] = static_cast<float>(first + i) * 0.5F;
            name[i] = name_of(first + i);
        }
        return stream_.save(step, 0.25 * static_cast<double>(step));
    }

    /// Restores the newest snapshot, which must be of `step`. Returns the first difference; empty if all is as saved.
    std::string check_restart(std::int64_t step) {
        auto restart = stream_.newest().value();
        if (!restart) return "no snapshot";
        if (restart->step() != step) return "step " + std::to_string(restart->step());
        const auto own_rows = restart->rows(*gas);
        bind(own_rows);
        dt = 0;
        matrix = {};
        std::fill(slabs.begin(), slabs.end(), -1.0);
        std::fill(boxes.begin(), boxes.end(), -1.0F);
        std::fill(holes.begin(), holes.end(), -1);
        if (const auto read = restart->read(); !read) return read.error().text();
        const auto saved = *this;
        fill(step);
        if (dt != saved.dt || matrix != saved.matrix) return "replicated";
        if (slabs != saved.slabs) return "slabs";
        if (boxes != saved.boxes) return "boxes";
        for (std::uint64_t i = 0; i < own_rows; ++i) {
            const auto row = static_cast<std::uint64_t>(saved.id[i]);
            if (i > 0 && saved.id[i] != saved.id[i - 1] + 1) return "ids";
            if (saved.x[i] != static_cast<float>(row) * 0.5F || saved.name[i] != name_of(row)) return "row";
        }
        return {};
    }

    void fill(std::int64_t step) {
        dt = 0.125 * static_cast<double>(step);
        for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = {static_cast<double>(i), static_cast<double>(step)};
        each(slabs_box, {rows, columns}, [&](auto i, auto element) { slabs[i] = value(element, step); });
        each(boxes_box, boxes_shape, [&](auto i, auto element) { boxes[i] = static_cast<float>(element) + 0.5F; });
        each(holes_box, holes_shape, [&](auto i, auto element) { holes[i] = static_cast<int>(element); });
    }

    void bind(std::uint64_t count) {
        id.resize(count);
        x.resize(count);
        name.resize(count);
        gas->bind(count, {id.data(), x.data(), name.data()}).value();
        ghosts->bind(0, {mass.data()}).value();
    }

    /// Calls visit(i, element) for each element of a box: its index in the packed box and in the global array.
    template <class Visit>
    static void each(const Box& box, const Extents& shape, Visit visit) {
        Extents origin;
        for (int dim = 0; dim < shape.dims(); ++dim) origin.push_back(0);
        std::uint64_t i = 0;
        for_each_run(box.size, 1, packed_strides(box.size, 1), packed_strides(shape, 1),
                     [&](std::int64_t, std::int64_t offset, std::uint64_t run) {
                         const auto first = offset_bytes(box.lo, origin, packed_strides(shape, 1));
                         for (std::uint64_t k = 0; k < run; ++k, ++i)
                             visit(i, static_cast<std::uint64_t>(first + offset) + k);
                     });
    }

    Box slabs_box, boxes_box, holes_box;
    double dt = 0;
    std::array<std::complex<double>, 6> matrix{};
    std::vector<double> slabs;
    std::vector<float> boxes;
    std::vector<std::int32_t> holes;
    std::vector<std::int64_t> id;
    std::vector<float> x;
    std::vector<std::array<char, 5>> name;
    std::array<double, 1> mass{};
    std::optional<Particles> gas, ghosts;

private:
    Stream& stream_;
    std::uint32_t rank_, ranks_;
};

}  // namespace forebay::test
