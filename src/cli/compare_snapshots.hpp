// What `forebay compare RUN@STEP RUN@STEP` prints.

#pragma once

#include <string>

#include "cli/command_line.hpp"
#include "cli/json.hpp"
#include "sys/store.hpp"

namespace forebay::cli {

/// Compares the snapshots that `first` and `second` name, says in words which variables differ, or puts that into
/// `answer`. Exit::found if any variable differs.
Result<Exit> say_difference(sys::Store& store, const std::string& first, const std::string& second, bool json,
                            Json& answer);

}  // namespace forebay::cli
