// The JSON of Chrome's trace viewer ("Trace Event Format"): complete events, with a beginning and a duration.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/show_text.hpp"
#include "insight/report/trace_sink.hpp"

namespace forebay::report {

namespace {

using Object = nlohmann::ordered_json;

class ChromeSink : public TraceSink {
public:
    explicit ChromeSink(std::uint64_t origin_unix_ns) : origin_unix_ns_(origin_unix_ns) {}

    void head(std::string& out) override {
        out += fmt::format("{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"origin_unix_ns\":\"{}\"}},\"traceEvents\":[",
                           origin_unix_ns_);
    }

    void process(std::string& out, std::uint32_t number, const std::string& name) override {
        put(out, {{"ph", "M"}, {"pid", number}, {"name", "process_name"}, {"args", {{"name", show_text(name)}}}});
    }

    void track(std::string& out, const TraceTrack& track) override {
        if (!track.unit.empty()) return;  // a counter needs only events
        const auto of = [&](const char* name, Object arguments) {
            put(out, {{"ph", "M"},
                      {"pid", track.process},
                      {"tid", track.id},
                      {"name", name},
                      {"args", std::move(arguments)}});
        };
        of("thread_name", {{"name", show_text(track.name)}});
        of("thread_sort_index", {{"sort_index", track.id}});
    }

    void slices(std::string& out, const TraceTrack& track, std::span<const TraceSlice> slices) override {
        for (const auto& slice : slices) {
            Object arguments = Object::object();
            if (!slice.stream.empty()) {
                arguments["stream"] = show_text(slice.stream);
                arguments["step"] = slice.step;
            }
            if (slice.bytes > 0) arguments["bytes"] = slice.bytes;
            if (!slice.target.empty()) arguments["target"] = show_text(slice.target);
            if (slice.failed) arguments["failed"] = true;
            if (slice.merged > 0) arguments["merged"] = slice.merged;
            if (!slice.outcome.empty()) arguments["outcome"] = show_text(slice.outcome);
            for (const auto& sentence : slice.why) arguments["why"].push_back(show_text(sentence));
            put(out, {{"ph", "X"},
                      {"pid", track.process},
                      {"tid", track.id},
                      {"ts", since_origin(slice.start_unix_ns)},
                      {"dur", microseconds(slice.end_unix_ns - slice.start_unix_ns)},
                      {"name", show_text(slice.name)},
                      {"cat", show_text(slice.category)},
                      {"args", std::move(arguments)}});
        }
    }

    void counter(std::string& out, const TraceTrack& track, std::span<const CounterPoint> points) override {
        for (const auto& point : points)
            put(out, {{"ph", "C"},
                      {"pid", track.process},
                      {"ts", since_origin(point.unix_ns)},
                      {"name", show_text(track.name)},
                      {"args", {{track.unit, point.value}}}});
    }

    void tail(std::string& out) override { out += "\n]}\n"; }

private:
    static double microseconds(std::uint64_t ns) { return static_cast<double>(ns) / 1000; }
    // Negative for times before the origin, if a clock jumped back while the file was written.
    double since_origin(std::uint64_t unix_ns) const {
        return unix_ns >= origin_unix_ns_ ? microseconds(unix_ns - origin_unix_ns_)
                                          : -microseconds(origin_unix_ns_ - unix_ns);
    }

    void put(std::string& out, const Object& event) {
        out += is_first_ ? "\n" : ",\n";
        is_first_ = false;
        out += event.dump();
    }

    const std::uint64_t origin_unix_ns_;
    bool is_first_ = true;
};

}  // namespace

std::unique_ptr<TraceSink> chrome_sink(std::uint64_t origin_unix_ns) {
    return std::make_unique<ChromeSink>(origin_unix_ns);
}

}  // namespace forebay::report
