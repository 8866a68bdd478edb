// The host of a node's agent: a process of its own, a thread of the application, or a dedicated rank. The first rank of
// the node has a Host, made by agent::host_of(). Code that waits for the agent has the Host make sure that one lives.

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

    /// Starts the agent unless it lives; returns when it serves the staging directory. After an error a later call
    /// tries again.
    virtual Result<> ensure() = 0;

    /// Ends an agent that cannot outlive the application, and waits for that at most `wait_max`. Any other agent goes
    /// on until Control::ending tells it to leave.
    virtual void end(std::chrono::seconds wait_max) = 0;
};

}  // namespace forebay::node
