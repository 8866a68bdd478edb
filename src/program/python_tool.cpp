#include "program/python_tool.hpp"

#include <fmt/format.h>

#include "core/sys/program.hpp"
#include "path/agent/hosts.hpp"

namespace forebay::cli {

namespace {

// Runs one file of the interpreter's package, without importing the package: that needs more libraries. The exit codes
// are those of command_line.hpp: 6 is unsupported.
constexpr const char* start_of_own = R"(import importlib.util, runpy, sys
name, message = sys.argv[1:3]
del sys.argv[1:3]
package = importlib.util.find_spec("forebay")
if package is None:
    print(message, file=sys.stderr)
    sys.exit(6)
folder = package.submodule_search_locations[0]
sys.path.insert(0, folder)
runpy.run_path(f"{folder}/{name}.py", run_name="__main__"))";

}  // namespace

PythonTool python_tool(const std::string& name, const std::string& python) {
    auto place = agent::python_place(python);
    if (place.packages.empty()) {
        const Error none{ErrorKind::unsupported, place.program + " lacks the Python package forebay", "",
                         "install the package with pip, or give --python PATH"};
        return {place.program, {"-c", start_of_own, name, none.text()}, std::move(place.environment)};
    }
    return {place.program, {place.packages + "/forebay/" + name + ".py"}, std::move(place.environment)};
}

Error become_tool(const std::string& name, const std::string& python, const std::vector<std::string>& arguments,
                  std::string_view input) {
    auto tool = python_tool(name, python);
    tool.arguments.insert(tool.arguments.end(), arguments.begin(), arguments.end());
    const auto error = sys::become(tool.program, tool.arguments, tool.environment, input);
    if (error.kind != ErrorKind::missing) return error;
    return {ErrorKind::unsupported, fmt::format("{} is needed for this, and was not found", tool.program), "",
            "give --python PATH: Python 3.10 or newer"};
}

}  // namespace forebay::cli
