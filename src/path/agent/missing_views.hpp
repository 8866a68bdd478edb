// Views that an agent owed: it makes them after the commit, and may be killed between the two.

#pragma once

#include <string>
#include <vector>

#include "path/agent/view_maker.hpp"
#include "path/commit/commit.hpp"

namespace forebay::agent {

struct OwedView {
    catalog::Snapshot snapshot;
    Convention convention = Convention::plain;
    Result<> outcome;
};

/// Makes the views that are missing in each stream, of each convention that a snapshot of it has; and plain ones where
/// no snapshot has any and recover() has just committed one.
/// A view that cannot be made keeps no other from being made.
Result<std::vector<OwedView>> make_missing_views(sys::Store& store, const std::string& run,
                                                 const std::vector<commit::Recovered>& recovered,
                                                 const ViewMaker& make_view);

}  // namespace forebay::agent
