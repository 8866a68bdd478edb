// A second implementation of the retention rule, applied to the content of the target.

#include <fmt/format.h>

#include <algorithm>

#include "crash/world.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/marks.hpp"

namespace forebay::crash {

namespace {

/// A snapshot as retention should see it.
struct Seen {
    std::uint64_t id = 0;
    std::int64_t step = 0;
    format::Line line;
    std::uint64_t save = 0;
    bool is_marked = false, is_good = false;
};

Seen look(sys::Store& disk, const catalog::Version& version) {
    Seen seen{version.head.snapshot_id, version.head.step, version.head.lineage.line(), version.head.lineage.save};
    const auto manifest = catalog::load_manifest(disk, version.snapshot.directory);
    const auto marks = manifest ? catalog::marks_of(disk, version.snapshot.directory, *manifest)
                                : Result<std::vector<format::Mark>>(manifest.error());
    const auto verified = catalog::verify(disk, version.snapshot, {});
    seen.is_marked = marks && !marks->empty();
    seen.is_good = version.readable && marks && marks->empty() && verified && verified->damage.empty();
    return seen;
}

std::vector<Seen> look(sys::Store& disk, const std::vector<catalog::Version>& versions) {
    std::vector<Seen> all;
    for (const auto& version : versions) all.push_back(look(disk, version));
    return all;
}

/// The number of snapshots newer than `id` that `counts` accepts.
template <class Counts>
int newer(const std::vector<Seen>& all, std::uint64_t id, const Counts& counts) {
    const auto own = std::ranges::find(all, id, &Seen::id);
    return static_cast<int>(std::count_if(all.begin(), own, counts));
}

/// The reason that permits the removal; "" if the snapshot must stay.
std::string reason(const catalog::Retention& what, const std::vector<Seen>& living, const std::vector<Seen>& left,
                   const std::vector<format::Line>& dropped, const Seen& gone) {
    const auto is_good = [](const Seen& seen) { return seen.is_good; };
    const auto is_marked = [](const Seen& seen) { return seen.is_marked; };
    if (std::ranges::count(living, gone.id, &Seen::id) > 0) {
        if (what.keep == 0) return {};
        if (newer(living, gone.id, is_good) >= what.keep) return "newer ones are good";
        return gone.is_marked && newer(living, gone.id, is_marked) >= what.keep ? "newer ones are marked" : "";
    }
    if (what.keep_abandoned >= 0) {
        if (newer(left, gone.id, is_good) >= what.keep_abandoned) return "enough of it stays";
        return gone.is_marked && newer(left, gone.id, is_marked) >= what.keep_abandoned ? "enough marked stay" : "";
    }
    // A person has given up a dropped line: each good snapshot takes its place.
    const bool is_dropped = std::ranges::count(dropped, gone.line) > 0;
    const auto came_after = [&](const Seen& seen) { return seen.is_good && (is_dropped || gone.line < seen.line); };
    return what.keep > 0 && std::ranges::count_if(living, came_after) >= what.keep ? "enough came after" : "";
}

/// True if a later save of the same step and line replaces it.
bool is_replaced(const std::vector<Seen>& living, const std::vector<Seen>& left, const Seen& gone) {
    const auto replaces = [&](const Seen& seen) {
        return seen.id != gone.id && seen.step == gone.step && seen.line == gone.line && seen.save >= gone.save;
    };
    return std::ranges::any_of(living, replaces) || std::ranges::any_of(left, replaces);
}

}  // namespace

void World::judge_retention(const catalog::Retention& what) {
    const auto before = disk_->clone(), after = disk_->clone();
    const auto history = catalog::history(*before, run, stream);
    if (!history || !pruned(*after, what)) return;
    const auto living = look(*before, history->living), left = look(*before, history->abandoned);
    const auto there = ids_on(*after);
    for (const auto* list : {&living, &left})
        for (const auto& seen : *list)
            if (!there.contains(seen.id) && reason(what, living, left, history->dropped, seen).empty() &&
                !is_replaced(living, left, seen))
                ledger_.wrong.push_back(
                    fmt::format("retention of {} removes step {} of line {}, and too little that is "
                                "good stays",
                                what.keep, seen.step, format::name_of(seen.line)));
}

}  // namespace forebay::crash
