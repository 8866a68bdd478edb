// The data for a report's scripts, as JSON. Numbers are rounded to four digits, in units that keep them short.

#pragma once

#include <span>
#include <string>

#include "insight/report/html_page.hpp"

namespace forebay::report {

/// The most that a page shows of each list.
struct HtmlDetail {
    std::size_t rate_bins = 600;
    std::size_t heat_rows = 256, heat_bins = 200;
    std::size_t targets = 256, nodes = 64, snapshots = 500, runs = 100, sentences = 40;
};

std::string html_data(std::span<const HtmlRun> runs, const HtmlDetail& detail);

}  // namespace forebay::report
