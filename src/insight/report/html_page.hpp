// The page of `forebay report`: one HTML file that opens without a network, whatever the size of the run.
//
// Bytes: at most html_bytes_max. Bins, rows and names are bounded; where they would not fit all the same, there are
// fewer of them, and the page says of how many it shows which.

#pragma once

#include <span>
#include <string>

#include "path/telemetry/summary.hpp"

namespace forebay::report {

inline constexpr std::size_t html_bytes_max = 150'000;
/// A page of ours begins with it, so that it can be told from files of others.
inline constexpr std::string_view html_mark =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"generator\" content=\"forebay report\">\n";

struct HtmlRun {
    const telemetry::Chronicle& chronicle;
    const telemetry::Summary& summary;
};

/// The first run is shown; with several, the scaling over all of them too. `nonce` (hexadecimal digits) admits the
/// scripts of this page and no others: random, so that no name in a run can know it.
std::string html_page(std::span<const HtmlRun> runs, const std::string& nonce);

}  // namespace forebay::report
