// Where a verb may write a file that it makes anew each time it is asked.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/sys/store.hpp"

namespace forebay::cli {

/// `refused` where the path lies in a run or has no directory, and where a file of another kind stands there, unless
/// the caller said to `replace` it. `is_ours` sees its first 16 MiB; `kind` says in the error what it is not.
Result<> check_own_output(sys::Store& store, const std::string& path, bool replace,
                          const std::function<bool(std::string_view)>& is_ours, const char* kind);

/// Whether a text is advice of that kind, "plan".
bool is_advice(std::string_view text, std::string_view kind);

}  // namespace forebay::cli
