// forebay report --png: the pictures of a report as one PNG, if a Python with matplotlib is available.

#pragma once

#include <string>

#include "core/sys/store.hpp"
#include "insight/report/html_page.hpp"

namespace forebay::cli {

/// On error `path` is unchanged. `python` is as in agent::python_place(). Returns `unsupported` without matplotlib.
Result<> write_report_png(sys::Store& store, const report::HtmlRun& run, const std::string& path,
                          const std::string& python);

}  // namespace forebay::cli
