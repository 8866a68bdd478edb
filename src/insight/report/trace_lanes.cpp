#include "insight/report/trace_lanes.hpp"

#include <algorithm>
#include <tuple>

namespace forebay::report {

namespace {

constexpr std::uint64_t rounding_ns = 2000;

class Lane {
public:
    bool take(TraceSpan span) {
        // Ended spans. A span without length at the end of another span still lies within it.
        const auto has_ended = [&](const TraceSpan& other) {
            return other.end_unix_ns < span.start_unix_ns ||
                   (other.end_unix_ns == span.start_unix_ns &&
                    (span.end_unix_ns > span.start_unix_ns || other.start_unix_ns == other.end_unix_ns ||
                     !span.may_lie_within || !other.may_hold));
        };
        while (!open_.empty() && has_ended(open_.back())) open_.pop_back();
        if (!open_.empty()) {
            const auto& around = open_.back();
            if (!span.may_lie_within || !around.may_hold || span.end_unix_ns > around.end_unix_ns + rounding_ns)
                return false;
            span.end_unix_ns = std::min(span.end_unix_ns, around.end_unix_ns);
        }
        span.depth = static_cast<std::uint32_t>(open_.size());
        spans_.push_back(span);
        open_.push_back(span);
        return true;
    }
    std::vector<TraceSpan>& spans() { return spans_; }

private:
    std::vector<TraceSpan> spans_, open_;
};

}  // namespace

Lanes lanes_of(std::vector<TraceSpan> spans) {
    std::ranges::stable_sort(spans, {}, [](const TraceSpan& span) {
        return std::tuple(span.start_unix_ns, !span.may_hold, ~span.end_unix_ns);
    });
    std::vector<Lane> lanes;
    Lanes result;
    // Sorted by start, so each lane needs only its open spans.
    for (const auto& span : spans) {
        if (std::ranges::any_of(lanes, [&](Lane& lane) { return lane.take(span); })) continue;
        if (lanes.size() == lanes_max) ++result.left_out;
        else lanes.emplace_back().take(span);
    }
    for (auto& lane : lanes) result.lanes.push_back(std::move(lane.spans()));
    return result;
}

}  // namespace forebay::report
