// The live page as one document: markup, styles and script of src/insight/report/assets/watch.*, and uPlot. It asks
// its own
// server for everything else.

#pragma once

#include <string>

namespace forebay::report {

/// With nonce="NONCE" where PageServer puts its own.
std::string watch_page();

}  // namespace forebay::report
