// What the agent does between two pieces of a drain: more urgent drains, measuring, counting deadlines.

#pragma once

#include "agent/agent.hpp"

namespace forebay::agent {

/// While it lives, the page says that the agent moves bytes, or that it does not; then what was said before.
class Moving {
public:
    Moving(node::Control& page, bool moves) : page_(page), before_(tell(moves)) {}
    Moving(const Moving&) = delete;
    Moving& operator=(const Moving&) = delete;
    ~Moving() { tell(before_); }

private:
    bool tell(bool moves) {
        const bool before = (page_.moving.load() & 1u) != 0;
        if (before != moves) ++page_.moving;
        return before;
    }
    node::Control& page_;
    bool before_;
};

class Agent::Between final : public move::Gate {
public:
    Between(Agent& agent, std::uint32_t index, const std::atomic<bool>& stop)
        : agent_(agent), index_(index), urgency_(urgency_of(agent.page_, index)), stop_(stop) {}

    bool wanted() override;
    void pass() override;
    /// How long the drain stood for others.
    sys::Clock::duration overtaken() const { return overtaken_; }

private:
    bool others_wait() const;

    Agent& agent_;
    const std::uint32_t index_;
    const Urgency urgency_;
    const std::atomic<bool>& stop_;
    sys::Clock::duration overtaken_{0};
};

}  // namespace forebay::agent
