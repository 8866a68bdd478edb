// The nodes that preflight asks, as an interface: only this machine (worker), hosts over ssh (ssh_nodes), ranks of MPI
// (bench/mpi_nodes), or made nodes with a made clock (tests). One thread asks. It never waits for one particular node,
// so a node that never answers costs only a deadline.
//
// Questions and answers are texts of ask.hpp. Threads: one at a time.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/sys/clock.hpp"
#include "forebay/result.hpp"

namespace forebay::advice {

class Nodes {
public:
    virtual ~Nodes() = default;
    virtual std::size_t size() const = 0;
    /// A name to show before the node gives its own: a host, "rank 7".
    virtual std::string name(std::size_t node) const = 0;
    /// Sends a question without waiting. A node may have several questions at once, and answers in any order.
    virtual Result<> ask(std::size_t node, const std::string& question) = 0;
    struct Heard {
        std::size_t node = 0;
        Result<std::string> answer;  // an error: this node will not answer any more
    };
    /// The next answer of any node; nothing if none arrives before `until`.
    virtual std::optional<Heard> hear(sys::Clock::time_point until) = 0;
    virtual sys::Clock::time_point now() const { return sys::Clock::now(); }

    /// True if nodes can meet: call collective operations of MPI with each other, for given ranks.
    virtual bool can_meet() const { return false; }
};

}  // namespace forebay::advice
