// The save of one stream, as one rank does it: plan, wait for a slot, copy, seal.
//
// Messages of a save in steady state: two maxima over the world (what must be alike and what changed; errors and
// skips), one gathering of row counts over the node, one barrier of the node. Nothing is sent per variable. While one
// of several nodes waits long for a slot, the second maximum is repeated (acquire.cpp).

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/comm/group.hpp"
#include "core/sys/clock.hpp"
#include "forebay/options.hpp"
#include "path/node/host.hpp"
#include "path/node/long_wait.hpp"
#include "path/node/staging.hpp"
#include "path/node/timing_ring.hpp"
#include "path/stage/agreed_description.hpp"
#include "path/stage/save_clock.hpp"
#include "path/stage/stream_slots.hpp"

namespace forebay::stage {

class SlotWait;

struct StagerContext {
    comm::Topology* topology = nullptr;
    node::Staging* staging = nullptr;
    node::TimingRings* timings = nullptr;  // null: none are kept
    std::uint64_t session_id = 0;
    std::uint64_t run_id = 0;
    std::uint64_t alignment_bytes = 4096;
    std::uint64_t block_bytes = 16u << 20;  // of the agent's writes
    node::Host* host = nullptr;             // of the agent; on the node's first rank alone
    std::chrono::milliseconds stall_wait{0};
    node::Say say = {};  // for waits that last
};

class Stager {
public:
    using Values = AgreedDescription::Values;

    Stager(StagerContext context, std::string stream, const StreamOptions& options);

    /// Registers the stream on the node. Collective over the node; errors are agreed by the caller.
    Result<> add();

    /// Lays every free slot out and faults it in. Collective.
    Result<> prepare(const Schema& schema, const describe::Binding& binding, bool changed);

    /// Up to the point where blocks may be written: `kept` false means the policy skipped the step. Collective.
    /// If this rank's `own_result` is an error, every rank gets it. A save that was begun before and never finished is
    /// given up.
    Result<Saved> begin(std::int64_t step, double time, const Schema& schema, const describe::Binding& binding,
                        bool changed, Values values, const Result<>& own_result);
    /// Where in the history of the run the save stands that was begun. Local, alike on all ranks.
    void stand(std::vector<format::LineStart> lines) { record_.lineage.lines = std::move(lines); }
    /// As AgreedDescription::check_final(), of what begin() left for later.
    Result<> check_final(const Schema& schema, const describe::Binding& binding, std::span<const char> direct,
                         const Result<>& own_result) {
        return description_.check_final(schema, binding, direct, own_result);
    }
    /// Where the application may write a block itself, between begin() and finish().
    std::span<std::byte> block(std::uint32_t variable, std::size_t piece) {
        return slots_.current().block(variable, piece);
    }
    /// Copies what is not marked in `direct`, checksums, by the threads of `crew`; seals. Collective over the node.
    Result<Saved> finish(const describe::Binding& binding, std::span<const char> direct, sys::Crew& crew);

    /// Gives up what begin() began, if anything; the slot is empty then. Local.
    void abandon();
    /// The number of the save between begin() and finish() or abandon(); 0 when there is none.
    std::uint64_t under_way() const { return under_way_; }

    /// Waits until all slots are committed or free. Collective.
    Result<> wait_committed(std::chrono::milliseconds at_most);

    /// Unmaps the slots; the stager is of no use after it. Local.
    void release() { slots_.release(); }

    std::uint32_t stream_index() const { return slots_.stream(); }
    const StreamOptions& options() const { return options_; }
    /// This rank's, and what the control page counts of the stream.
    Counters counters() const;

private:
    using Outcome = StreamSlots::Outcome;

    struct Agreed {
        Outcome own = Outcome::failed;  // of this rank's node
        bool keeps = false;             // every node has a slot; else the step is skipped
        bool must_plan = false;         // some node must
        std::int64_t replaced = -1;     // the step that the save replaces
    };

    Result<Outcome> acquire(SlotWait& wait);                      // by the node's first rank
    Result<Outcome> admit(const Schema& schema, SlotWait& wait);  // by the node's first rank
    Result<Outcome> follow(const Schema& schema);                 // by the others
    Result<Agreed> acquire_together(const Schema& schema);
    Result<> lay_out(std::size_t slot, const Schema& schema);
    Result<> fit_current(const Schema& schema);
    void count_time();
    void put_timings();

    StagerContext context_;
    std::string stream_;
    StreamOptions options_;
    StreamSlots slots_;
    AgreedDescription description_;
    std::uint64_t saves_ = 0;
    std::uint64_t under_way_ = 0;
    Saved saved_;
    format::Record record_;                           // seals the save under way; on the node's first rank
    SaveClock clock_;                                 // of the save under way
    std::chrono::nanoseconds interval_{0};            // between the beginnings of the last two saves
    std::vector<std::chrono::microseconds> blocked_;  // by the last save in each slot
    Counters counters_;
};

}  // namespace forebay::stage
