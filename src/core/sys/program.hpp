// The running program, and going on as another one.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::sys {

/// The path of the running program; empty when the kernel does not tell.
std::string program_path();

/// Goes on as another program: the same process, with its environment, to which `environment` is added, and the
/// descriptors that are inherited. A `program` without a slash is looked for in PATH. Returns only when it could not be
/// started: `missing` when there is none. `input`, unless it is empty, is all that the program reads from its standard
/// input; it lies in memory.
Error become(const std::string& program, const std::vector<std::string>& arguments,
             const std::vector<std::pair<std::string, std::string>>& environment = {}, std::string_view input = {});

/// A function of a library that lies beside the one that this call is in, or else where the system looks for any; it is
/// loaded at the first call, and stays loaded. `missing` where there is no such library.
Result<void*> function_beside(const std::string& library, const std::string& name);

/// Calls a part of this program that is loaded when it is needed: such a function, which is like main().
Result<int> call_main(const std::string& library, const std::string& name, int count, char** arguments);

}  // namespace forebay::sys
