// The slots of one stream on a node, as one rank holds them, and the slot of the current save.
//
// Ranks: only the node's first rank changes the states of slots. It takes a slot for a save, and gives it back or hands
// it to the agent. It writes its decision to the control page, and the other ranks follow.

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

/// A wait checks this often that the agent and the node's first rank still live.
inline constexpr std::chrono::milliseconds liveness_pause{200};

class StreamSlots {
public:
    /// The fate of a save: it gets a free slot, or the slot of a save that waits for its drain, or none. `undecided`:
    /// the first rank asks the other nodes and then waits on.
    enum class Outcome : std::uint32_t { admitted = 1, replacing, skipped, failed, undecided };

    /// `staging` must outlive it.
    explicit StreamSlots(node::Staging& staging) : staging_(staging) {}
    /// Finds the stream's first `count` slots. `stream` is its index on the control page.
    void find(std::uint32_t stream, std::uint32_t count);
    /// Unmaps all slots. They cannot be used afterwards.
    void release() { slots_.clear(); }

    std::uint32_t stream() const { return stream_; }
    node::StreamControl& stream_control() const { return staging_.control().streams[stream_]; }
    /// On the control page.
    const std::vector<std::uint32_t>& indices() const { return indices_; }
    std::size_t count() const { return indices_.size(); }
    node::SlotControl& control(std::size_t i) const { return staging_.control().slots[indices_[i]]; }
    std::string path(std::size_t i) const { return staging_.slot_path(indices_[i]); }
    Slot& operator[](std::size_t i) { return slots_[i]; }
    /// The index of the current save's slot.
    std::size_t current_index() const { return current_; }
    Slot& current() { return slots_[current_]; }

    // Only the node's first rank may call these.

    /// The error of a slot with a failed drain, returned once. The agent tries again.
    Result<> report_failure();
    /// The failures so far were reported elsewhere.
    void forget_failures();
    /// Takes a free slot: first a slot without a lease, then a slot with a lease, which ends; among them the slot of
    /// the oldest step. False if no slot is free.
    bool take_free();
    /// Takes a slot whose drain has not begun; it keeps its save until replace(). Only a slot that was laid out for
    /// description `version` and has room for `rows`. False if there is none.
    bool take_waiting(std::uint64_t version, std::span<const std::uint64_t> rows);
    /// The step of the save found by take_waiting(); -1 if the slot was free.
    std::int64_t replaced_step() const;
    /// Drops that save: from now on give_back() leaves the slot empty.
    void replace();
    /// Gives the slot back if it is taken and not sealed.
    void give_back();
    /// Hands the sealed slot to the agent. The next save will need it at `needed_unix_ns`; 0: unknown.
    void hand_over(const format::Record& record, std::int64_t needed_unix_ns);
    /// Writes the outcome of the save for the node's other ranks. Before it, `undecided` any number of times.
    void tell(Outcome outcome, std::chrono::nanoseconds waited);

    // For the node's other ranks.

    struct Decision {
        Outcome outcome = Outcome::failed;
        std::chrono::nanoseconds waited{0};
    };
    /// The first rank's outcome for this save; its slot becomes the current slot. `broken` if that rank has ended.
    Result<Decision> follow();

private:
    node::Staging& staging_;
    std::uint32_t stream_ = 0;
    std::vector<std::uint32_t> indices_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> failures_told_;  // for each slot
    std::uint32_t decisions_ = 0;               // reported or seen by this rank
    std::size_t current_ = 0;
    std::optional<node::SlotState> state_before_;  // of the current slot, while this rank has it `filling`
};

}  // namespace forebay::stage
