// Tools of the Python package, started by verbs. Each is a file forebay/NAME.py that runs by itself.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::cli {

/// The command that starts a tool.
struct PythonTool {
    std::string program;
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;
};

/// The tool forebay/NAME.py of the package beside this library, otherwise of the interpreter's package. `python` is as
/// in agent::python_place().
PythonTool python_tool(const std::string& name, const std::string& python);

/// Executes the tool, with `input` as its input. Returns only if the interpreter cannot be started. A tool without its
/// package reports that.
Error become_tool(const std::string& name, const std::string& python, const std::vector<std::string>& arguments,
                  std::string_view input);

}  // namespace forebay::cli
