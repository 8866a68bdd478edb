#include "program/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/wait_until.hpp"
#include "path/catalog/history.hpp"

namespace forebay::cli {

namespace {

constexpr sys::Pauses look_pauses{std::chrono::milliseconds(50), std::chrono::seconds(1)};

struct StepRange {
    std::int64_t first = 0, last = 0;
    bool holds(std::int64_t step) const { return first <= step && step <= last; }
};

struct Asked {
    std::string place;  // without the steps
    bool all = false;
    std::vector<StepRange> ranges;
};

std::optional<std::int64_t> take_number(std::string_view& text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || number < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

/// "all", "100-500" or "100,200,500-900" after the last '@'; nothing for a single snapshot or none.
std::optional<Asked> series_in(const std::string& text) {
    const auto at = text.rfind('@');
    if (at == std::string::npos) return std::nullopt;
    std::string_view rest = std::string_view(text).substr(at + 1);
    Asked asked{.place = text.substr(0, at), .all = rest == "all", .ranges = {}};
    if (asked.all) return asked;
    for (;;) {
        const auto first = take_number(rest);
        if (!first) return std::nullopt;
        StepRange range{*first, *first};
        if (rest.starts_with('-')) {
            rest.remove_prefix(1);
            const auto last = take_number(rest);
            if (!last || *last < *first) return std::nullopt;
            range.last = *last;
        }
        asked.ranges.push_back(range);
        if (rest.empty()) break;
        if (!rest.starts_with(',')) return std::nullopt;
        rest.remove_prefix(1);
    }
    const bool is_one = asked.ranges.size() == 1 && asked.ranges[0].first == asked.ranges[0].last;
    return is_one ? std::nullopt : std::optional(asked);
}

Result<std::string> stream_of(const Place& place, const std::string& text) {
    if (place.streams.size() == 1) return place.streams.front();
    return Error{ErrorKind::refused, fmt::format("{}: several steps must come from one stream", text), "",
                 fmt::format("give the stream: {}/STREAM", place.run)};
}

/// The first requested step that is missing, as text; empty if all are present.
Result<std::string> lacks(sys::Store& store, const Asked& asked, const Place& place, const std::string& stream,
                          const std::vector<catalog::Snapshot>& snapshots) {
    const auto has = [&](std::int64_t step) {
        return std::ranges::find(snapshots, step, &catalog::Snapshot::step) != snapshots.end();
    };
    for (const auto& range : asked.ranges)
        for (const auto step : {range.first, range.last})
            if (!has(step)) return fmt::format("step {} is not committed", step);
    FB_TRY_ASSIGN(leftovers, catalog::leftovers(store, place.run, stream));
    for (const auto& leftover : leftovers)
        if (leftover.kind == catalog::Leftover::Kind::part && !has(leftover.step) &&
            std::ranges::any_of(asked.ranges, [&](const StepRange& range) { return range.holds(leftover.step); }))
            return fmt::format("step {} is being drained, or was left by a crash", leftover.step);
    return std::string();
}

Result<std::vector<catalog::Snapshot>> find_series(sys::Store& store, const Asked& asked, bool is_complete,
                                                   StreamNeed need) {
    FB_TRY_ASSIGN(place, find_place(store, asked.place, need));
    FB_TRY_ASSIGN(stream, stream_of(place, asked.place));
    FB_TRY_ASSIGN(all, catalog::living_snapshots(store, place.run, stream));
    std::vector<catalog::Snapshot> snapshots;
    for (const auto& snapshot : all)
        if (asked.all ||
            std::ranges::any_of(asked.ranges, [&](const StepRange& range) { return range.holds(snapshot.step); }))
            snapshots.push_back(snapshot);
    std::ranges::sort(snapshots, {}, &catalog::Snapshot::step);
    const auto not_there = [&](const std::string& what) {
        return Error{ErrorKind::missing, fmt::format("{}/{}: {}", place.run, stream, what), "",
                     fmt::format("forebay ls {}", place.run)};
    };
    for (const auto& range : asked.ranges)
        if (range.first == range.last &&
            std::ranges::find(snapshots, range.first, &catalog::Snapshot::step) == snapshots.end())
            return not_there(fmt::format("step {} is not committed", range.first));
    if (is_complete) {
        FB_TRY_ASSIGN(lacking, lacks(store, asked, place, stream, snapshots));
        if (!lacking.empty()) return not_there(lacking);
    }
    if (snapshots.empty()) return not_there("none of these steps is committed");
    return snapshots;
}

Result<std::vector<catalog::Snapshot>> find_one(sys::Store& store, const std::string& text, StreamNeed need) {
    FB_TRY_ASSIGN(place, find_place(store, text, need));
    FB_TRY_ASSIGN(snapshot, one_snapshot(store, place));
    return std::vector{snapshot};
}

}  // namespace

Result<Steps> find_steps(sys::Store& store, const std::string& text, std::chrono::seconds wait, StreamNeed need) {
    const auto asked = series_in(text);
    if (wait > std::chrono::seconds::zero() && (text.ends_with("@all") || text.ends_with("@last")))
        return Error{ErrorKind::refused, fmt::format("{}: --wait needs steps to wait for", text), "",
                     fmt::format("{}@FIRST-LAST", text.substr(0, text.rfind('@')))};
    Result<std::vector<catalog::Snapshot>> snapshots = std::vector<catalog::Snapshot>();
    sys::wait_until(sys::Clock::now() + wait, look_pauses, [&] {
        snapshots =
            asked ? find_series(store, *asked, wait > std::chrono::seconds::zero(), need) : find_one(store, text, need);
        return snapshots || snapshots.error().kind != ErrorKind::missing;
    });
    FB_TRY(snapshots);
    return Steps{std::move(*snapshots), asked.has_value()};
}

}  // namespace forebay::cli
