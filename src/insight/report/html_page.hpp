// The page of `forebay report`: one HTML file. It opens without a network, for runs of any size.
//
// Bytes: at most html_bytes_max. Bins, rows and names are bounded. If the page is still too large, it gets fewer of
// them, and says how many of how many it shows.

#pragma once

#include <span>
#include <string>

#include "path/telemetry/summary.hpp"

namespace forebay::report {

inline constexpr std::size_t html_bytes_max = 150'000;
/// The beginning of every report page. It distinguishes our pages from other files.
inline constexpr std::string_view html_mark =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"generator\" content=\"forebay report\">\n";

struct HtmlRun {
    const telemetry::Chronicle& chronicle;
    const telemetry::Summary& summary;
};

/// Shows the first run and, if there are several, the scaling over all runs. The page allows only scripts with `nonce`
/// (hexadecimal digits). Make it random, so that no name in a run can contain it.
std::string html_page(std::span<const HtmlRun> runs, const std::string& nonce);

}  // namespace forebay::report
