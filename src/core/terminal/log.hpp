// Where the verbs that serve for days write their lines, each with its time.

#pragma once

#include <functional>
#include <string>

#include "forebay/result.hpp"

namespace forebay::cli {

using LogLines = std::function<void(const std::string&)>;

LogLines log_to_errors();
/// A file of this user that stays small (sys::LogFile); with `is_output`, what this process prints goes there too.
Result<LogLines> log_to_file(const std::string& path, bool is_output);

}  // namespace forebay::cli
