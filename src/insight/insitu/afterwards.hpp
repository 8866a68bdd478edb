// Analyses of a committed snapshot after the run. The same operators read its node files one after another and give the
// same bits as in situ.

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
    std::vector<std::string> problems;  // analyses without a result, with the reason
};

/// Calls `progress` with the bytes done and the bytes in all, unless it is empty. An error concerns the snapshot:
/// `corrupt` if a segment does not hold the bytes that the application saved. `manifest` belongs to `snapshot`.
Result<Afterwards> analyse_snapshot(sys::Store& store, const catalog::Snapshot& snapshot,
                                    const format::Manifest& manifest, std::span<const Analysis> analyses,
                                    const std::function<void(std::uint64_t, std::uint64_t)>& progress);

}  // namespace forebay::insitu
