// The slots of a node as its agent sees them: the changes of state that the agent makes on the control page, and what
// it has noted of each slot beside the page. Notes go with the agent; all that another agent needs stands on the page.

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
    std::optional<sys::Clock::time_point> absent_since = {};  // the drained node file is missed at the target
    std::uint32_t look_first_at = 0;     // the node whose arrival is checked first: this one, then one that was absent
    std::uint64_t file_bytes = 0;        // of the drain under way
    double drain_seconds = 0;            // that the last drain took
    std::atomic<bool> overruled{false};  // the drain keeps no limit on the slowdown, so as to end in time
};

class Slots {
public:
    /// All of them must outlive it.
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
    /// Maps the staged file, anew where it is mapped already.
    Result<> map(std::uint32_t slot);
    /// The staged file, as it is mapped.
    std::span<const std::byte> image(std::uint32_t slot) const { return notes_[slot].mapping.bytes(); }
    Result<format::Peek> peek(std::uint32_t slot) const { return format::peek(image(slot), path(slot)); }
    /// With stream and step of the slot.
    Event event(What what, std::uint32_t slot);

    /// In the run, until the application is given it.
    Result<> keep_flagged(const node::Flagged& flagged) { return catalog::keep_flagged(store_, session_.run, flagged); }
    /// As node::put_flagged(), for stations on several threads.
    bool put_flagged(std::uint32_t stream, const node::Flagged& flagged);

    void set(std::uint32_t slot, node::SlotState state);
    /// Marks the slots that a killed agent was draining as sealed again. Node files that it has brought to the target
    /// stay there.
    void take_over();
    /// Takes a slot that is sealed, or failed, for a drain. False where newest_only has taken it back at this moment.
    bool take(std::uint32_t slot, node::SlotState state);
    void begin_drain(std::uint32_t slot);
    /// The slot needs no drain any more: it is committed, has failed, or is left to others.
    void end_drain() { ++drains_ended_; }
    /// The drain, or the commit, has failed: the slot keeps its staged copy, or gives it up where that is damaged.
    void fail(std::uint32_t slot, const Error& cause);
    /// Fails every slot that is not done, because the agent must leave: the next save gets the error at once, instead
    /// of waiting for an agent that is gone.
    void give_up(const Error& error);
    /// Whether the target has the very save that the slot holds.
    Result<bool> is_committed(std::uint32_t slot) const;
    /// Whether any slot is neither committed nor free, or is held by a station.
    bool unfinished() const;
    bool waits_for_peers() const;
    /// Whether what a slot has brought is missed at the target, and looked for again: for limits::names_stay_max.
    bool misses_any() const;
    /// Counts each snapshot whose deadline has passed, once.
    void count_missed_deadlines();
    /// Says so when drains were begun that never came to an end.
    void check_counts() const;

private:
    bool is_whole(std::uint32_t slot) const;

    /// Why nothing can be written, if the run does not lie at its path any more.
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
