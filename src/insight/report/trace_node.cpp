#include "insight/report/trace_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "core/format/timing.hpp"
#include "insight/report/trace_lanes.hpp"

namespace forebay::report {

namespace {

using format::Timing;
using format::TimingBatch;
using format::TimingKind;

constexpr std::uint64_t unix_ns_max = std::numeric_limits<std::int64_t>::max() / 2;  // the year 2116

// The groups of tracks in display order. Rank r has the number `rank` + r.
enum class TrackGroup : std::uint32_t { snapshots, agent, writers, analyses, rank };

TrackGroup group_of(TimingKind kind) {
    switch (kind) {
        case TimingKind::save:
        case TimingKind::wait:
        case TimingKind::plan:
        case TimingKind::copy:
        case TimingKind::agree: return TrackGroup::rank;
        case TimingKind::write: return TrackGroup::writers;
        case TimingKind::analysis: return TrackGroup::analyses;
        default: return TrackGroup::agent;
    }
}

const char* category_of(TrackGroup group) {
    switch (group) {
        case TrackGroup::snapshots: return "snapshot";
        case TrackGroup::agent: return "agent";
        case TrackGroup::writers: return "write";
        case TrackGroup::analyses: return "analysis";
        case TrackGroup::rank: return "save";
    }
    return "";
}

std::string track_name(std::uint32_t group, std::size_t lane, std::size_t lanes) {
    const auto rank = static_cast<std::uint32_t>(TrackGroup::rank);
    std::string name = group >= rank ? fmt::format("rank {}", group - rank)
                       : group == static_cast<std::uint32_t>(TrackGroup::snapshots) ? "snapshots"
                       : group == static_cast<std::uint32_t>(TrackGroup::agent)     ? "agent"
                       : group == static_cast<std::uint32_t>(TrackGroup::writers)   ? "writer"
                                                                                    : "analyses";
    const bool is_numbered = lanes > 1 || group == static_cast<std::uint32_t>(TrackGroup::writers);
    return is_numbered ? fmt::format("{} {}{}", name, group >= rank ? "/ " : "", lane + 1) : name;
}

std::optional<TraceSpan> span_of(std::uint64_t start_unix_ns, std::uint64_t duration_ns) {
    if (start_unix_ns == 0 || start_unix_ns > unix_ns_max) return {};
    return TraceSpan{.start_unix_ns = start_unix_ns, .end_unix_ns = start_unix_ns + duration_ns};
}

std::optional<TraceSpan> span_of(const Timing& timing) {
    return span_of(timing.start_unix_ns, std::uint64_t{timing.duration_us} * 1000);
}

// From the save of a snapshot to the agent's last action on it.
std::optional<TraceSpan> span_of(const TimingBatch& batch) {
    const auto start = batch.saved_unix_ns != 0    ? batch.saved_unix_ns
                       : batch.sealed_unix_ns != 0 ? batch.sealed_unix_ns
                                                   : batch.drain_unix_ns;
    const auto end = std::max(batch.ended_unix_ns, batch.drained_unix_ns);
    // Clocks may jump back, and records may be incomplete.
    if (start <= 0 || end < start) return {};
    return span_of(static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(end - start));
}

TraceSlice slice_of(const TraceSpan& span, std::uint32_t group, const TimingBatch& batch) {
    TraceSlice slice{.start_unix_ns = span.start_unix_ns,
                     .end_unix_ns = span.end_unix_ns,
                     .depth = span.depth,
                     .category = category_of(static_cast<TrackGroup>(std::min(group, std::uint32_t(TrackGroup::rank)))),
                     .stream = batch.stream,
                     .step = batch.step};
    if (span.timing == whole_snapshot) {
        slice.name = fmt::format("{} {}", batch.stream, batch.step);
        slice.bytes = batch.bytes;
        slice.outcome = batch.outcome.empty() ? "unknown" : batch.outcome;
        slice.failed = batch.outcome == "failed";
        slice.why = batch.why;
        return slice;
    }
    const auto& timing = batch.timings[span.timing];
    // A newer agent may write kinds without a name here.
    const std::string known = format::name_of(static_cast<TimingKind>(timing.kind));
    slice.name = known.empty() ? fmt::format("kind {}", timing.kind) : known;
    slice.bytes = timing.bytes();
    if (timing.target < batch.targets.size()) {
        const auto& name = batch.targets[timing.target].name;
        slice.target = name.empty() ? "target" : name;
    }
    slice.merged = timing.flags >> format::timing_merged_shift & format::timing_merged_max;
    slice.failed = (timing.flags & format::timing_failed) != 0;
    return slice;
}

std::map<std::uint32_t, std::vector<TraceSpan>> spans_of(const std::vector<TimingBatch>& batches,
                                                         std::uint64_t& left_out) {
    std::map<std::uint32_t, std::vector<TraceSpan>> groups;
    for (std::uint32_t b = 0; b < batches.size(); ++b) {
        if (auto span = span_of(batches[b])) {
            span->batch = b;
            span->timing = whole_snapshot;
            groups[static_cast<std::uint32_t>(TrackGroup::snapshots)].push_back(*span);
        } else {
            ++left_out;
        }
        for (std::uint32_t t = 0; t < batches[b].timings.size(); ++t) {
            const auto& timing = batches[b].timings[t];
            const auto kind = static_cast<TimingKind>(timing.kind);
            auto span = span_of(timing);
            if (!span) {
                ++left_out;
                continue;
            }
            span->batch = b;
            span->timing = t;
            span->may_hold = kind == TimingKind::save || kind == TimingKind::drain;
            const auto group = group_of(kind);
            span->may_lie_within = kind == TimingKind::sync || (group == TrackGroup::rank && kind != TimingKind::save);
            auto key = static_cast<std::uint32_t>(group);
            // Each rank is a group of its own.
            if (group == TrackGroup::rank) key += timing.flags & format::timing_source_mask;
            groups[key].push_back(*span);
        }
    }
    return groups;
}

// Bytes a second in flight: each span moves at an even rate.
class RateCurve {
public:
    void add(const Timing& timing) {
        const auto span = span_of(timing);
        if (!span || timing.kib == 0) return;
        const double rate = static_cast<double>(timing.bytes()) / (std::max(timing.duration_us, 1u) * 1e-6);
        changes_.push_back({span->start_unix_ns, rate});
        // At least 1 us, the unit of durations, so that a short move still shows.
        changes_.push_back({std::max(span->end_unix_ns, span->start_unix_ns + 1000), -rate});
    }
    void add(std::int64_t unix_ns, double change) {
        if (unix_ns > 0 && static_cast<std::uint64_t>(unix_ns) <= unix_ns_max)
            changes_.push_back({static_cast<std::uint64_t>(unix_ns), change});
    }
    std::vector<CounterPoint> points() {
        std::ranges::stable_sort(changes_, {}, &CounterPoint::unix_ns);
        std::vector<CounterPoint> points;
        double sum = 0;
        std::int64_t rising = 0;
        for (std::size_t i = 0; i < changes_.size(); ++i) {
            sum += changes_[i].value;
            rising += changes_[i].value > 0 ? 1 : -1;
            // All changes at one moment make one point.
            if (i + 1 < changes_.size() && changes_[i + 1].unix_ns == changes_[i].unix_ns) continue;
            // With no span open, the rest of the sum is rounding, not a rate.
            points.push_back({changes_[i].unix_ns, rising <= 0 ? 0.0 : std::max(sum, 0.0)});
            if (rising <= 0) sum = 0;
        }
        return points;
    }

private:
    std::vector<CounterPoint> changes_;
};

}  // namespace

TraceTrack NodeTrace::next_track(std::uint32_t process, const std::string& name, const std::string& unit) {
    TraceTrack track{.id = ++counts_.tracks, .process = process, .name = name, .unit = unit};
    sink_.track(out_, track);
    return track;
}

void NodeTrace::add_counters(std::uint32_t process, const std::vector<TimingBatch>& batches) {
    RateCurve in, out, backlog;
    for (const auto& batch : batches) {
        for (const auto& timing : batch.timings) {
            if (timing.kind == static_cast<std::uint16_t>(TimingKind::copy)) in.add(timing);
            if (timing.kind == static_cast<std::uint16_t>(TimingKind::write)) out.add(timing);
        }
        // Bytes wait from their seal until their drain ends.
        if (batch.sealed_unix_ns > 0 && batch.drained_unix_ns >= batch.sealed_unix_ns && batch.bytes > 0) {
            backlog.add(batch.sealed_unix_ns, static_cast<double>(batch.bytes));
            backlog.add(batch.drained_unix_ns, -static_cast<double>(batch.bytes));
        }
    }
    const auto show = [&](const char* name, const char* unit, RateCurve& curve) {
        const auto points = curve.points();
        if (points.empty()) return;
        counts_.points += points.size();
        sink_.counter(out_, next_track(process, name, unit), points);
    };
    show("saved", "B/s", in);
    show("drained", "B/s", out);
    show("backlog", "B", backlog);
}

void NodeTrace::add(std::uint32_t process, const std::string& name, const std::vector<TimingBatch>& batches) {
    sink_.process(out_, process, name);
    add_counters(process, batches);
    for (auto& [group, spans] : spans_of(batches, counts_.left_out)) {
        const auto lanes = lanes_of(std::move(spans));
        counts_.left_out += lanes.left_out;
        for (std::size_t lane = 0; lane < lanes.lanes.size(); ++lane) {
            std::vector<TraceSlice> slices;
            for (const auto& span : lanes.lanes[lane]) slices.push_back(slice_of(span, group, batches[span.batch]));
            counts_.slices += slices.size();
            sink_.slices(out_, next_track(process, track_name(group, lane, lanes.lanes.size())), slices);
        }
    }
}

std::uint64_t first_moment(const std::vector<TimingBatch>& batches) {
    std::uint64_t first = 0;
    const auto take = [&](const std::optional<TraceSpan>& span) {
        if (span && (first == 0 || span->start_unix_ns < first)) first = span->start_unix_ns;
    };
    for (const auto& batch : batches) {
        take(span_of(batch));
        // The counter of waiting bytes begins at the seal.
        if (batch.sealed_unix_ns > 0) take(span_of(static_cast<std::uint64_t>(batch.sealed_unix_ns), 0));
        for (const auto& timing : batch.timings) take(span_of(timing));
    }
    return first;
}

}  // namespace forebay::report
