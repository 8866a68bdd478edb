// Files under the names of views. A view has a mark (format/view_mark.hpp). A file without a mark may hold data, such
// as an export, so Forebay never removes it, and replaces it only if you ask.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "path/catalog/catalog.hpp"

namespace forebay::catalog {

enum class Standing {
    nothing,
    view,
    other,  // no mark, no permission to read, or no file
};
Result<Standing> what_stands(sys::Store& store, const std::string& path);

/// Only the views of a step, or also the views of several steps that show it.
enum class ViewsOf { step, step_and_series };

/// Paths of the files under the names of views.
struct FoundViews {
    std::vector<std::string> views;
    std::vector<std::string> others;
};
Result<FoundViews> find_views(sys::Store& store, const std::string& stream_directory, std::int64_t step, ViewsOf which);

/// Removes the views: without their snapshot they would show fill values as data. Returns the removed files in `views`.
/// Sync the directory afterwards, because the removal is not durable. Files in `others` stay.
Result<FoundViews> remove_views(sys::Store& store, const std::string& stream_directory, std::int64_t step,
                                ViewsOf which);

/// The sentence about a file in `others`, when its snapshot is removed or replaced.
std::string stays_text(const std::string& path);

}  // namespace forebay::catalog
