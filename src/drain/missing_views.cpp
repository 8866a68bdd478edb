#include "drain/missing_views.hpp"

#include <algorithm>

namespace forebay::drain {

namespace {

bool was_committed(const std::vector<Recovered>& recovered, const catalog::Snapshot& snapshot) {
    return std::ranges::any_of(recovered, [&](const Recovered& one) {
        return one.outcome == Recovered::Outcome::committed && one.leftover.stream == snapshot.stream &&
               one.leftover.step == snapshot.step;
    });
}

}  // namespace

Result<std::vector<OwedView>> make_missing_views(sys::Store& store, const std::string& run,
                                                 const std::vector<Recovered>& recovered, const ViewMaker& make_view) {
    std::vector<OwedView> owed;
    FB_TRY_ASSIGN(streams, catalog::streams(store, run));
    for (const auto& stream : streams) {
        FB_TRY_ASSIGN(snapshots, catalog::snapshots(store, run, stream));
        std::vector<catalog::Snapshot> without;
        for (const auto& snapshot : snapshots) {
            FB_TRY_ASSIGN(exists, store.exists(run + "/" + stream + "/" + catalog::view_name(snapshot.step)));
            if (!exists) without.push_back(snapshot);
        }
        const bool has_views = without.size() < snapshots.size();
        if (!has_views && std::ranges::none_of(without, [&](const auto& one) { return was_committed(recovered, one); }))
            continue;
        for (const auto& snapshot : without) owed.push_back({snapshot, make_view(store, snapshot)});
    }
    return owed;
}

}  // namespace forebay::drain
