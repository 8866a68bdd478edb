// The slots of a node from the side of its agent: its state changes on the control page, and its notes on each slot
// beside the page. The notes end with the agent. Everything that another agent needs is on the page.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "core/format/node_file.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/store.hpp"
#include "path/agent/events.hpp"
#include "path/agent/schedule.hpp"
#include "path/catalog/flagged.hpp"
#include "path/node/flagged.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

struct SlotNotes {
    sys::Mapping mapping;                                     // of the staged file
    std::uint64_t torn = 0;                                   // the save that was found damaged in memory
    std::optional<sys::Clock::time_point> absent_since = {};  // the drained node file is missing at the target
    std::uint32_t look_first_at = 0;     // the node whose arrival is checked first: this node, later an absent node
    std::uint64_t file_bytes = 0;        // of the running drain
    double drain_seconds = 0;            // of the last drain
    std::atomic<bool> overruled{false};  // the drain ignores the limit on the slowdown, to end in time
};

class Slots {
public:
    /// All arguments must outlive it.
    Slots(sys::Store& store, node::Staging& staging, const node::SessionFile& session, Schedule& schedule,
          const Tell& tell);

    node::Control& page() { return page_; }
    std::uint32_t count() const { return page_.slot_count.load(std::memory_order_acquire); }
    node::SlotControl& control(std::uint32_t slot) { return page_.slots[slot]; }
    node::StreamControl& stream(std::uint32_t slot) { return page_.streams[page_.slots[slot].stream]; }
    std::string stream_name(std::uint32_t slot) { return stream(slot).name.data(); }
    Urgency urgency(std::uint32_t slot) const { return urgency_of(page_, slot); }
    std::string path(std::uint32_t slot) const { return staging_.slot_path(slot); }
    SlotNotes& notes(std::uint32_t slot) { return notes_[slot]; }
    /// Maps the staged file, or maps it again.
    Result<> map(std::uint32_t slot);
    /// The mapped staged file.
    std::span<const std::byte> image(std::uint32_t slot) const { return notes_[slot].mapping.bytes(); }
    Result<format::Peek> peek(std::uint32_t slot) const { return format::peek(image(slot), path(slot)); }
    /// An event with stream and step of the slot.
    Event event(What what, std::uint32_t slot);

    /// Keeps it in the run until the application gets it.
    Result<> keep_flagged(const node::Flagged& flagged) { return catalog::keep_flagged(store_, session_.run, flagged); }
    /// Like node::put_flagged(), for stations on several threads.
    bool put_flagged(std::uint32_t stream, const node::Flagged& flagged);

    void set(std::uint32_t slot, node::SlotState state);
    /// Marks slots that a killed agent was draining as sealed again. Node files that it brought to the target stay
    /// there.
    void take_over();
    /// Takes a sealed or failed slot for a drain. False if newest_only took it back at this moment.
    bool take(std::uint32_t slot, node::SlotState state);
    void begin_drain(std::uint32_t slot);
    /// The slot needs no drain any more: it is committed, failed, or left to other nodes.
    void end_drain() { ++drains_ended_; }
    /// Call it after a failed drain or commit. The slot keeps its staged copy, or gives it up if the copy is damaged.
    void fail(std::uint32_t slot, const Error& cause);
    /// Fails every unfinished slot, because the agent must leave: the next save gets the error at once, and does not
    /// wait for an agent that is gone.
    void give_up(const Error& error);
    /// True if the target has the very save that the slot holds.
    Result<bool> is_committed(std::uint32_t slot) const;
    /// True if a slot is neither committed nor free, or if a station holds it.
    bool unfinished() const;
    bool waits_for_peers() const;
    /// True if a slot's node file is missing at the target and is still looked for: for limits::names_stay_max.
    bool misses_any() const;
    /// Counts each snapshot whose deadline has passed, once.
    void count_missed_deadlines();
    /// Reports drains that began and never ended.
    void check_counts() const;

private:
    bool is_whole(std::uint32_t slot) const;

    /// The error if the run is not at its path any more: nothing can be written.
    std::optional<Error> run_is_gone() const;

    sys::Store& store_;
    node::Staging& staging_;
    node::Control& page_;
    const node::SessionFile& session_;
    Schedule& schedule_;
    const Tell& tell_;
    std::uint64_t drains_begun_ = 0, drains_ended_ = 0;
    std::array<SlotNotes, node::slots_max> notes_;
    std::mutex raising_;
};

}  // namespace forebay::agent
