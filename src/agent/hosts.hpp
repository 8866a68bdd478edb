// The three who can run a node's agent: a process, a thread of the application, a dedicated rank (post.hpp).

#pragma once

#include <memory>
#include <span>
#include <string>

#include "agent/post.hpp"
#include "forebay/options.hpp"
#include "node/host.hpp"
#include "node/long_wait.hpp"

namespace forebay::agent {

/// The command `forebay`: as configured, else FOREBAY_AGENT, else beside this library or in ../bin, else to be found in
/// PATH.
std::string agent_program(const std::string& configured);

/// By the node's first rank, once its staging directory stands. `post` is that of the dedicated agent which serves the
/// node, null where no rank is one.
std::unique_ptr<node::Host> host_of(const AgentOptions& options, const std::string& directory, Post* post,
                                    const node::Say& say);

}  // namespace forebay::agent
