// The conversation of the asking node with its nodes: the open questions and their deadlines. A node that misses a
// deadline is silent from then on and gets no more questions.
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
    /// Stops waiting at `end`, or when `interrupted` returns true.
    Talk(Nodes& nodes, sys::Clock::time_point end, std::function<bool()> interrupted);

    /// Numbers the question and gives the node `at_most` to answer, most of it for the work. `tag` returns with the
    /// answer. If there is no answer after `late_after`, next() reports it once. The question then no longer counts as
    /// open at its node, so a hanging question does not block other questions.
    void ask(std::size_t node, Question question, std::chrono::milliseconds at_most, std::size_t tag = 0,
             std::optional<std::chrono::milliseconds> late_after = std::nullopt);

    struct Reply {
        std::size_t node = 0, tag = 0;
        std::optional<NodeAnswer> answer;  // nothing: the node was silent
        std::string why = {};              // the reason, if silent
        double seconds = 0;                // from question to answer
        bool late = false;                 // not answered yet; the question stays open
    };
    /// The next answer, or the next question that is given up. Nothing if no question is open, or the end has come.
    std::optional<Reply> next();
    /// True if the end has come; open questions are then abandoned.
    bool over() const { return nodes_->now() >= end_ || (interrupted_ && interrupted_()); }
    bool is_silent(std::size_t node) const { return silent_[node]; }
    std::size_t out() const { return out_.size(); }
    /// Open questions that are not late.
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
    std::vector<std::string> lost_;  // by node: why it will not answer any more, or ""
    std::uint64_t next_number_ = 1;
};

}  // namespace forebay::advice
