// Results of analyses on the live page: newest pictures, and numbers as charts.

#pragma once

#include <string>

#include "core/sys/store.hpp"
#include "insight/report/page_answer.hpp"

namespace forebay::cli {

/// The newest picture of each series in the newest batches of the run's packed streams, newest first, as JSON.
Result<std::string> picture_list(sys::Store& store, const std::string& run);
/// One of those pictures ("stream", "step" of the batch, "path"), verified. Returns `refused` if it is no PNG or too
/// large.
Result<std::string> picture_png(sys::Store& store, const std::string& run, const report::PageQuery& query);
/// The chart of `forebay plot` for a stream of results ("stream"), as PNG.
Result<std::string> result_png(sys::Store& store, const std::string& run, const report::PageQuery& query);

}  // namespace forebay::cli
