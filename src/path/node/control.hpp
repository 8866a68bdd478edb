// The control page: one small file in the staging directory, mapped by the ranks of a node and by their agent. It says
// what each slot holds, carries the bells by which they wake each other, and what the agent has to tell.
//
// A slot's life, and who makes each step:
//   empty -> filling (node's first rank) -> sealed (same) -> draining (agent) -> drained (agent: this node's file is
//   durable) -> committed (agent: so is everyone's). draining -> failed (agent: retries are used up, the staged copy
//   stays) -> draining (agent, at the next bell). empty, committed -> filling again, once no other station of the agent
//   holds it; sealed -> filling (newest_only).
// When something goes wrong: draining, drained -> sealed (the next agent, of what a killed one had); drained -> failed
// (agent: the commit failed); draining, drained -> empty (agent: damaged in memory, or another node's part never came);
// sealed, draining, drained -> failed (agent that must leave); filling -> what it was before, or empty (first rank).
//
// The page never outlives a version: a session that finds one of another version treats it as absent and looks at
// the node files themselves. Nothing in a page is used as an index or a name before check() has accepted it.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/describe/counter_list.hpp"
#include "forebay/result.hpp"

namespace forebay::node {

inline constexpr std::uint64_t control_magic = 0x314C525443424600ull;  // "\0FBCTRL1"
inline constexpr std::uint32_t control_version = 12;
inline constexpr std::uint32_t streams_max = 32;
inline constexpr std::uint32_t slots_max = 2 * streams_max;  // a stream has one or two
inline constexpr std::size_t error_text_max = 2048;
inline constexpr std::size_t compression_text_max = 4096;
inline constexpr std::size_t insitu_text_max = 16384;
// Of steps that the agent has not looked at yet: it looks twice a second at least, and a sample takes 100 ms or more.
inline constexpr std::size_t step_samples_max = 64;

// Of events that a watcher has not seen yet: a look a second keeps up with 256 of them, and a snapshot makes about
// five.
inline constexpr std::size_t events_max = 256;

// Of conditions that the application has not been told of yet: a snapshot fulfils one or two, and a step takes longer
// than a look at the page. An application that never looks needs none.
inline constexpr std::size_t flagged_max = 16, flagged_text_max = 1024;

inline constexpr std::uint32_t lingering_frees = 2;

// Leases, of the station of built-in analyses and of that of scripts: a save takes such a slot at once, and its leases
// with it.
inline constexpr std::uint32_t lease_hold = 1u << 31, script_lease_hold = 1u << 30;
/// Beside `lease_hold`: the analyses have read the slot, and make results of it.
inline constexpr std::uint32_t lease_read = 1u << 29;
inline constexpr std::uint32_t lease_holds = lease_hold | script_lease_hold | lease_read;

enum class SlotState : std::uint32_t { empty, filling, sealed, draining, drained, committed, failed };
const char* name_of(SlotState state);

template <std::size_t Size>
void set_text(std::array<char, Size>& to, std::string_view text) {
    const auto length = text.copy(to.data(), Size - 1);
    to[length] = '\0';
}

// An error's `what`, `safe` and `next`, each with a NUL behind it; whatever does not fit is cut.
using ErrorText = std::array<char, error_text_max>;
void set_error(ErrorText& to, const Error& error);
Error error_in(std::uint32_t kind, const ErrorText& text);

struct SlotControl {
    std::atomic<SlotState> state{SlotState::empty};
    // A bit of each station, beside the drain, that has still to see the save (agent/station.hpp). Set and cleared by
    // the agent; a lease (lease_holds) also by the save that takes the slot, before it changes a byte there.
    std::atomic<std::uint32_t> holds{0};
    std::uint32_t stream = 0;  // index into Control::streams
    std::uint32_t number = 0;  // 0 or 1: file STREAM.NUMBER.h5
    // 1: an earlier session sealed this slot. The other nodes of that session may not be part of this one, so the slot
    // is not counted in Control::commits, and it is free as soon as its node file is durable in the part directory.
    // Whichever agent brings the last node file of that snapshot there commits it.
    std::atomic<std::uint32_t> inherited{0};
    std::atomic<std::int64_t> step{-1};
    std::atomic<std::uint64_t> snapshot_id{0};
    std::atomic<std::uint64_t> drained_bytes{0};  // of the drain under way
    std::atomic<std::int64_t> sealed_unix_ns{0};
    std::atomic<std::int64_t> sealed_steady_ns{0};  // by the monotonic clock, which nobody sets; of this session alone
    std::atomic<std::uint64_t> file_bytes{0};       // of the node file, since its seal
    // When the next save will want this slot, if saves go on at the pace of the last ones; 0: unknown.
    std::atomic<std::int64_t> needed_unix_ns{0};
    std::atomic<std::uint32_t> late{0};      // 1: the agent has counted it as a missed deadline
    std::atomic<std::uint32_t> failures{0};  // how often the agent has set `failed`, ever
    // 1: the save was damaged in memory and the agent has left it; whoever waits for it, or saves next, gets the error.
    std::atomic<std::uint32_t> given_up{0};
    // Written by the agent before it stores `failed`, stable until it leaves that state.
    std::uint32_t error_kind = 0;
    ErrorText error_text{};
};

/// Whether the next save may fill it. A lease does not keep it: take_leases().
bool is_free(const SlotControl& slot);

struct StreamControl {
    std::array<char, 256> name{};
    std::int32_t keep = 0;
    std::int32_t keep_abandoned = -1;
    std::uint32_t view = 0;                                // a bit of each convention that views are to be made in
    std::array<char, compression_text_max> compression{};  // encode_rules()
    std::array<char, insitu_text_max> insitu{};            // encode_analyses()
    std::atomic<std::int32_t> priority{0};
    std::atomic<std::int64_t> deadline_ns{0};  // after the seal; 0: none
    std::atomic<std::uint64_t> rate_bytes_per_second{0};
    describe::StreamCounts<std::atomic> counts;  // on this node
    // The id of the save that analyses look at, from their begin to their last word; 0: none. It may still be marked.
    std::atomic<std::uint64_t> in_analysis{0}, in_scripts{0};
    // The same from when the slot has been read: an agent that is killed meanwhile has not counted it.
    std::atomic<std::uint64_t> read_by_analyses{0};
    // Of this session's saves: how many are committed, and the longest time from the seal to the commit.
    std::atomic<std::uint64_t> commits{0}, durable_ns_max{0};
    // The slot of the save under way, as the node's first rank tells it to the others.
    std::atomic<std::uint32_t> decisions{0};
    std::uint32_t outcome = 0;
    std::uint32_t slot = 0;
    std::uint64_t wait_ns = 0;  // for a free slot
};

// An event of the agent; event_ring.hpp writes and reads it.
struct EventControl {
    std::atomic<std::uint64_t> number{0};
    std::atomic<std::int64_t> unix_ns{0};
    std::atomic<std::uint32_t> what{0}, stream{0};
    std::atomic<std::int64_t> step{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<double> seconds{0};
};

// A condition of an analysis that a snapshot fulfils; flagged.hpp writes and reads it.
struct FlaggedControl {
    std::uint32_t stream = 0, actions = 0;
    std::int64_t step = 0;
    std::uint64_t snapshot_id = 0;
    std::uint32_t session = 0, turn = 0;  // of its line
    double value = 0;
    std::array<char, flagged_text_max> text{};
};

/// Of Control::ending: what stations have to do beside the drain is left to the next agent.
inline constexpr std::uint32_t ending_after_drains = 2;

struct Control {
    std::atomic<std::uint64_t> magic{0};  // stored last
    std::uint32_t version = control_version;
    std::atomic<std::uint32_t> bell{0};    // rung by the application: there is work, or the session ends
    std::atomic<std::uint32_t> news{0};    // rung by the agent: a slot's state changed
    std::atomic<std::uint32_t> ending{0};  // not 0: finish what is sealed, then leave; ending_after_drains
    std::atomic<std::uint32_t> draining{0};
    // The number that this session has among the run's sessions (catalog/run_lock.hpp); 0 until it has claimed the run.
    std::atomic<std::uint32_t> session{0};
    std::atomic<std::uint32_t> shows_life{0};  // 1: the agent of this node renews the claim
    // What a status says of the job (format/status_line.hpp): how many nodes the session has, and when the batch system
    // ends it; 0: unknown.
    std::atomic<std::uint32_t> nodes{0};
    std::atomic<std::int64_t> job_ends_unix_ns{0};
    // 1: a later session has claimed the run, or gone back behind what this one has saved; `lost_text` says which.
    std::atomic<std::uint32_t> lost{0};
    ErrorText lost_text{};
    // 1: all is committed and the application has died; the agent keeps the staged copies for one that starts again.
    // lingering_frees: it frees them now.
    std::atomic<std::uint32_t> lingering{0};
    std::atomic<std::uint32_t> stream_count{0};
    std::atomic<std::uint32_t> slot_count{0};
    describe::NodeCounts<std::atomic> counts;
    // Steps of the simulation beside drains, see step_clock.hpp.
    std::atomic<std::uint32_t> waiting{0};  // calls that wait for the agent: nothing computes that a drain could slow
    std::atomic<std::uint32_t> moving{0};   // changed by the agent, odd while it moves bytes
    std::atomic<std::uint64_t> step_samples_count{0};
    std::array<std::atomic<std::uint64_t>, step_samples_max> step_samples{};
    std::atomic<double> slowdown_low_percent{0}, slowdown_high_percent{0};  // 90 % sure
    std::atomic<std::uint64_t> events_count{0};                             // since the page was made
    std::array<EventControl, events_max> events;
    std::atomic<std::uint64_t> flagged_put{0};    // by the agent
    std::atomic<std::uint64_t> flagged_taken{0};  // by the node's first rank
    std::array<FlaggedControl, flagged_max> flagged;
    std::array<StreamControl, streams_max> streams;
    std::array<SlotControl, slots_max> slots;
};

static_assert(std::atomic<SlotState>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free &&
                  std::atomic<double>::is_always_lock_free,
              "the page is shared between processes");

/// Refuses what `path` holds if it is of another version (`unsupported`), or leads out of itself or out of its
/// directory by a count, an index or a name (`corrupt`).
Result<> check(const Control& control, const std::string& path);

/// Ends the leases of a slot that a save takes, before a byte of it changes: who reads the slot by one looks for its
/// bit when it has read. The snapshot then counts as not analysed, and as missed by scripts.
void take_leases(Control& control, SlotControl& slot);

/// Rings a bell after the changes it announces.
void ring(std::atomic<std::uint32_t>& bell);

/// STREAM.NUMBER.h5
std::string slot_file_name(const Control& control, const SlotControl& slot);

}  // namespace forebay::node
