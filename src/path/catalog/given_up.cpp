#include "path/catalog/given_up.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/try.hpp"

namespace forebay::catalog {

namespace {

using format::Line;
using format::LineStart;

bool holds(const WentOn& from, std::uint32_t session) {
    return std::ranges::any_of(from.lines, [=](const LineStart& start) { return start.line.session == session; });
}

// The last step that the run keeps from the sessions before `session`. Empty if the run goes on from `session`, or if
// `session` is not after the first remembered session.
std::optional<std::int64_t> kept_to(const WentOn& from, std::uint32_t session) {
    if (from.lines.empty() || session <= from.lines.front().line.session || holds(from, session)) return {};
    const auto next =
        std::ranges::find_if(from.lines, [=](const LineStart& start) { return start.line.session > session; });
    return next == from.lines.end() ? from.step : std::min(from.step, next->from);
}

// A line counts as given up only if it abandoned a snapshot that the run goes on from. A line that abandoned nothing
// stands beside the run, such as results that another program computed from it.
bool is_given_up(const History& history, const WentOn& from, const LineStart& start) {
    const auto last = kept_to(from, start.line.session);
    if (!last) return false;
    return std::ranges::any_of(history.abandoned, [&](const Version& version) {
        const auto line = version.head.lineage.line();
        const auto step = version.head.step;
        return format::abandons(start, line, step) && step <= *last && holds(from, line.session) &&
               std::ranges::none_of(history.starts, [&](const LineStart& other) {
                   return holds(from, other.line.session) && format::abandons(other, line, step);
               });
    });
}

}  // namespace

bool may_have_given_up(const WentOnByStream& from, std::uint32_t session) {
    return !from.empty() && std::ranges::all_of(from, [session](const auto& entry) {
        std::set<std::uint32_t> sessions;
        for (const auto& start : entry.second.lines)
            if (start.line.session < session) sessions.insert(start.line.session);
        // A gap in the numbers is a session that this snapshot does not go on from.
        return !sessions.empty() && sessions.size() < session - *sessions.begin();
    });
}

Result<std::vector<Line>> drop_given_up(sys::Store& store, const std::string& run, const std::string& stream,
                                        const WentOnByStream& from, std::uint32_t session) {
    std::vector<Line> dropped;
    const auto all = history(store, run, stream);
    if (!all && all.error().kind == ErrorKind::missing) return dropped;
    FB_TRY(all);
    std::set<Line> saved;  // lines of `prune --above` have no snapshots: people asked for these lines, so they stay
    for (const auto* list : {&all->living, &all->abandoned})
        for (const auto& version : *list) {
            if (!version.readable) return dropped;
            saved.insert(version.head.lineage.line());
        }
    for (const auto& start : all->starts) {
        const bool is_known = std::ranges::find(dropped, start.line) != dropped.end();
        if (is_known || start.line.session >= session || !saved.contains(start.line)) continue;
        if (!std::ranges::all_of(from, [&](const auto& entry) { return is_given_up(*all, entry.second, start); }))
            continue;
        FB_TRY(mark_dropped(store, run + "/" + stream, start.line));
        dropped.push_back(start.line);
    }
    return dropped;
}

}  // namespace forebay::catalog
