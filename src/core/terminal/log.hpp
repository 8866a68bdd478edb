// The log of verbs that run for days: lines with their times.

#pragma once

#include <functional>
#include <string>

#include "forebay/result.hpp"

namespace forebay::cli {

using LogLines = std::function<void(const std::string&)>;

LogLines log_to_errors();
/// A private file that stays small (sys::LogFile); with `is_output`, the output of this process goes there too.
Result<LogLines> log_to_file(const std::string& path, bool is_output);

}  // namespace forebay::cli
