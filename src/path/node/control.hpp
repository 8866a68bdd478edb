// The control page: one small file in the staging directory. The ranks of a node and their agent map it. It has the
// state of each slot, the bells that wake the other side, and the agent's reports.
//
// A slot's states, and who makes each change:
//   empty -> filling (node's first rank) -> sealed (same) -> draining (agent) -> drained (agent: this node's file is
//   durable) -> committed (agent: all nodes' files are). draining -> failed (agent: retries are used up, the staged
//   copy stays) -> draining (agent, at the next bell). empty, committed -> filling, when no other station of the agent
//   holds the slot; sealed -> filling (newest_only).
// After errors: draining, drained -> sealed (a new agent, after a killed agent); drained -> failed (agent: the commit
// failed); draining, drained -> empty (agent: damaged in memory, or another node's part never came); sealed,
// draining, drained -> failed (agent that must leave); filling -> the state before, or empty (first rank).
//
// A session treats a page of another version as absent and reads the node files themselves. check() must accept a page
// before any index or name of it is used.

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
inline constexpr std::uint32_t slots_max = 2 * streams_max;  // a stream has at most two
inline constexpr std::size_t error_text_max = 2048;
inline constexpr std::size_t compression_text_max = 4096;
inline constexpr std::size_t insitu_text_max = 16384;
// Samples that the agent has not read. It reads at least twice a second, and a sample takes 100 ms or more.
inline constexpr std::size_t step_samples_max = 64;

// Events that a watcher has not read. With one look a second it keeps up with 256 events; a snapshot makes about five.
inline constexpr std::size_t events_max = 256;

// Conditions that the application has not received. A snapshot fulfils one or two, and a step takes longer than a look
// at the page. An application that never looks needs none.
inline constexpr std::size_t flagged_max = 16, flagged_text_max = 1024;

inline constexpr std::uint32_t lingering_frees = 2;

// Leases of the stations of built-in analyses and of scripts. A save takes such a slot at once and ends its leases.
inline constexpr std::uint32_t lease_hold = 1u << 31, script_lease_hold = 1u << 30;
/// Together with `lease_hold`: the analyses have read the slot and now make results.
inline constexpr std::uint32_t lease_read = 1u << 29;
inline constexpr std::uint32_t lease_holds = lease_hold | script_lease_hold | lease_read;

enum class SlotState : std::uint32_t { empty, filling, sealed, draining, drained, committed, failed };
const char* name_of(SlotState state);

template <std::size_t Size>
void set_text(std::array<char, Size>& to, std::string_view text) {
    const auto length = text.copy(to.data(), Size - 1);
    to[length] = '\0';
}

// An error's `what`, `safe` and `next`, each with a NUL at its end. Text without room is cut.
using ErrorText = std::array<char, error_text_max>;
void set_error(ErrorText& to, const Error& error);
Error error_in(std::uint32_t kind, const ErrorText& text);

struct SlotControl {
    std::atomic<SlotState> state{SlotState::empty};
    // A bit for each station, besides the drain, that has not processed the save yet (agent/station.hpp). The agent
    // sets and clears it. A save that takes the slot also clears leases (lease_holds), before it changes a byte of the
    // slot.
    std::atomic<std::uint32_t> holds{0};
    std::uint32_t stream = 0;  // index into Control::streams
    std::uint32_t number = 0;  // 0 or 1: file STREAM.NUMBER.h5
    // 1: an earlier session sealed this slot. This session may not have all nodes of that session, so the slot does not
    // count in Control::commits. It is free as soon as its node file is durable in the part directory. The agent that
    // brings the last node file of that snapshot there commits it.
    std::atomic<std::uint32_t> inherited{0};
    std::atomic<std::int64_t> step{-1};
    std::atomic<std::uint64_t> snapshot_id{0};
    std::atomic<std::uint64_t> drained_bytes{0};  // of the running drain
    std::atomic<std::int64_t> sealed_unix_ns{0};
    std::atomic<std::int64_t> sealed_steady_ns{0};  // by the monotonic clock; only for this session
    std::atomic<std::uint64_t> file_bytes{0};       // of the node file; set by its seal
    // Expected time of the next save into this slot, at the pace of the last saves; 0: unknown.
    std::atomic<std::int64_t> needed_unix_ns{0};
    std::atomic<std::uint32_t> late{0};      // 1: the agent counted it as a missed deadline
    std::atomic<std::uint32_t> failures{0};  // how often the agent has set `failed`, in all
    // 1: the save was damaged in memory and the agent gave it up. The next wait or save returns the error.
    std::atomic<std::uint32_t> given_up{0};
    // The agent writes it before it stores `failed`. It is stable while the state is `failed`.
    std::uint32_t error_kind = 0;
    ErrorText error_text{};
};

/// True if the next save may fill it. A lease does not prevent this: call take_leases().
bool is_free(const SlotControl& slot);

struct StreamControl {
    std::array<char, 256> name{};
    std::int32_t keep = 0;
    std::int32_t keep_abandoned = -1;
    std::uint32_t view = 0;                                // a bit for each convention with views
    std::array<char, compression_text_max> compression{};  // encode_rules()
    std::array<char, insitu_text_max> insitu{};            // encode_analyses()
    std::atomic<std::int32_t> priority{0};
    std::atomic<std::int64_t> deadline_ns{0};  // after the seal; 0: none
    std::atomic<std::uint64_t> rate_bytes_per_second{0};
    describe::StreamCounts<std::atomic> counts;  // on this node
    // The id of the save that analyses are processing, from begin to end; 0: none. They may still mark it.
    std::atomic<std::uint64_t> in_analysis{0}, in_scripts{0};
    // The id of the save whose slot the analyses have read. If the agent is killed now, the save is not counted yet.
    std::atomic<std::uint64_t> read_by_analyses{0};
    // For this session's saves: the number committed, and the longest time from seal to commit.
    std::atomic<std::uint64_t> commits{0}, durable_ns_max{0};
    // The slot of the current save; the node's first rank passes it to the other ranks.
    std::atomic<std::uint32_t> decisions{0};
    std::uint32_t outcome = 0;
    std::uint32_t slot = 0;
    std::uint64_t wait_ns = 0;  // waiting for a free slot
};

// An event of the agent. event_ring.hpp writes and reads it.
struct EventControl {
    std::atomic<std::uint64_t> number{0};
    std::atomic<std::int64_t> unix_ns{0};
    std::atomic<std::uint32_t> what{0}, stream{0};
    std::atomic<std::int64_t> step{0};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<double> seconds{0};
};

// A fulfilled condition of an analysis. flagged.hpp writes and reads it.
struct FlaggedControl {
    std::uint32_t stream = 0, actions = 0;
    std::int64_t step = 0;
    std::uint64_t snapshot_id = 0;
    std::uint32_t session = 0, turn = 0;  // of its line
    double value = 0;
    std::array<char, flagged_text_max> text{};
};

/// Value of Control::ending: leave after the drains; the next agent does the work of the other stations.
inline constexpr std::uint32_t ending_after_drains = 2;

struct Control {
    std::atomic<std::uint64_t> magic{0};  // stored last
    std::uint32_t version = control_version;
    std::atomic<std::uint32_t> bell{0};    // the application rings it: there is work, or the session ends
    std::atomic<std::uint32_t> news{0};    // the agent rings it: a slot's state changed
    std::atomic<std::uint32_t> ending{0};  // not 0: drain the sealed slots, then leave; see ending_after_drains
    std::atomic<std::uint32_t> draining{0};
    // This session's number in the run (catalog/run_lock.hpp); 0 before it has the run lock.
    std::atomic<std::uint32_t> session{0};
    std::atomic<std::uint32_t> shows_life{0};  // 1: the agent of this node renews the run lock
    // For status lines (format/status_line.hpp): the session's number of nodes, and the time when the batch system ends
    // it; 0: unknown.
    std::atomic<std::uint32_t> nodes{0};
    std::atomic<std::int64_t> job_ends_unix_ns{0};
    // 1: a later session took the run lock, or went back behind this session's saves; `lost_text` has the reason.
    std::atomic<std::uint32_t> lost{0};
    ErrorText lost_text{};
    // 1: all is committed and the application died; the agent keeps the staged copies for a restart. lingering_frees:
    // it frees them now.
    std::atomic<std::uint32_t> lingering{0};
    std::atomic<std::uint32_t> stream_count{0};
    std::atomic<std::uint32_t> slot_count{0};
    describe::NodeCounts<std::atomic> counts;
    // Times of the simulation's steps, see step_clock.hpp.
    std::atomic<std::uint32_t> waiting{0};  // calls that wait for the agent: a drain slows no computing now
    std::atomic<std::uint32_t> moving{0};   // the agent changes it; odd while it moves bytes
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

/// `unsupported` if the page at `path` has another version. `corrupt` if a count, an index or a name leads outside the
/// page or its directory.
Result<> check(const Control& control, const std::string& path);

/// Ends the leases of a slot. A save calls it before it changes a byte of the slot: each reader checks its bit after it
/// reads. The snapshot then counts as not analysed, and as missed by scripts.
void take_leases(Control& control, SlotControl& slot);

/// Rings a bell. Call it after the changes.
void ring(std::atomic<std::uint32_t>& bell);

/// STREAM.NUMBER.h5
std::string slot_file_name(const Control& control, const SlotControl& slot);

}  // namespace forebay::node
