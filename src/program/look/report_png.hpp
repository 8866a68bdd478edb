// forebay report --png: the pictures of a report as one PNG, by matplotlib where the Python in reach has it.

#pragma once

#include <string>

#include "core/sys/store.hpp"
#include "insight/report/html_page.hpp"

namespace forebay::cli {

/// `path` is whole or as it was. `python` as agent::python_place() takes it; `unsupported` without matplotlib.
Result<> write_report_png(sys::Store& store, const report::HtmlRun& run, const std::string& path,
                          const std::string& python);

}  // namespace forebay::cli
