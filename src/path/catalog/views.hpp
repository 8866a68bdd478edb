// Files under the names of views. A view is known by its mark (format/view_mark.hpp). What has none may hold data of
// its own, as an export or somebody's own work does, so it is neither removed nor, unasked, replaced.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "path/catalog/catalog.hpp"

namespace forebay::catalog {

enum class Standing {
    nothing,
    view,
    other,  // without the mark, not to be read for want of rights, or no file
};
Result<Standing> what_stands(sys::Store& store, const std::string& path);

/// The views of a step alone, or also those of several steps, which show it among others.
enum class ViewsOf { step, step_and_series };

/// Paths of what stands under the names of views.
struct FoundViews {
    std::vector<std::string> views;
    std::vector<std::string> others;
};
Result<FoundViews> find_views(sys::Store& store, const std::string& stream_directory, std::int64_t step, ViewsOf which);

/// Takes the views away: without their snapshot they would show fill values as if they were data. The absence of
/// `views`, which are those that were there, is not durable before the directory is synced. `others` stay.
Result<FoundViews> remove_views(sys::Store& store, const std::string& stream_directory, std::int64_t step,
                                ViewsOf which);

/// The sentence about one of `others` of a snapshot that is removed or replaced.
std::string stays_text(const std::string& path);

}  // namespace forebay::catalog
