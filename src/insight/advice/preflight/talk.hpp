// The talk of the one that asks with its nodes: which questions are out, and until when each is waited for. A node that
// has let a deadline pass is silent from then on, and is asked nothing more.
//
// Threads: one.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "insight/advice/preflight/ask.hpp"
#include "insight/advice/preflight/nodes.hpp"

namespace forebay::advice {

class Talk {
public:
    /// Beyond `end` nothing is waited for; `interrupted` ends all waits likewise.
    Talk(Nodes& nodes, sys::Clock::time_point end, std::function<bool()> interrupted);

    /// Gives the question its number, and the node `at_most` to answer, most of which it has for the work. `tag` comes
    /// back with the answer. A question that is `late_after` without an answer is told once, and counts among what is
    /// out at its node no more: what hangs there keeps no other from being asked.
    void ask(std::size_t node, Question question, std::chrono::milliseconds at_most, std::size_t tag = 0,
             std::optional<std::chrono::milliseconds> late_after = std::nullopt);

    struct Reply {
        std::size_t node = 0, tag = 0;
        std::optional<NodeAnswer> answer;  // nothing: it was silent
        std::string why = {};              // then
        double seconds = 0;                // between question and answer
        bool late = false;                 // no answer yet, and none of the two that end a question
    };
    /// The next answer, or the next question for which nobody is waited any more; nothing when none is out, or the end
    /// has come.
    std::optional<Reply> next();
    /// Whether the end has come, and what is out is not waited for any more.
    bool over() const { return nodes_->now() >= end_ || (interrupted_ && interrupted_()); }
    bool is_silent(std::size_t node) const { return silent_[node]; }
    std::size_t out() const { return out_.size(); }
    /// Of those, the ones that are not late.
    std::size_t working() const {
        return static_cast<std::size_t>(
            std::ranges::count_if(out_, [](const auto& question) { return !question.second.late; }));
    }
    std::size_t out_at(std::size_t node) const { return out_at_[node]; }
    Nodes& nodes() { return *nodes_; }

private:
    struct Out {
        std::size_t node = 0, tag = 0;
        sys::Clock::time_point asked, until, late_at;
        bool late = false;
    };
    Reply take_out(std::map<std::uint64_t, Out>::iterator which);
    std::optional<Reply> overdue();
    std::optional<Reply> late();

    Nodes* nodes_;
    sys::Clock::time_point end_;
    std::function<bool()> interrupted_;
    std::map<std::uint64_t, Out> out_;  // by number
    std::vector<std::size_t> out_at_;   // of each node
    std::vector<bool> silent_;
    std::vector<std::string> lost_;  // of each node: why it will not answer any more; ""
    std::uint64_t next_number_ = 1;
};

}  // namespace forebay::advice
