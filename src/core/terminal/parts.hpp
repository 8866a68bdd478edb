// The parts of this build, as `forebay --version` prints them. cmake/parts.cmake writes the text.

#pragma once

#include <string_view>

namespace forebay::cli {

/// One indented line for each option: "  ZFP: zfp 1.0.0" with the library that was compiled with, or "  DAOS: no". The
/// last line has no end.
std::string_view parts();

}  // namespace forebay::cli
