// The node's side of preflight. Each question runs on its own thread, so a question that hangs in a dead mount delays
// no other question. The hanging thread is left alone, and the answer reports the hang.
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

    /// Starts the work. Answers a clock question at once, because it must not wait. Drops invalid texts without an
    /// answer.
    void take(const std::string& question);
    /// The next finished or overdue answer; nothing if there is none before `until`. May return early after take().
    std::optional<std::string> answer(sys::Clock::time_point until);
    /// True if all questions are answered.
    bool idle() const;

private:
    struct State;
    std::shared_ptr<State> state_;  // hanging threads share it
};

/// Does the work of a question now, in this thread; not for `meet` and `end`.
NodeAnswer perform(const Question& question);

/// For a host reached over ssh: questions are lines of `in`, and `say` gets each answer. Returns when `in` has ended
/// and all is answered.
void serve_lines(std::istream& in, const std::function<void(const std::string&)>& say);

/// Only this machine, which asks itself.
std::unique_ptr<Nodes> local_node();

}  // namespace forebay::advice
