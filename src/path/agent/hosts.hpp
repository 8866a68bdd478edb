// The three who can run a node's agent: a process, a thread of the application, a dedicated rank (post.hpp).

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

/// The command `forebay`: as configured, else FOREBAY_AGENT, else beside this library or in ../bin, else to be found in
/// PATH.
std::string agent_program(const std::string& configured);

/// An interpreter of Python and what its environment needs to find our package.
struct PythonPlace {
    std::string program;
    std::vector<std::pair<std::string, std::string>> environment;
    std::string packages = {};  // the folder that holds the package; "": the interpreter's own is taken
};

/// As configured, else of the environment that our package is installed in, else python3 in PATH. The package is that
/// beside this library, in a build folder or installed; where there is none, the interpreter's own.
PythonPlace python_place(const std::string& configured);

/// By the node's first rank, once its staging directory stands. `post` is that of the dedicated agent which serves the
/// node, null where no rank is one.
std::unique_ptr<node::Host> host_of(const AgentOptions& options, const std::string& directory, Post* post,
                                    const node::Say& say);

}  // namespace forebay::agent
