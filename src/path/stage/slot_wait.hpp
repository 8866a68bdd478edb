// The wait of one save for a slot: how long the policy waits, what is said meanwhile, when it has lasted long enough to
// ask the other nodes. By the node's first rank.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "path/stage/stager.hpp"

namespace forebay::stage {

/// How long a node waits for its slot without asking whether another node has failed, and then again and again. Most
/// waits are over by then and cost no message. Beside a wait that is said after as long (node/long_wait.hpp), a maximum
/// over the ranks costs nothing.
inline constexpr std::chrono::seconds ask_others_every{2};

class SlotWait {
public:
    /// From now on. All of them must outlive it.
    SlotWait(const StagerContext& context, const StreamOptions& options, const StreamSlots& slots, std::int64_t step);

    enum class Turn { look_again, ask_others, no_longer };
    /// Sleeps until there is other news than `seen`, or not for long. `no_longer` where the policy waits no longer,
    /// `ask_others` where all ranks shall say how it stands with them; the error `retry` when the agent has got
    /// nothing done for `stall_wait`, or the application has interrupted the wait.
    Result<Turn> turn(std::uint32_t seen);
    /// After the others have been asked.
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
