// The wait of one save for a slot: the policy's limit, reports of a long wait, and the time to ask the other nodes.
// Only on the node's first rank.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "path/stage/stager.hpp"

namespace forebay::stage {

/// A node waits this long for its slot before it asks if another node has failed, and repeats this. Most waits are over
/// before and cost no message. A wait of this length is reported anyway (node/long_wait.hpp), so a maximum over the
/// ranks costs nothing beside it.
inline constexpr std::chrono::seconds ask_others_every{2};

class SlotWait {
public:
    /// Begins now. All arguments must outlive it.
    SlotWait(const StagerContext& context, const StreamOptions& options, const StreamSlots& slots, std::int64_t step);

    enum class Turn { look_again, ask_others, no_longer };
    /// Sleeps until `news` differs from `seen`, or for a short time. `no_longer` if the policy's limit is over.
    /// `ask_others` if all ranks must report their state. The error `retry` if the agent made no progress for
    /// `stall_wait`, or the application interrupted the wait.
    Result<Turn> turn(std::uint32_t seen);
    /// Call it after the other nodes were asked.
    void go_on() { asks_at_ = sys::Clock::now() + ask_others_every; }

    std::chrono::nanoseconds waited() const { return sys::Clock::now() - began_; }

private:
    std::uint64_t progress() const;
    std::string held_by() const;
    const char* stream() const { return slots_.stream_control().name.data(); }
    Error stalled() const;
    Error interrupted() const;
    std::string show() const;

    const StagerContext& context_;
    const StreamOptions& options_;
    const StreamSlots& slots_;
    const std::int64_t step_;
    const sys::Clock::time_point began_;
    const sys::Clock::time_point deadline_;
    node::LongWait long_wait_;
    std::uint64_t progress_;
    sys::Clock::time_point stalls_at_, asks_at_;
};

}  // namespace forebay::stage
