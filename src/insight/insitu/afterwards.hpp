// The same analyses of a committed snapshot, afterwards: the same operators over all of its node files, one after
// another, and the same bits as in situ.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "insight/insitu/parts.hpp"
#include "insight/insitu/results.hpp"
#include "path/catalog/catalog.hpp"

namespace forebay::insitu {

struct Afterwards {
    SeenSnapshot source;
    std::vector<AnalysisResults> results;
    std::vector<std::string> problems;  // analyses that could not be made, and why
};

/// `progress` (may be empty) is called with bytes done and in all. An error is of the snapshot; `corrupt` where a
/// segment is not what the application gave. The manifest is the snapshot's.
Result<Afterwards> analyse_snapshot(sys::Store& store, const catalog::Snapshot& snapshot,
                                    const format::Manifest& manifest, std::span<const Analysis> analyses,
                                    const std::function<void(std::uint64_t, std::uint64_t)>& progress);

}  // namespace forebay::insitu
