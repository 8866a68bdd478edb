// Which of several sealed slots the agent takes first: the one rule of its order.

#pragma once

#include <cstdint>
#include <limits>

#include "node/control.hpp"

namespace forebay::agent {

inline constexpr std::int64_t never_due = std::numeric_limits<std::int64_t>::max();

struct Urgency {
    std::int32_t priority = 0;             // of the stream
    std::int64_t due_unix_ns = never_due;  // the deadline
    std::int64_t sealed_unix_ns = 0;
    std::int64_t step = 0;
};

Urgency urgency_of(const node::Control& page, std::uint32_t slot);

/// The higher priority, then the earlier deadline, then what was sealed first, then the lower step.
bool goes_before(const Urgency& one, const Urgency& other);

/// Whether `one` may interrupt a drain of `other`: by priority or deadline, never by age.
bool overtakes(const Urgency& one, const Urgency& other);

}  // namespace forebay::agent
