#include "insight/advice/preflight/talk.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/units.hpp"

namespace forebay::advice {

namespace {

// The time for the way there and back, and for a node to report that its work hangs.
constexpr std::chrono::milliseconds way_max{2000};
// The pause between two checks for an interruption.
constexpr std::chrono::milliseconds preemption_pause{200};

}  // namespace

Talk::Talk(Nodes& nodes, sys::Clock::time_point end, std::function<bool()> interrupted)
    : nodes_(&nodes),
      end_(end),
      interrupted_(std::move(interrupted)),
      out_at_(nodes.size()),
      silent_(nodes.size()),
      lost_(nodes.size()) {}

void Talk::ask(std::size_t node, Question question, std::chrono::milliseconds at_most, std::size_t tag,
               std::optional<std::chrono::milliseconds> late_after) {
    question.number = next_number_++;
    // Earlier than our own deadline, so that the report of a hang still arrives.
    question.deadline_ms = static_cast<std::uint64_t>(std::max(at_most - way_max, at_most / 2).count());
    const auto now = nodes_->now();
    out_.emplace(question.number, Out{node, tag, now, now + at_most, now + late_after.value_or(2 * at_most)});
    ++out_at_[node];
    if (const auto asked = nodes_->ask(node, encode(question)); !asked) lost_[node] = asked.error().what;
}

Talk::Reply Talk::take_out(std::map<std::uint64_t, Out>::iterator which) {
    const auto& out = which->second;
    Reply reply{.node = out.node,
                .tag = out.tag,
                .answer = {},
                .seconds = std::chrono::duration<double>(nodes_->now() - out.asked).count()};
    // A late question no longer counts at its node.
    if (!out.late) --out_at_[out.node];
    out_.erase(which);
    return reply;
}

std::optional<Talk::Reply> Talk::late() {
    const auto now = nodes_->now();
    for (auto& [number, out] : out_) {
        if (out.late || out.late_at > now) continue;
        out.late = true;
        --out_at_[out.node];
        return Reply{.node = out.node,
                     .tag = out.tag,
                     .answer = {},
                     .seconds = std::chrono::duration<double>(now - out.asked).count(),
                     .late = true};
    }
    return std::nullopt;
}

std::optional<Talk::Reply> Talk::overdue() {
    const auto now = nodes_->now();
    const auto late = std::ranges::find_if(out_, [&](const auto& question) {
        return question.second.until <= now || !lost_[question.second.node].empty();
    });
    if (late == out_.end()) return std::nullopt;
    auto reply = take_out(late);
    silent_[reply.node] = true;
    reply.why = lost_[reply.node].empty() ? fmt::format("did not answer for {}", show_seconds(reply.seconds))
                                          : lost_[reply.node];
    return reply;
}

std::optional<Talk::Reply> Talk::next() {
    while (!out_.empty() && !over()) {
        if (auto reply = overdue()) return reply;
        if (auto reply = late()) return reply;
        auto until = std::min(end_, nodes_->now() + preemption_pause);
        for (const auto& [number, out] : out_)
            until = std::min(until, out.late ? out.until : std::min(out.until, out.late_at));
        const auto heard = nodes_->hear(until);
        if (!heard) continue;
        if (!heard->answer) {
            lost_[heard->node] = heard->answer.error().what;
            continue;
        }
        auto answer = decode_answer(*heard->answer);
        if (!answer) continue;  // it will become overdue
        const auto which = out_.find(answer->number);
        if (which == out_.end() || which->second.node != heard->node) continue;  // too late
        auto reply = take_out(which);
        reply.answer = std::move(*answer);
        return reply;
    }
    return std::nullopt;
}

}  // namespace forebay::advice
