// Writes a timeline: processes, their tracks, and slices and counters on the tracks. Formats: Perfetto's TrackEvent
// messages, and the JSON of Chrome's trace viewer.
//
// Life:  head() -> other calls in any order -> tail(). A process comes before its tracks, a track before its slices.
//       Between calls you may write `out` to the file and clear it.
// Names: any text. Control characters and invalid UTF-8 are spelled out (base/show_text.hpp).

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace forebay::report {

/// Two slices of a track are nested or do not overlap.
struct TraceSlice {
    std::uint64_t start_unix_ns = 0, end_unix_ns = 0;
    std::uint32_t depth = 0;  // how many slices of its track it lies within
    std::string name, category;
    std::string stream;  // "": the slice has no snapshot
    std::int64_t step = -1;
    std::uint64_t bytes = 0;
    std::string target;        // "": no target
    std::uint32_t merged = 0;  // further timings merged into it
    bool failed = false;
    std::string outcome;           // of a snapshot
    std::vector<std::string> why;  // of a snapshot: one sentence each
};

struct TraceTrack {
    std::uint64_t id = 0;  // unique in the timeline, not 0
    std::uint32_t process = 0;
    std::string name;
    std::string unit = {};  // only for a counter
};

struct CounterPoint {
    std::uint64_t unix_ns = 0;
    double value = 0;
};

class TraceSink {
public:
    virtual ~TraceSink() = default;
    virtual void head(std::string& out) = 0;
    /// Process numbers begin at 1.
    virtual void process(std::string& out, std::uint32_t number, const std::string& name) = 0;
    virtual void track(std::string& out, const TraceTrack& track) = 0;
    /// Call it once a track. Slices are sorted by start; a slice comes before the slices within it.
    virtual void slices(std::string& out, const TraceTrack& track, std::span<const TraceSlice> slices) = 0;
    virtual void counter(std::string& out, const TraceTrack& track, std::span<const CounterPoint> points) = 0;
    virtual void tail(std::string& out) = 0;
};

/// Nothing begins before `origin_unix_ns`.
std::unique_ptr<TraceSink> perfetto_sink(std::uint64_t origin_unix_ns);
/// Times are microseconds since the origin, which the file holds: a double can hold nanoseconds of only 100 days.
std::unique_ptr<TraceSink> chrome_sink(std::uint64_t origin_unix_ns);

}  // namespace forebay::report
