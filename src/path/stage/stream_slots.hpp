// The slots of one stream on a node, as one rank holds them, and the one among them that the save under way fills.
//
// Ranks: the node's first rank alone changes the states of slots: it takes one for a save, and gives it back or hands
// it to the agent. It tells its decision on the control page, and the others follow.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "path/node/staging.hpp"
#include "path/stage/slot.hpp"

namespace forebay::stage {

/// How long a wait goes without looking whether those it waits for still live: the agent, the node's first rank.
inline constexpr std::chrono::milliseconds liveness_pause{200};

class StreamSlots {
public:
    /// The fate of a save: it gets a free slot, or the slot of a save that waits for its drain, or none. `undecided`:
    /// the first rank goes on waiting for one once it has heard from the other nodes.
    enum class Outcome : std::uint32_t { admitted = 1, replacing, skipped, failed, undecided };

    /// `staging` must outlive it.
    explicit StreamSlots(node::Staging& staging) : staging_(staging) {}
    /// Finds the stream's first `count` slots. `stream` is its index on the control page.
    void find(std::uint32_t stream, std::uint32_t count);
    /// Unmaps all of them; they are of no use after it.
    void release() { slots_.clear(); }

    std::uint32_t stream() const { return stream_; }
    node::StreamControl& stream_control() const { return staging_.control().streams[stream_]; }
    /// On the control page.
    const std::vector<std::uint32_t>& indices() const { return indices_; }
    std::size_t count() const { return indices_.size(); }
    node::SlotControl& control(std::size_t i) const { return staging_.control().slots[indices_[i]]; }
    std::string path(std::size_t i) const { return staging_.slot_path(indices_[i]); }
    Slot& operator[](std::size_t i) { return slots_[i]; }
    /// The one of the save under way.
    std::size_t current_index() const { return current_; }
    Slot& current() { return slots_[current_]; }

    // By the node's first rank.

    /// The error of a slot whose drain has failed, once; the agent tries again.
    Result<> report_failure();
    /// The failures so far have been told otherwise.
    void forget_failures();
    /// Takes a free slot: one without a lease before one with it, which ends, and then that of the oldest step. False
    /// when none is free.
    bool take_free();
    /// Takes a slot whose save the agent has not begun to drain; it holds that save until replace(). Only
    /// one that was laid out for description `version` and has room for `rows`. False when there is none.
    bool take_waiting(std::uint64_t version, std::span<const std::uint64_t> rows);
    /// The step of the save that take_waiting() has found; -1 where the slot was free.
    std::int64_t replaced_step() const;
    /// Gives that save up: from here on give_back() leaves the slot empty.
    void replace();
    /// Gives the slot back, if one is taken and not sealed.
    void give_back();
    /// Hands the slot, which is sealed, to the agent. The next save will want it at `needed_unix_ns`; 0: unknown.
    void hand_over(const format::Record& record, std::int64_t needed_unix_ns);
    /// Tells the others of the node what becomes of the save, whatever it is; before that `undecided`, any number of
    /// times.
    void tell(Outcome outcome, std::chrono::nanoseconds waited);

    // By the others.

    struct Decision {
        Outcome outcome = Outcome::failed;
        std::chrono::nanoseconds waited{0};
    };
    /// What the first rank tells of this save; the slot that it has got is then the current one. `broken` when that
    /// rank has ended.
    Result<Decision> follow();

private:
    node::Staging& staging_;
    std::uint32_t stream_ = 0;
    std::vector<std::uint32_t> indices_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> failures_told_;  // of each slot
    std::uint32_t decisions_ = 0;               // that this rank has told, or seen
    std::size_t current_ = 0;
    std::optional<node::SlotState> state_before_;  // of the current slot, as long as this rank has it `filling`
};

}  // namespace forebay::stage
