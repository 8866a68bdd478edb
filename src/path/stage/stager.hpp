// The save of one stream on one rank: plan, wait for a slot, copy, seal.
//
// Messages of a save in steady state: two maxima over the world (equality and changes; errors and skips), one gathering
// of row counts over the node, one barrier of the node. Nothing is sent for each variable. While a node waits long for
// a slot, the second maximum is repeated (acquire.cpp).

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
    node::TimingRings* timings = nullptr;  // null: no timings are kept
    std::uint64_t session_id = 0;
    std::uint64_t run_id = 0;
    std::uint64_t alignment_bytes = 4096;
    std::uint64_t block_bytes = 16u << 20;  // size of the agent's writes
    node::Host* host = nullptr;             // of the agent; only on the node's first rank
    std::chrono::milliseconds stall_wait{0};
    node::Say say = {};  // for long waits
};

class Stager {
public:
    using Values = AgreedDescription::Values;

    Stager(StagerContext context, std::string stream, const StreamOptions& options);

    /// Registers the stream on the node. Collective over the node; the caller agrees on errors.
    Result<> add();

    /// Lays out every free slot and faults it in. Collective.
    Result<> prepare(const Schema& schema, const describe::Binding& binding, bool changed);

    /// Runs up to the point where blocks may be written. If `kept` is false, the policy skipped the step. If this
    /// rank's `own_result` is an error, every rank gets it. Gives up an unfinished earlier save. Collective.
    Result<Saved> begin(std::int64_t step, double time, const Schema& schema, const describe::Binding& binding,
                        bool changed, Values values, const Result<>& own_result);
    /// Sets the lines of the current save, its place in the run's history. Local, alike on all ranks.
    void stand(std::vector<format::LineStart> lines) { record_.lineage.lines = std::move(lines); }
    /// As AgreedDescription::check_final(), for values that begin() did not check.
    Result<> check_final(const Schema& schema, const describe::Binding& binding, std::span<const char> direct,
                         const Result<>& own_result) {
        return description_.check_final(schema, binding, direct, own_result);
    }
    /// The place of a block. The application may write it itself, between begin() and finish().
    std::span<std::byte> block(std::uint32_t variable, std::size_t piece) {
        return slots_.current().block(variable, piece);
    }
    /// Copies the variables not marked in `direct`, checksums with the threads of `crew`, and seals. Collective over
    /// the node.
    Result<Saved> finish(const describe::Binding& binding, std::span<const char> direct, sys::Crew& crew);

    /// Gives up an unfinished save, if any, and leaves its slot empty. Local.
    void abandon();
    /// The number of the save between begin() and finish() or abandon(); 0 if there is none.
    std::uint64_t under_way() const { return under_way_; }

    /// Waits until all slots are committed or free. Collective.
    Result<> wait_committed(std::chrono::milliseconds at_most);

    /// Unmaps the slots. The stager cannot be used afterwards. Local.
    void release() { slots_.release(); }

    std::uint32_t stream_index() const { return slots_.stream(); }
    const StreamOptions& options() const { return options_; }
    /// This rank's counters, and the stream's counters on the control page.
    Counters counters() const;

private:
    using Outcome = StreamSlots::Outcome;

    struct Agreed {
        Outcome own = Outcome::failed;  // of this rank's node
        bool keeps = false;             // every node has a slot; false: the step is skipped
        bool must_plan = false;         // at least one node must
        std::int64_t replaced = -1;     // the step that the save replaces
    };

    Result<Outcome> acquire(SlotWait& wait);                      // by the node's first rank
    Result<Outcome> admit(const Schema& schema, SlotWait& wait);  // by the node's first rank
    Result<Outcome> follow(const Schema& schema);                 // by the node's other ranks
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
    format::Record record_;                           // seals the current save; on the node's first rank
    SaveClock clock_;                                 // of the current save
    std::chrono::nanoseconds interval_{0};            // between the begins of the last two saves
    std::vector<std::chrono::microseconds> blocked_;  // by the last save in each slot
    Counters counters_;
};

}  // namespace forebay::stage
