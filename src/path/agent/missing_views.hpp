// Missing views: an agent makes views after the commit, and may be killed between the two.

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

/// Makes the missing views of each stream, in each convention that its snapshots have. If no snapshot has a view and
/// recover() has just committed one, makes plain views. A view that cannot be made does not stop the rest.
Result<std::vector<OwedView>> make_missing_views(sys::Store& store, const std::string& run,
                                                 const std::vector<commit::Recovered>& recovered,
                                                 const ViewMaker& make_view);

}  // namespace forebay::agent
