// Keeps the timings of a node's saves and drains: it takes the agent's events, the store's writes and the ranks'
// timings from their rings. From them it makes one batch per snapshot, and TimingWriter appends the batch to the run
// (docs/formats/timings.md). The event `slow` explains a slow snapshot.
//
// A batch is complete when only analyses of the snapshot are left, and when all ranks of the node have timed their
// save. The second may come later: a rank that gets no CPU writes its record late. A batch waits up to rank_wait_max
// for such a rank, on its own thread. Then the rank counts as missing in the batch. Analyses of the last batch come
// with the next batch. No drain depends on a batch: a batch that cannot be written is lost, and reported once. Threads:
// any; `tell` is called without a lock held.

#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/format/timing.hpp"
#include "core/sys/thread.hpp"
#include "path/agent/event_sinks.hpp"
#include "path/agent/events.hpp"
#include "path/agent/placement.hpp"
#include "path/agent/rank_records.hpp"
#include "path/agent/timed_store.hpp"
#include "path/agent/timing_writer.hpp"
#include "path/node/staging.hpp"
#include "path/node/timing_ring.hpp"

namespace forebay::agent {

/// The time that a batch waits for the record of a rank. A rank on a crowded machine gets its turn much sooner. A dead
/// or stopped rank never writes its record.
inline constexpr std::chrono::seconds rank_wait_max{10};

class TimingKeeper final : public TimingSink {
public:
    /// `placement` learns from each drain; it may be null. It, `store` and `staging` must outlive this. `agent` is
    /// TimingBatch::agent, `block_bytes` is AgentOptions::block_bytes.
    TimingKeeper(std::shared_ptr<sys::Store> store, node::Staging& staging, NodeFileOfRun file, std::string agent,
                 std::uint64_t block_bytes, Tell tell, Placement* placement = nullptr);
    TimingKeeper(const TimingKeeper&) = delete;
    TimingKeeper& operator=(const TimingKeeper&) = delete;
    /// Like finish().
    ~TimingKeeper() override { finish(); }

    void hear(const Event& event);
    /// Of the newest snapshot; 0: there was none.
    std::uint32_t nodes();
    /// Writes all batches, with the records that have come; then TimingWriter::finish().
    void finish();
    void wrote(const std::vector<Write>& writes, const sys::StripeMap& map) override;
    void synced(sys::Clock::time_point start, sys::Clock::duration took, bool failed) override;

private:
    /// A snapshot between the begin of its drain and its last event.
    struct Open {
        std::uint32_t slot = 0;
        format::TimingBatch batch;
        std::map<std::uint32_t, std::uint16_t> places;  // of OSTs among its targets
        double cpu_seconds_before = 0;                  // of all drains, at its begin
        double overtaken_cpu_seconds = 0;
        sys::Clock::time_point drained_at;
        std::uint64_t stored_before = 0, overtaken_stored = 0;  // likewise, bytes
        RankRecords::Save save;
        std::uint32_t ranks_expected = 0;         // 0: an earlier session saved it, and its records are gone
        sys::Clock::time_point waits_until = {};  // for these ranks
    };

    /// The time of the machine's clock at the session's begin, plus monotonic time since: nobody can set it back.
    std::int64_t now_unix_ns() const;
    void begin(std::uint32_t slot);
    void add(Open& open, format::TimingKind kind, std::int64_t start_unix_ns, double seconds, std::uint64_t bytes = 0);
    void end_drain(const Event& event);
    void end(Open& open, const std::string& outcome);
    std::vector<std::string> explain(Open& open);
    void take_rank_timings();
    node::TimingRings::Unkept unkept_now() const;
    void count_unkept(format::TimingBatch& batch);
    void fill(Open& open);
    void wait_for_ranks(Open open);
    void write_complete(bool all);
    void complete(Open& open);
    void keep_looking();
    std::optional<Open>& of(std::uint32_t slot);
    std::uint16_t place_of(Open& open, std::optional<std::uint32_t> target);
    void write(Open open);

    node::Staging& staging_;
    const std::uint64_t block_bytes_;
    const NodeFileOfRun file_;
    const std::string agent_;
    const Tell tell_;
    Placement* const placement_;
    const std::int64_t unix_less_steady_ns_, began_unix_ns_;
    std::optional<node::TimingRings> rings_;
    TimingWriter writer_;
    std::mutex alone_;
    struct Heard {                   // guarded by `alone_`
        std::vector<Open> draining;  // the last drain moves bytes, the rest are overtaken
        std::array<std::optional<Open>, node::slots_max> drained;
        std::deque<Open> waiting;          // in the order of writing
        std::vector<std::uint64_t> seen;   // for each rank's ring
        node::TimingRings::Unkept unkept;  // reported in batches
        std::uint64_t missed = 0;
        RankRecords records;
        std::vector<format::Timing> loose;  // without a slot: analyses
        std::array<std::int64_t, node::slots_max> step_before{};
        std::map<std::string, std::int64_t> saved_before;
        std::map<std::string, std::vector<format::TimingBatch>> usual;  // for a stream, without their timings
        std::uint32_t nodes = 0;
        std::vector<Event> events;  // emitted at the next event, or at the end: a sink may wait for storage
        bool ends = false;
    } heard_;
    std::condition_variable wake_;  // for the thread: a batch waits, or the end
    sys::Thread looker_;
};

}  // namespace forebay::agent
