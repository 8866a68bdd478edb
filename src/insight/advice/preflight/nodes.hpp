// The nodes that preflight asks, as an interface: this machine alone (worker), hosts over ssh (ssh_nodes), ranks of MPI
// (bench/mpi_nodes), made-up ones with a made-up clock (tests). Who asks is one; it waits for nobody in particular, so
// that a node that never answers costs a deadline and nothing else.
//
// Questions and answers are the texts of ask.hpp. Threads: one at a time.

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
    /// How people call it before it has said its own name: a host, "rank 7".
    virtual std::string name(std::size_t node) const = 0;
    /// Hands a question over and does not wait. A node may have several at once, and answers in any order.
    virtual Result<> ask(std::size_t node, const std::string& question) = 0;
    struct Heard {
        std::size_t node = 0;
        Result<std::string> answer;  // an error: this node will not answer any more
    };
    /// The next answer of any; nothing when none has come by then.
    virtual std::optional<Heard> hear(sys::Clock::time_point until) = 0;
    virtual sys::Clock::time_point now() const { return sys::Clock::now(); }

    /// Whether these can be asked to meet: to call collective operations of MPI with one another, told the ranks.
    virtual bool can_meet() const { return false; }
};

}  // namespace forebay::advice
