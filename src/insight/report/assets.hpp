// Files embedded in the pages: src/insight/report/assets, and uPlot, which draws time series. cmake/assets.cmake embeds
// them at build time. A build without uPlot leaves it out.

#pragma once

#include <span>
#include <string_view>

namespace forebay::report {

struct Asset {
    std::string_view name, contents;
};
std::span<const Asset> assets();

/// The contents of src/insight/report/assets/NAME. An unknown name is a mistake in Forebay itself (FB_CHECK).
std::string_view asset(std::string_view name);

/// "" in a build without uPlot.
std::string_view uplot_js();
std::string_view uplot_css();
/// uPlot's licence. Copies of uPlot must carry it.
std::string_view uplot_license();

}  // namespace forebay::report
