// The live page as one document: markup, styles and script of src/insight/report/assets/watch.*, and uPlot. It fetches
// everything else from its own server.

#pragma once

#include <string>

namespace forebay::report {

/// PageServer replaces nonce="NONCE" with its own nonce.
std::string watch_page();

}  // namespace forebay::report
