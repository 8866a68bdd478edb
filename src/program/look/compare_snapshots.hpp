// The answer of `forebay compare RUN@STEP RUN@STEP`.

#pragma once

#include <string>

#include "core/terminal/command_line.hpp"
#include "core/terminal/json.hpp"
#include "core/sys/store.hpp"

namespace forebay::cli {

/// `first` and `second` name a snapshot each. Prints the variables that differ, or puts them into `answer`.
/// Exit::found if any variable differs.
Result<Exit> say_difference(sys::Store& store, const std::string& first, const std::string& second, bool json,
                            Json& answer);

}  // namespace forebay::cli
