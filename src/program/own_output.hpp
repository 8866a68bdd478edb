// Checks the output file of a verb that writes it anew each time.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/sys/store.hpp"

namespace forebay::cli {

/// Returns `refused` if the path lies in a run or has no directory, or if a file of another kind is there and `replace`
/// is false. `is_ours` gets the first 16 MiB of that file; `kind` is for the error text.
Result<> check_own_output(sys::Store& store, const std::string& path, bool replace,
                          const std::function<bool(std::string_view)>& is_ours, const char* kind);

/// True if a text is advice of that kind, such as "plan".
bool is_advice(std::string_view text, std::string_view kind);

}  // namespace forebay::cli
