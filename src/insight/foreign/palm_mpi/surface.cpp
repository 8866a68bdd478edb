#include "insight/foreign/palm_mpi/surface.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/splitmix.hpp"
#include "core/base/try.hpp"
#include "insight/foreign/bytes.hpp"
#include "insight/foreign/limits.hpp"

namespace forebay::foreign {

namespace {

constexpr std::uint64_t index_bytes = 8;

// One row of a plane.
class Row {
public:
    explicit Row(const PalmMpiHeader& header) : big_endian_(header.big_endian), bytes_(header.points_x * index_bytes) {}
    Result<> read(sys::File& file, std::uint64_t plane, std::uint64_t y) {
        return file.read(plane + y * bytes_.size(), bytes_);
    }
    std::int64_t operator[](std::uint64_t x) const {
        return load<std::int64_t>(bytes_.data() + x * index_bytes, big_endian_);
    }

private:
    bool big_endian_;
    std::vector<std::byte> bytes_;
};

// Reads counts and values of one run, front to back.
class ColumnWalk {
public:
    explicit ColumnWalk(const PalmMpiHeader& header) : header_(header) {}

    /// False as soon as the elements cannot be surface data.
    bool take(std::span<const std::byte> elements) {
        for (std::size_t at = 0; at + index_bytes <= elements.size(); at += index_bytes) {
            if (skip_ > 0) {
                const auto passed = std::min<std::uint64_t>(skip_, (elements.size() - at) / index_bytes);
                skip_ -= passed;
                at += (passed - 1) * index_bytes;
                continue;
            }
            const auto count = load<double>(elements.data() + at, header_.big_endian);
            if (!(count >= 1 && count <= static_cast<double>(limits::grid_points_max) && count == std::floor(count)) ||
                seen_ == header_.columns())
                return false;
            skip_ = static_cast<std::uint64_t>(count) - 1;
            // In the file x is the outer index and y the inner; the planes number columns by (y, x).
            counts_ += splitmix(seen_ % header_.points_y * header_.points_x + seen_ / header_.points_y, skip_ + 1);
            ++seen_;
        }
        return true;
    }
    bool ends_as(const SurfaceIndex& index) const {
        return skip_ == 0 && seen_ == header_.columns() && counts_ == index.counts;
    }

private:
    const PalmMpiHeader& header_;
    std::uint64_t seen_ = 0, skip_ = 0, counts_ = 0;
};

}  // namespace

Result<std::optional<SurfaceIndex>> read_surface_index(sys::File& file, const PalmMpiHeader& header, const Range& start,
                                                       const Range& end) {
    const std::optional<SurfaceIndex> none;
    if (start.bytes != header.columns() * index_bytes || end.bytes != start.bytes) return none;
    Row first(header), begins(header), ends(header);
    std::vector<std::int64_t> last(header.points_x);  // last elements of the row below
    SurfaceIndex index;
    FB_TRY(first.read(file, start.offset, 0));
    if (first[0] != 1) return none;
    for (std::uint64_t y = 0; y < header.points_y; ++y) {
        FB_TRY(begins.read(file, start.offset, y));
        FB_TRY(ends.read(file, end.offset, y));
        for (std::uint64_t x = 0; x < header.points_x; ++x) {
            if (begins[x] < 1 || ends[x] < begins[x] || (y > 0 && begins[x] - 1 != last[x])) return none;
            last[x] = ends[x];
            index.counts += splitmix(y * header.points_x + x, static_cast<std::uint64_t>(ends[x] - begins[x]) + 1);
        }
    }
    // A line of columns along y must end at the next line.
    for (std::uint64_t x = 0; x + 1 < header.points_x; ++x)
        if (first[x + 1] - 1 != last[x]) return none;
    index.elements = static_cast<std::uint64_t>(last.back());
    return std::optional(index);
}

Result<std::uint64_t> count_surface_runs(sys::File& file, const PalmMpiHeader& header, const SurfaceIndex& index,
                                         const Range& place) {
    if (place.bytes == 0 || place.bytes / index_bytes % index.elements != 0 || place.bytes % index_bytes != 0) return 0;
    const auto runs = place.bytes / index_bytes / index.elements;
    std::vector<std::byte> bytes(std::min(index.elements * index_bytes, limits::sample_bytes));
    for (std::uint64_t run = 0; run < runs; ++run) {
        ColumnWalk walk(header);
        const Range part{place.offset + run * index.elements * index_bytes, index.elements * index_bytes};
        for (std::uint64_t at = 0; at < part.bytes; at += bytes.size()) {
            const auto now = std::span(bytes).first(std::min<std::uint64_t>(bytes.size(), part.bytes - at));
            FB_TRY(file.read(part.offset + at, now));
            if (!walk.take(now)) return 0;
        }
        if (!walk.ends_as(index)) return 0;
    }
    return runs;
}

}  // namespace forebay::foreign
