// Views that an agent owed: it makes them after the commit, and may be killed between the two.

#pragma once

#include <string>
#include <vector>

#include "drain/agent.hpp"
#include "drain/commit.hpp"

namespace forebay::drain {

struct OwedView {
    catalog::Snapshot snapshot;
    Result<> made;
};

/// Makes the views of what recover() has just committed, and of each snapshot without one in a stream where another has
/// one. A view that cannot be made keeps no other from being made.
Result<std::vector<OwedView>> make_missing_views(sys::Store& store, const std::string& run,
                                                 const std::vector<Recovered>& recovered, const ViewMaker& make_view);

}  // namespace forebay::drain
