// The host of a node's agent: a separate process, a thread of the application, or a dedicated rank. The node's first
// rank has a Host, made by agent::host_of(). Code that waits for the agent uses the Host to ensure that an agent lives.

#pragma once

#include <chrono>

#include "forebay/result.hpp"

namespace forebay::node {

class Host {
public:
    Host() = default;
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    virtual ~Host() = default;

    /// Starts the agent unless it lives. Returns when the agent serves the staging directory. After an error, a later
    /// call tries again.
    virtual Result<> ensure() = 0;

    /// Ends an agent that cannot outlive the application, and waits at most `wait_max` for its end. Any other agent
    /// works on until Control::ending asks it to leave.
    virtual void end(std::chrono::seconds wait_max) = 0;
};

}  // namespace forebay::node
