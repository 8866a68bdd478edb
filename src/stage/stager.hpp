// The save of one stream, as one rank does it: plan, wait for a slot, copy, seal.
//
// Messages of a save in steady state: two maxima over the world (what must be alike and what changed; errors and
// skips), one gathering of row counts over the node, one barrier of the node. Nothing is sent per variable.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/group.hpp"
#include "forebay/options.hpp"
#include "node/host.hpp"
#include "node/long_wait.hpp"
#include "node/staging.hpp"
#include "stage/alike.hpp"
#include "stage/forms/places.hpp"
#include "stage/node_parts.hpp"
#include "stage/slot.hpp"
#include "sys/clock.hpp"

namespace forebay::stage {

struct StagerContext {
    comm::Topology* topology = nullptr;
    node::Staging* staging = nullptr;
    std::uint64_t session_id = 0;
    std::uint64_t run_id = 0;
    std::uint64_t alignment_bytes = 4096;
    std::uint64_t block_bytes = 16u << 20;  // of the agent's writes
    node::Host* host = nullptr;             // of the agent; on the node's first rank alone
    std::chrono::milliseconds stall_wait{0};
    node::Say say = {};  // for waits that last
};

/// How long a wait goes without looking whether those it waits for still live: the agent, the node's first rank.
inline constexpr std::chrono::milliseconds liveness_pause{200};

class Stager {
public:
    /// Whether the replicated values are what will be saved, or the application still changes them.
    enum class Values { final, not_yet };

    Stager(StagerContext context, std::string stream, const StreamOptions& options);

    /// Registers the stream on the node. Collective over the node; errors are agreed by the caller.
    Result<> add();

    /// Lays every free slot out and faults it in. Collective.
    Result<> prepare(const Schema& schema, const describe::Binding& binding, bool changed);

    /// Up to the point where blocks may be written: `kept` false means the policy skipped the step. Collective.
    /// `mine` is what this rank has to complain about before: every rank then gets it. A save that was begun before and
    /// never finished is given up.
    Result<Saved> begin(std::int64_t step, double time, const Schema& schema, const describe::Binding& binding,
                        bool changed, Values values, const Result<>& mine);
    /// Where in the history of the run the save stands that was begun. Local, alike on all ranks.
    void stand(std::vector<format::LineStart> lines) { lines_ = std::move(lines); }
    /// What begin() left for later of values that are not final: the replicated ones are equal on every rank, but for
    /// those marked in `direct`. Collective.
    Result<> check_final(const Schema& schema, const describe::Binding& binding, std::span<const char> direct,
                         const Result<>& mine);
    /// Where the application may write a block itself, between begin() and finish().
    std::span<std::byte> block(std::uint32_t variable, std::size_t piece) {
        return slots_[current_].block(variable, piece);
    }
    /// Copies what is not marked in `direct`, checksums, seals. Collective over the node.
    Result<Saved> finish(const describe::Binding& binding, std::span<const char> direct);

    /// Gives up what begin() began, if anything; the slot is empty then. Local.
    void abandon();
    /// The number of the save between begin() and finish() or abandon(); 0 when there is none.
    std::uint64_t under_way() const { return under_way_; }

    /// Waits until all slots are committed or free. Collective.
    Result<> wait_committed(std::chrono::milliseconds at_most);

    /// Unmaps the slots; the stager is of no use after it. Local.
    void release() { slots_.clear(); }

    std::int64_t newest_durable_step() const;
    std::uint64_t deadlines_missed() const;
    std::uint32_t stream_index() const { return stream_index_; }
    const StreamOptions& options() const { return options_; }
    const Counters& counters() const { return counters_; }

private:
    enum class Outcome : std::uint32_t { admitted = 1, replacing, skipped, failed };

    Result<> plan_together(const Call& call, const Schema& schema, const describe::Binding& binding, bool changed,
                           Values values, const Result<>& mine);
    Result<Outcome> acquire();  // by the node's first rank
    std::uint64_t progress();
    std::string show_wait() const;
    Error stalled();
    bool take_waiting();        // by the node's first rank
    Result<> report_failure();  // by the node's first rank: an error not told yet
    Result<> lay_out(std::uint32_t slot, const Schema& schema);
    Result<Outcome> admit(const Schema& schema);
    Result<> follow(Outcome& outcome);  // by the others
    void give_back();
    void count_time();
    std::uint32_t slot_index(std::size_t own) const { return indices_[own]; }
    node::SlotControl& control(std::size_t own) { return context_.staging->control().slots[indices_[own]]; }
    node::StreamControl& stream_control() const { return context_.staging->control().streams[stream_index_]; }

    StagerContext context_;
    std::string stream_;
    StreamOptions options_;
    std::uint32_t stream_index_ = 0;
    std::vector<std::uint32_t> indices_;  // of this stream's slots on the control page
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> reported_;  // failures of each slot that were told to the caller
    std::vector<std::uint64_t> saved_as_;  // the number of the save that each slot holds; 0: of an earlier session
    NodeParts parts_;
    std::uint64_t version_ = 0;  // of the description
    std::uint64_t saves_ = 0;
    std::uint64_t under_way_ = 0;
    std::uint32_t decisions_ = 0;  // as this rank has seen them
    std::size_t current_ = 0;
    node::SlotState previous_ = node::SlotState::empty;
    bool holds_slot_ = false;  // the node's first rank has made slot current_ `filling`
    std::int64_t replaced_ = -1;
    std::unique_ptr<FilePlaces> places_;  // on the node's first rank, where nodes share files; else none
    Saved saved_;
    std::vector<format::LineStart> lines_;
    double time_ = 0;
    sys::Clock::time_point began_;
    std::chrono::nanoseconds interval_{0};  // between the beginnings of the last two saves
    Counters counters_;
};

}  // namespace forebay::stage
