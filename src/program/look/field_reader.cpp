#include "program/look/field_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "insight/insitu/numbers.hpp"
#include "insight/insitu/operators/lines.hpp"

namespace forebay::cli {

namespace {

// Segments of a field kept for the next position of the slider. A plane across the last dimension of 512^3 floats needs
// all 512 segments; this is a quarter more.
constexpr std::size_t segments_max = 640;
static_assert(segments_max * limits::segment_bytes == 640u << 20);
// Most bytes read for one plane: half a minute on a modest disk.
constexpr std::uint64_t plane_read_max_bytes = 2ull << 30;
// For larger planes every second element is taken, every third and so on: no screen shows more.
constexpr std::uint64_t plane_side_max = 2048;
constexpr std::size_t opened_max = 3, planes_max = 6;

Result<> lay_out(FieldPlane& plane, const PlaneRequest& request) {
    const auto& shape = plane.variable.shape;
    const int dims = shape.dims();
    if (plane.variable.kind != Kind::array || dims < 2)
        return Error{ErrorKind::refused,
                     fmt::format("'{}' is not an array of two or more dimensions", plane.variable.name)};
    const int first = std::max(0, dims - 3);
    if (dims > 2) {
        if (request.axis < first || request.axis >= dims)
            return Error{ErrorKind::refused, fmt::format("axis must be {} to {}", first, dims - 1)};
        plane.axis = request.axis;
        const auto length = shape[plane.axis];
        if (request.index < -1 || (request.index >= 0 && static_cast<std::uint64_t>(request.index) >= length))
            return Error{ErrorKind::refused, fmt::format("index must be 0 to {}", length - 1)};
        plane.index = request.index < 0 ? length / 2 : static_cast<std::uint64_t>(request.index);
    }
    for (int dim = first; dim < dims; ++dim) {
        if (dim == plane.axis) continue;
        (plane.y_dim < 0 ? plane.y_dim : plane.x_dim) = dim;
    }
    const auto width = shape[plane.x_dim], height = shape[plane.y_dim];
    const auto parts = [](std::uint64_t whole, std::uint64_t part) { return (whole + part - 1) / part; };
    plane.x_stride = parts(width, plane_side_max);
    plane.y_stride = parts(height, plane_side_max);
    plane.width = parts(width, plane.x_stride);
    plane.height = parts(height, plane.y_stride);
    plane.values.assign(plane.width * plane.height, std::numeric_limits<float>::quiet_NaN());
    return {};
}

/// The cut along a dimension; nothing for the plane's own two dimensions.
std::optional<std::uint64_t> cut_at(const FieldPlane& plane, int dim) {
    if (dim == plane.x_dim || dim == plane.y_dim) return std::nullopt;
    return dim == plane.axis ? plane.index : 0;
}

bool meets(const FieldPlane& plane, const Box& box) {
    for (int dim = 0; dim < box.lo.dims(); ++dim)
        if (const auto at = cut_at(plane, dim); at && (*at < box.lo[dim] || *at - box.lo[dim] >= box.size[dim]))
            return false;
    return true;
}

/// True if elements [first, first + count) of a block meet the plane. Elements of index k along the axis lie in runs of
/// `inner`, one in each `period`.
bool meets(const FieldPlane& plane, const Box& box, std::uint64_t first, std::uint64_t count) {
    if (plane.axis < 0) return true;
    std::uint64_t inner = 1;
    for (int dim = plane.axis + 1; dim < box.size.dims(); ++dim) inner *= box.size[dim];
    const auto period = inner * box.size[plane.axis], at = (plane.index - box.lo[plane.axis]) * inner;
    const auto round = first / period;
    const auto overlaps = [&](std::uint64_t begin) { return begin < first + count && begin + inner > first; };
    return count >= period || overlaps(round * period + at) || overlaps((round + 1) * period + at);
}

/// Puts the elements of a segment that lie on the plane into it.
class PlaneFiller {
public:
    PlaneFiller(FieldPlane& plane, const insitu::RealNumbers& numbers) : plane_(plane), numbers_(numbers) {
        for (int dim = 0; dim + 1 < plane.variable.shape.dims(); ++dim)
            if (const auto at = cut_at(plane, dim)) cuts_.emplace_back(dim, *at);
    }

    void take(std::span<const std::byte> bytes, const Box& box, std::uint64_t first) {
        const auto count = bytes.size() / plane_.variable.type.size_bytes;
        const insitu::Elements piece{.columns = {}, .first = first, .count = count, .box = box};
        const int last = box.size.dims() - 1;
        insitu::for_each_line(piece, [&](const insitu::ArrayLine& line) {
            for (const auto& [dim, at] : cuts_)
                if (line.at[dim] != at) return;
            if (plane_.axis != last) return take_row(bytes, line, last);
            if (plane_.index < line.at[last] || plane_.index - line.at[last] >= line.count) return;
            double value = 0;
            numbers_.take_doubles(bytes, line.first + (plane_.index - line.at[last]), {&value, 1});
            put(line.at[plane_.x_dim], line.at[plane_.y_dim], value);
        });
    }

private:
    void put(std::uint64_t x, std::uint64_t y, double value) {
        if (x % plane_.x_stride != 0 || y % plane_.y_stride != 0) return;
        plane_.values[y / plane_.y_stride * plane_.width + x / plane_.x_stride] = static_cast<float>(value);
    }
    void take_row(std::span<const std::byte> bytes, const insitu::ArrayLine& line, int last) {
        const auto y = line.at[plane_.y_dim];
        if (y % plane_.y_stride != 0) return;
        row_.resize(line.count);
        numbers_.take_doubles(bytes, line.first, row_);
        for (std::uint64_t i = 0; i < line.count; ++i) put(line.at[last] + i, y, row_[i]);
    }

    FieldPlane& plane_;
    const insitu::RealNumbers& numbers_;
    std::vector<std::pair<int, std::uint64_t>> cuts_;  // without the last dimension
    std::vector<double> row_;
};

/// The segments of a block that meet the plane.
template <class Use>
Result<> each_segment(const FieldPlane& plane, const format::Block& block, Use&& use) {
    const auto elements = limits::segment_bytes / plane.variable.type.size_bytes;
    for (std::uint64_t i = 0; i * limits::segment_bytes < block.size_bytes; ++i) {
        const auto bytes = std::min(limits::segment_bytes, block.size_bytes - i * limits::segment_bytes);
        if (meets(plane, block.box, i * elements, bytes / plane.variable.type.size_bytes)) FB_TRY(use(i, bytes));
    }
    return {};
}

Result<> fill(FieldPlane& plane, OpenSnapshot& snapshot, SegmentCache& cache) {
    FB_TRY_ASSIGN(numbers, insitu::RealNumbers::of(plane.variable));
    PlaneFiller filler(plane, numbers);
    const auto& manifest = snapshot.manifest();
    const auto variable =
        static_cast<std::size_t>(find(manifest.schema, plane.variable.name) - manifest.schema.variables.data());
    const auto shape =
        static_cast<std::size_t>(std::ranges::find(manifest.shapes, plane.variable.shape) - manifest.shapes.begin());
    std::uint64_t read_bytes = 0;
    for (std::size_t node = 0; node < manifest.nodes.size(); ++node) {
        const auto& bounds = manifest.nodes[node].bounds;
        if (shape < bounds.size() && (!bounds[shape] || !meets(plane, *bounds[shape]))) continue;
        FB_TRY_ASSIGN(reader, snapshot.node(node));
        const auto blocks = reader->head().blocks;  // a copy: the reader may be dropped while its segments are read
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            if (blocks[b].variable != variable || !meets(plane, blocks[b].box)) continue;
            FB_TRY(each_segment(plane, blocks[b], [&](std::uint64_t i, std::uint64_t bytes) -> Result<> {
                if ((read_bytes += bytes) > plane_read_max_bytes)
                    return Error{ErrorKind::refused,
                                 fmt::format("this plane crosses more than {}", show_bytes(plane_read_max_bytes)), "",
                                 "choose another axis"};
                FB_TRY_ASSIGN(segment, snapshot.segment(node, b, i, cache));
                filler.take(segment, blocks[b].box, i * (limits::segment_bytes / plane.variable.type.size_bytes));
                return {};
            }));
        }
    }
    return {};
}

}  // namespace

FieldReader::FieldReader(sys::Store& store, std::string run)
    : store_(store), run_(std::move(run)), segments_(segments_max) {}

Result<catalog::Snapshot> FieldReader::snapshot_of(const std::string& stream, std::int64_t step) const {
    FB_TRY_ASSIGN(streams, catalog::streams(store_, run_));
    // A name that is no stream of the run must not be used as a path.
    if (std::ranges::find(streams, stream) == streams.end())
        return Error{ErrorKind::missing, fmt::format("the run has no stream '{}'", stream)};
    FB_TRY_ASSIGN(all, catalog::snapshots(store_, run_, stream));
    for (auto& snapshot : all)
        if (step < 0 || snapshot.step == step) return std::move(snapshot);
    return Error{ErrorKind::missing, step < 0
                                         ? fmt::format("stream '{}' has no committed snapshot", stream)
                                         : fmt::format("stream '{}' does not have step {} any more", stream, step)};
}

Result<OpenSnapshot*> FieldReader::open(const catalog::Snapshot& snapshot) {
    const auto known =
        std::ranges::find(opened_, snapshot.directory, [](const auto& reader) { return reader->snapshot().directory; });
    if (known != opened_.end()) {
        if ((*known)->is_current()) return known->get();
        opened_.erase(known);
    }
    FB_TRY_ASSIGN(opened, OpenSnapshot::open(store_, snapshot));
    if (opened_.size() >= opened_max) opened_.erase(opened_.begin());
    opened_.push_back(std::move(opened));
    return opened_.back().get();
}

Result<std::shared_ptr<const FieldPlane>> FieldReader::plane(const PlaneRequest& request) {
    FB_TRY_ASSIGN(snapshot, snapshot_of(request.stream, request.step));
    const std::lock_guard lock(mutex_);
    FB_TRY_ASSIGN(opened, open(snapshot));
    const auto id = opened->manifest().snapshot_id;
    const auto known = std::ranges::find_if(
        planes_, [&](const auto& plane) { return plane.first == request && plane.second->snapshot_id == id; });
    if (known != planes_.end()) return known->second;
    const auto* const variable = find(opened->manifest().schema, request.variable);
    if (variable == nullptr)
        return Error{ErrorKind::missing,
                     fmt::format("stream '{}' has no variable '{}'", request.stream, request.variable)};
    auto plane = std::make_shared<FieldPlane>();
    plane->variable = *variable;
    plane->moment = {opened->manifest().step, opened->manifest().time};
    plane->snapshot_id = id;
    FB_TRY(lay_out(*plane, request));
    FB_TRY(fill(*plane, *opened, segments_));
    if (planes_.size() >= planes_max) planes_.erase(planes_.begin());
    planes_.emplace_back(request, plane);
    return std::shared_ptr<const FieldPlane>(std::move(plane));
}

}  // namespace forebay::cli
