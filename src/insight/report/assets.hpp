// What pages carry in themselves: the files of src/insight/report/assets, and uPlot, which draws time series.
// Embedded at build
// by cmake/assets.cmake; a build without uPlot has none of it.

#pragma once

#include <span>
#include <string_view>

namespace forebay::report {

struct Asset {
    std::string_view name, contents;
};
std::span<const Asset> assets();

/// Contents of src/insight/report/assets/NAME. A name that is not there is our own mistake.
std::string_view asset(std::string_view name);

/// "" in a build without it.
std::string_view uplot_js();
std::string_view uplot_css();
/// Its licence, which whoever passes it on must pass on too.
std::string_view uplot_license();

}  // namespace forebay::report
