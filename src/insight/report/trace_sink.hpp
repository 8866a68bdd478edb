// A timeline as it is written: processes, tracks below them, slices and counters on the tracks. Two formats: Perfetto's
// TrackEvent messages, and the JSON of Chrome's trace viewer.
//
// Life:  head() -> any of the calls, a process before its tracks, a track before what lies on it -> tail().
//        What each has added to `out` may be written and cleared at any time.
// Names: any text; what commands terminals, and bytes that are no UTF-8, are spelled out (base/show_text.hpp).

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace forebay::report {

/// On a track no two slices overlap but by one lying within the other.
struct TraceSlice {
    std::uint64_t start_unix_ns = 0, end_unix_ns = 0;
    std::uint32_t depth = 0;  // how many of its track it lies within
    std::string name, category;
    std::string stream;  // "": no arguments of a snapshot
    std::int64_t step = -1;
    std::uint64_t bytes = 0;
    std::string target;        // "": none
    std::uint32_t merged = 0;  // timings in it beside the first
    bool failed = false;
    std::string outcome;           // of a snapshot
    std::vector<std::string> why;  // of a snapshot: a sentence each
};

struct TraceTrack {
    std::uint64_t id = 0;  // unique in the timeline, not 0
    std::uint32_t process = 0;
    std::string name;
    std::string unit = {};  // of a counter
};

struct CounterPoint {
    std::uint64_t unix_ns = 0;
    double value = 0;
};

class TraceSink {
public:
    virtual ~TraceSink() = default;
    virtual void head(std::string& out) = 0;
    /// Processes are numbered from 1.
    virtual void process(std::string& out, std::uint32_t number, const std::string& name) = 0;
    virtual void track(std::string& out, const TraceTrack& track) = 0;
    /// Of one track, once: by their beginnings, and one that holds others before these.
    virtual void slices(std::string& out, const TraceTrack& track, std::span<const TraceSlice> slices) = 0;
    virtual void counter(std::string& out, const TraceTrack& track, std::span<const CounterPoint> points) = 0;
    virtual void tail(std::string& out) = 0;
};

/// `origin_unix_ns`: nothing begins before it.
std::unique_ptr<TraceSink> perfetto_sink(std::uint64_t origin_unix_ns);
/// Times are microseconds since the origin, which stands in the file: a double holds nanoseconds of 100 days only.
std::unique_ptr<TraceSink> chrome_sink(std::uint64_t origin_unix_ns);

}  // namespace forebay::report
