#include "path/agent/missing_views.hpp"

#include <algorithm>
#include <set>

#include "core/base/try.hpp"
#include "core/describe/conventions.hpp"
#include "core/sys/far_module.hpp"

namespace forebay::agent {

namespace {

bool was_committed(const std::vector<commit::Recovered>& recovered, const catalog::Snapshot& snapshot) {
    return std::ranges::any_of(recovered, [&](const commit::Recovered& entry) {
        return entry.outcome == commit::Recovered::Outcome::committed && entry.leftover.stream == snapshot.stream &&
               entry.leftover.step == snapshot.step;
    });
}

}  // namespace

Result<std::vector<OwedView>> make_missing_views(sys::Store& store, const std::string& run,
                                                 const std::vector<commit::Recovered>& recovered,
                                                 const ViewMaker& make_view) {
    std::vector<OwedView> owed;
    if (sys::is_far(run)) return owed;  // a view has paths of files
    FB_TRY_ASSIGN(streams, catalog::streams(store, run));
    for (const auto& stream : streams) {
        FB_TRY_ASSIGN(snapshots, catalog::snapshots(store, run, stream));
        FB_TRY_ASSIGN(entries, store.list(run + "/" + stream));
        std::set<std::string> names;
        for (const auto& entry : entries) names.insert(entry.name);
        bool has_any = false;
        for (const auto& known : describe::known_conventions) {
            const auto convention = known.convention;
            std::vector<catalog::Snapshot> without;
            for (const auto& snapshot : snapshots)
                if (!names.contains(catalog::view_name(snapshot.step, convention))) without.push_back(snapshot);
            if (without.size() == snapshots.size()) continue;
            has_any = true;
            for (const auto& snapshot : without)
                owed.push_back({snapshot, convention, make_view(store, snapshot, convention)});
        }
        // Without any view nothing shows the requested conventions: plain is the default.
        if (!has_any &&
            std::ranges::any_of(snapshots, [&](const auto& snapshot) { return was_committed(recovered, snapshot); }))
            for (const auto& snapshot : snapshots)
                owed.push_back({snapshot, Convention::plain, make_view(store, snapshot, Convention::plain)});
    }
    return owed;
}

}  // namespace forebay::agent
