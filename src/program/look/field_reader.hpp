// Planes of arrays in committed snapshots as numbers, for pictures on the live page. Of each file it reads and verifies
// only the segments that meet the plane.
//
// Threads: any. One plane is read at a time, so a page with many viewers reads no more than with one.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/describe/schema.hpp"
#include "insight/insitu/analyser.hpp"
#include "program/look/open_snapshot.hpp"

namespace forebay::cli {

struct PlaneRequest {
    std::string stream, variable;
    std::int64_t step = -1;   // -1: the newest
    int axis = 0;             // the plane is perpendicular to it; ignored for an array of two dimensions
    std::int64_t index = -1;  // -1: the middle
    friend bool operator==(const PlaneRequest&, const PlaneRequest&) = default;
};

/// Dimensions before the last three are cut at 0.
struct FieldPlane {
    Variable variable;
    insitu::Moment moment;
    std::uint64_t snapshot_id = 0;
    int axis = -1;  // -1: the array is the plane
    std::uint64_t index = 0;
    int x_dim = -1, y_dim = -1;
    std::uint64_t width = 0, height = 0;       // of `values`
    std::uint64_t x_stride = 1, y_stride = 1;  // takes every x_stride-th and y_stride-th element
    std::vector<float> values;                 // row-major, y slower; NaN if no block has the element
};

class FieldReader {
public:
    FieldReader(sys::Store& store, std::string run);

    /// Returns `missing` if the run has no such snapshot or variable, `refused` if the array has no such plane or the
    /// plane is too large to read, `corrupt` if a segment of it is damaged.
    Result<std::shared_ptr<const FieldPlane>> plane(const PlaneRequest& request);
    /// The newest committed snapshot of the stream, or the snapshot of a step.
    Result<catalog::Snapshot> snapshot_of(const std::string& stream, std::int64_t step) const;

private:
    Result<OpenSnapshot*> open(const catalog::Snapshot& snapshot);

    sys::Store& store_;
    const std::string run_;
    std::mutex mutex_;  // guards the members below
    SegmentCache segments_;
    std::vector<std::unique_ptr<OpenSnapshot>> opened_;                               // newest last
    std::vector<std::pair<PlaneRequest, std::shared_ptr<const FieldPlane>>> planes_;  // newest last
};

}  // namespace forebay::cli
