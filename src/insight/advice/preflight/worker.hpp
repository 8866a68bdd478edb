// The node's side of preflight: works at what it is asked, each question on a thread of its own, so that one which
// hangs in a dead mount keeps no other waiting. Its thread is then left alone, and the answer says that it hangs.
//
// Threads: any may give questions, one takes answers.

#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>

#include "core/sys/clock.hpp"
#include "insight/advice/preflight/ask.hpp"
#include "insight/advice/preflight/nodes.hpp"

namespace forebay::advice {

class NodeWorker {
public:
    NodeWorker();
    NodeWorker(const NodeWorker&) = delete;
    NodeWorker& operator=(const NodeWorker&) = delete;
    ~NodeWorker();

    /// Begins with it. A question for the clock is answered here and now, since it must not wait. A text that is no
    /// question is dropped: who asks will hear nothing of it.
    void take(const std::string& question);
    /// The next answer that is ready, or whose work is overdue; nothing when there is none by then. Returns early when
    /// something was taken.
    std::optional<std::string> answer(sys::Clock::time_point until);
    /// Whether all that was asked is answered.
    bool idle() const;

private:
    struct State;
    std::shared_ptr<State> state_;  // threads that hang have it too
};

/// What a question asks for, done here and now; `meet` and `end` are not for this.
NodeAnswer perform(const Question& question);

/// For a host that is asked over ssh: questions are lines of `in`, and `say` gets each answer. Returns when `in` has
/// ended and all is answered.
void serve_lines(std::istream& in, const std::function<void(const std::string&)>& say);

/// This machine alone, which asks itself.
std::unique_ptr<Nodes> local_node();

}  // namespace forebay::advice
