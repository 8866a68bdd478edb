#include "insight/report/assets.hpp"

#include "core/base/check.hpp"

namespace forebay::report {

namespace {

std::string_view contents_or_none(std::string_view name) {
    for (const auto& asset : assets())
        if (asset.name == name) return asset.contents;
    return {};
}

}  // namespace

std::string_view asset(std::string_view name) {
    const auto contents = contents_or_none(name);
    FB_CHECK(!contents.empty(), "every asset is embedded");
    return contents;
}

std::string_view uplot_js() { return contents_or_none("uplot/uPlot.iife.min.js"); }
std::string_view uplot_css() { return contents_or_none("uplot/uPlot.min.css"); }
std::string_view uplot_license() { return contents_or_none("uplot/LICENSE"); }

}  // namespace forebay::report
