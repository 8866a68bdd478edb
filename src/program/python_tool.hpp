// Tools of the Python package that verbs of the program start: a file forebay/NAME.py each, which runs by itself.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::cli {

/// How a tool is started.
struct PythonTool {
    std::string program;
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;
};

/// The tool forebay/NAME.py of the package beside this library, else of the package that the interpreter has. `python`
/// as agent::python_place() takes it.
PythonTool python_tool(const std::string& name, const std::string& python);

/// Goes on as the tool, which reads `input`. Returns only if the interpreter cannot be started; a tool whose package is
/// missing says so.
Error become_tool(const std::string& name, const std::string& python, const std::vector<std::string>& arguments,
                  std::string_view input);

}  // namespace forebay::cli
