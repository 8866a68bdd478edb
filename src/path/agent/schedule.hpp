// Chooses the slot that the agent takes next: the only rule of its order, and of interruptions of a drain. It reads the
// control page and changes nothing.
//
// Order: the higher priority, then the earlier deadline, then the earlier seal, then the lower step. A more urgent slot
// overtakes a running drain by priority or deadline, never by age.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "path/node/control.hpp"

namespace forebay::agent {

inline constexpr std::int64_t never_due = std::numeric_limits<std::int64_t>::max();

struct Urgency {
    std::int32_t priority = 0;             // of the stream
    std::int64_t due_unix_ns = never_due;  // the deadline
    std::int64_t sealed_unix_ns = 0;
    std::int64_t step = 0;
};

Urgency urgency_of(const node::Control& page, std::uint32_t slot);

/// The higher priority, then the earlier deadline, then the earlier seal, then the lower step.
bool goes_before(const Urgency& urgency, const Urgency& other);

/// True if `urgency` may interrupt a drain of `other`: by priority or deadline, never by age.
bool overtakes(const Urgency& urgency, const Urgency& other);

class Schedule {
public:
    explicit Schedule(const node::Control& page) : page_(page) {}

    /// Notes the bell: slots that failed before it rang may be tried again. Returns the value to wait on.
    std::uint32_t wait_for_work();
    /// Call it after a failed drain: the slot is not tried until the bell rings again.
    void failed(std::uint32_t slot) { bell_at_failure_[slot] = bell_; }

    /// The most urgent slot that is sealed, or that failed and may be tried again.
    std::optional<std::uint32_t> next() const;
    /// The most urgent sealed slot that may interrupt a drain of that urgency. Never a failed slot: it would delay the
    /// other drain for nothing. Any thread of a drain may call.
    std::optional<std::uint32_t> next_to_overtake(const Urgency& drained) const;
    /// The most urgent slot that a station holds after its drain: no drain of it waits or runs. `at_work(slot)` has
    /// the bits of stations that need no visit.
    std::optional<std::uint32_t> next_held(const std::function<std::uint32_t(std::uint32_t)>& at_work) const;
    /// Slots with a durable node file and an uncommitted snapshot, the most urgent first.
    std::vector<std::uint32_t> waiting_for_peers() const;

    /// The time by which a drain should end: by the deadline, and before the slot is needed again; or never_due.
    std::int64_t ends_unix_ns(std::uint32_t slot) const;
    /// True if the deadline has passed and the agent has not counted it yet.
    bool misses_deadline(std::uint32_t slot, std::int64_t now_unix_ns) const;
    bool any_misses_deadline(std::int64_t now_unix_ns) const;

private:
    template <class May>
    std::optional<std::uint32_t> most_urgent(const May& may) const;

    const node::Control& page_;
    std::uint32_t bell_ = 0;  // the last value
    std::array<std::uint32_t, node::slots_max> bell_at_failure_{};
};

}  // namespace forebay::agent
