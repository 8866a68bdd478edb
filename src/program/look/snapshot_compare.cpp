// Each block of the first snapshot is read once, segment by segment. Overlapping blocks of the second snapshot are read
// beside it through a cache: each of them needs one segment at a time.

#include "program/look/snapshot_compare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/describe/geometry.hpp"
#include "program/look/open_snapshot.hpp"

namespace forebay::cli {

namespace {

// Cached segments of the second snapshot: so many blocks may cross a segment of the first before any is read twice.
constexpr std::size_t second_segments_max = 127;

std::string shown_kind(const Variable& variable) {
    const auto kind = fmt::format("{} {}", name_of(variable.type), name_of(variable.kind));
    return variable.kind == Kind::particles ? kind : fmt::format("{}, {}", kind, show_shape(variable.shape));
}

/// A block of one variable: its place in a node file, and its box in the global array or in all rows of its table.
struct VariablePart {
    std::size_t node = 0, block = 0;
    Box box;
};

Box whole(const Extents& shape) {
    Box box{shape, shape};
    for (int dim = 0; dim < shape.dims(); ++dim) box.lo[dim] = 0;
    return box;
}

/// The blocks of a variable in one snapshot. For replicated variables rank 0's value counts, in the first node file.
Result<std::vector<VariablePart>> parts_of(OpenSnapshot& snapshot, const Variable& variable) {
    std::vector<VariablePart> parts;
    const auto& manifest = snapshot.manifest();
    const auto number = static_cast<std::size_t>(&variable - manifest.schema.variables.data());
    std::uint64_t rows_before = 0;
    for (std::size_t n = 0; n < manifest.nodes.size(); ++n) {
        FB_TRY_ASSIGN(reader, snapshot.node(n));
        const auto& head = reader->head();
        for (auto b = head.first_block[number]; b < head.first_block[number + 1]; ++b) {
            auto box = head.blocks[b].box;
            if (variable.kind == Kind::particles) box.lo[0] += rows_before;
            if (variable.kind == Kind::replicated) box = whole(variable.shape);
            if (volume(box.size) > 0) parts.push_back({n, b, box});
            if (variable.kind == Kind::replicated) return parts;
        }
        if (variable.kind == Kind::particles) rows_before += manifest.nodes[n].rows[variable.table];
    }
    return parts;
}

std::uint64_t elements_of(const std::vector<VariablePart>& parts) {
    std::uint64_t elements = 0;
    for (const auto& part : parts) elements += volume(part.box.size);
    return elements;
}

Extents place_of(std::uint64_t element, const Box& box) {
    auto at = box.lo;
    for (int dim = box.size.dims() - 1; dim >= 0; --dim) {
        at[dim] += element % box.size[dim];
        element /= box.size[dim];
    }
    return at;
}

class VariableComparison {
public:
    VariableComparison(OpenSnapshot& first, OpenSnapshot& second, SegmentCache& second_cache,
                       const std::function<void(std::uint64_t)>& read, VariableDifference& difference)
        : first_(first), second_(second), second_cache_(second_cache), read_(read), difference_(difference) {}

    Result<> compare(const Variable& first, const Variable& second) {
        variable_ = &first;
        FB_TRY_ASSIGN(parts, parts_of(first_, first));
        FB_TRY_ASSIGN(others, parts_of(second_, second));
        for (const auto& part : parts) FB_TRY(compare_part(part, others));
        difference_.first_alone = elements_of(parts) - difference_.compared;
        difference_.second_alone = elements_of(others) - difference_.compared;
        return {};
    }

private:
    /// A block of the second snapshot that overlaps a block of the first.
    struct Overlap {
        const VariablePart* part = nullptr;
        std::uint64_t first_byte = 0, second_byte = 0;  // of their common box, in each block
        RunWalk walk;
        std::uint64_t last_element = no_element;
    };

    Result<> compare_part(const VariablePart& part, const std::vector<VariablePart>& others) {
        const auto element = variable_->type.size_bytes;
        const auto strides = packed_strides(part.box.size, element);
        std::vector<Overlap> overlaps;
        for (const auto& other : others) {
            const auto common = intersect(part.box, other.box);
            if (!common) continue;
            const auto other_strides = packed_strides(other.box.size, element);
            overlaps.push_back(
                {.part = &other,
                 .first_byte = static_cast<std::uint64_t>(offset_bytes(common->lo, part.box.lo, strides)),
                 .second_byte = static_cast<std::uint64_t>(offset_bytes(common->lo, other.box.lo, other_strides)),
                 .walk = RunWalk(common->size, element, strides, other_strides)});
            difference_.compared += volume(common->size);
        }
        const auto bytes = volume(part.box.size) * element;
        SegmentCache cache(1);
        for (std::uint64_t i = 0; i * limits::segment_bytes < bytes; ++i) {
            FB_TRY_ASSIGN(segment, first_.segment(part.node, part.block, i, cache));
            for (auto& overlap : overlaps) FB_TRY(compare_segment(part, overlap, segment, i * limits::segment_bytes));
            read_(segment.size());
        }
        return {};
    }

    Result<> compare_segment(const VariablePart& part, Overlap& overlap, std::span<const std::byte> segment,
                             std::uint64_t begin) {
        auto walk = overlap.walk;
        const auto end = begin + segment.size();
        for (auto done = walk.seek(begin - std::min(begin, overlap.first_byte)); !walk.done(); walk.next(), done = 0) {
            const auto at = overlap.first_byte + static_cast<std::uint64_t>(walk.a()) + done;
            if (at >= end) return {};
            const auto bytes = std::min(walk.run_bytes() - done, end - at);
            FB_TRY(compare_run(part, overlap, segment.subspan(at - begin, bytes), at,
                               overlap.second_byte + static_cast<std::uint64_t>(walk.b()) + done));
        }
        return {};
    }

    Result<> compare_run(const VariablePart& part, Overlap& overlap, std::span<const std::byte> run, std::uint64_t at,
                         std::uint64_t second_at) {
        while (!run.empty()) {
            const auto in_segment = second_at % limits::segment_bytes;
            FB_TRY_ASSIGN(segment, second_.segment(overlap.part->node, overlap.part->block,
                                                   second_at / limits::segment_bytes, second_cache_));
            const auto bytes = std::min(run.size(), segment.size() - in_segment);
            add_difference(variable_->type, run.first(bytes), segment.subspan(in_segment, bytes), at,
                           overlap.last_element, difference_.values);
            if (difference_.values.is_news) {
                const auto element = difference_.values.news_at / variable_->type.size_bytes;
                difference_.at = place_of(element, part.box);
            }
            run = run.subspan(bytes);
            at += bytes;
            second_at += bytes;
        }
        return {};
    }

    OpenSnapshot& first_;
    OpenSnapshot& second_;
    SegmentCache& second_cache_;
    const std::function<void(std::uint64_t)>& read_;
    VariableDifference& difference_;
    const Variable* variable_ = nullptr;
};

}  // namespace

Result<ComparedSnapshots> compare_snapshots(sys::Store& store, const catalog::Snapshot& first,
                                            const catalog::Snapshot& second,
                                            const std::function<void(std::uint64_t, std::uint64_t)>& watch) {
    FB_TRY_ASSIGN(snapshot, OpenSnapshot::open(store, first));
    FB_TRY_ASSIGN(other, OpenSnapshot::open(store, second));
    const auto &schema = snapshot->manifest().schema, &others = other->manifest().schema;
    ComparedSnapshots compared;
    std::uint64_t all_bytes = 0;
    for (const auto& line : snapshot->manifest().nodes) all_bytes += line.data_bytes;
    SegmentCache cache(second_segments_max);
    for (const auto& variable : schema.variables) {
        auto& difference = compared.variables.emplace_back();
        difference.name = variable.name;
        difference.kind = variable.kind;
        difference.first = shown_kind(variable);
        const auto* const same = find(others, variable.name);
        if (same == nullptr) continue;
        difference.second = shown_kind(*same);
        difference.is_comparable = difference.first == difference.second;
        if (!difference.is_comparable) continue;
        const std::function<void(std::uint64_t)> read = [&](std::uint64_t bytes) {
            compared.bytes += bytes;
            watch(compared.bytes, all_bytes);
        };
        FB_TRY(VariableComparison(*snapshot, *other, cache, read, difference).compare(variable, *same));
    }
    for (const auto& variable : others.variables) {
        if (find(schema, variable.name) != nullptr) continue;
        auto& difference = compared.variables.emplace_back();
        difference.name = variable.name;
        difference.kind = variable.kind;
        difference.second = shown_kind(variable);
    }
    return compared;
}

}  // namespace forebay::cli
