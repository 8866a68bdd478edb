// Planes of arrays of committed snapshots as numbers, for pictures on the live page: of each file it reads the segments
// that the plane goes through, verified.
//
// Threads: any; one plane is read at a time, so that a page with many viewers reads no more than with one.

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
    int axis = 0;             // across which the plane is cut; of an array of two dimensions it does not count
    std::int64_t index = -1;  // -1: the middle
    friend bool operator==(const PlaneRequest&, const PlaneRequest&) = default;
};

/// Dimensions beyond the last three are cut at 0.
struct FieldPlane {
    Variable variable;
    insitu::Moment moment;
    std::uint64_t snapshot_id = 0;
    int axis = -1;  // -1: the array is the plane
    std::uint64_t index = 0;
    int x_dim = -1, y_dim = -1;
    std::uint64_t width = 0, height = 0;       // of `values`
    std::uint64_t x_stride = 1, y_stride = 1;  // every so many elements
    std::vector<float> values;                 // row-major, y slower; NaN where no block has the element
};

class FieldReader {
public:
    FieldReader(sys::Store& store, std::string run);

    /// `missing` where the run has no such snapshot or variable, `refused` for an array that has no such plane or a
    /// plane that is too much to read, `corrupt` where a segment of it is damaged.
    Result<std::shared_ptr<const FieldPlane>> plane(const PlaneRequest& request);
    /// The newest committed snapshot of the stream, or that of a step.
    Result<catalog::Snapshot> snapshot_of(const std::string& stream, std::int64_t step) const;

private:
    Result<OpenSnapshot*> open(const catalog::Snapshot& snapshot);

    sys::Store& store_;
    const std::string run_;
    std::mutex mutex_;  // of all below
    SegmentCache segments_;
    std::vector<std::unique_ptr<OpenSnapshot>> opened_;                               // newest last
    std::vector<std::pair<PlaneRequest, std::shared_ptr<const FieldPlane>>> planes_;  // newest last
};

}  // namespace forebay::cli
