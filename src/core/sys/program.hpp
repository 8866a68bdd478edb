// The running program, and its replacement by another program.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::sys {

/// The path of the running program; empty if unknown.
std::string program_path();

/// Replaces the running program (exec). The process keeps its environment, with `environment` added, and its inherited
/// descriptors. A `program` without a slash is searched in PATH. Returns only if the start fails: `missing` if there is
/// none. `input`, unless it is empty, becomes the program's whole standard input; it lies in memory.
Error become(const std::string& program, const std::vector<std::string>& arguments,
             const std::vector<std::pair<std::string, std::string>>& environment = {}, std::string_view input = {});

/// A function of a library. The library is searched beside the library of this call, then in the system's places. It is
/// loaded at the first call, and stays loaded. `missing` if there is no such library.
Result<void*> function_beside(const std::string& library, const std::string& name);

/// Calls such a function, which is like main(): a part of this program, loaded on demand.
Result<int> call_main(const std::string& library, const std::string& name, int count, char** arguments);

}  // namespace forebay::sys
