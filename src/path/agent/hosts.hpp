// The three hosts of a node's agent: a process, a thread of the application, a dedicated rank (post.hpp).

#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "forebay/options.hpp"
#include "path/agent/post.hpp"
#include "path/node/host.hpp"
#include "path/node/long_wait.hpp"

namespace forebay::agent {

/// The command `forebay`: the configured program, else FOREBAY_AGENT, else beside this library or in ../bin, else in
/// PATH.
std::string agent_program(const std::string& configured);

/// A Python interpreter, with the environment that it needs to find our package.
struct PythonPlace {
    std::string program;
    std::vector<std::pair<std::string, std::string>> environment;
    std::string packages = {};  // the directory of the package; "": the interpreter's own package is used
};

/// The configured interpreter, else the interpreter of the environment with our package, else python3 in PATH. The
/// package beside this library is used, in a build directory or installed; otherwise the interpreter's own package.
PythonPlace python_place(const std::string& configured);

/// Called by the node's first rank when its staging directory exists. `post` belongs to the dedicated agent of the
/// node. It is null if no rank is dedicated.
std::unique_ptr<node::Host> host_of(const AgentOptions& options, const std::string& directory, Post* post,
                                    const node::Say& say);

}  // namespace forebay::agent
