// What an agent keeps of how its node's saves and drains went: it hears the agent's events and the store's writes,
// takes the ranks' timings from their rings, and makes one batch a snapshot of them, which TimingWriter appends to the
// run (docs/formats/timings.md). It says why a snapshot was slow, as the event `slow`.
//
// A batch is complete when the agent has nothing more to do for the snapshot but by analyses, and when all ranks of the
// node have timed their save. The second may come after the first: a rank that the machine does not let run writes its
// record late. A batch waits for such a rank for rank_wait_max, on a thread of its own; after that the rank counts as
// missing in it. Analyses of the last batch come with the next one. Nothing of a drain depends on a batch: what cannot
// be written is lost, and told once.
// Threads: any; `tell` is called without a lock held.

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

/// How long a batch waits for the record of a rank. A rank that a crowded machine keeps from running gets its turn in
/// much less; a rank that has died, or is stopped, never writes its record.
inline constexpr std::chrono::seconds rank_wait_max{10};

class TimingKeeper final : public TimingSink {
public:
    /// `placement` learns of each drain; it may be null. It, `store` and `staging` must outlive this. `agent` is
    /// TimingBatch::agent, `block_bytes` AgentOptions::block_bytes.
    TimingKeeper(std::shared_ptr<sys::Store> store, node::Staging& staging, NodeFileOfRun file, std::string agent,
                 std::uint64_t block_bytes, Tell tell, Placement* placement = nullptr);
    TimingKeeper(const TimingKeeper&) = delete;
    TimingKeeper& operator=(const TimingKeeper&) = delete;
    /// As finish().
    ~TimingKeeper() override { finish(); }

    void hear(const Event& event);
    /// Of the newest snapshot; 0: there was none.
    std::uint32_t nodes();
    /// Writes all batches, with the records that are there; then TimingWriter::finish().
    void finish();
    void wrote(const std::vector<Write>& writes, const sys::StripeMap& map) override;
    void synced(sys::Clock::time_point start, sys::Clock::duration took, bool failed) override;

private:
    /// A snapshot between the begin of its drain and its last word.
    struct Open {
        std::uint32_t slot = 0;
        format::TimingBatch batch;
        std::map<std::uint32_t, std::uint16_t> places;  // of OSTs among its targets
        double cpu_seconds_before = 0;                  // of all drains, when it began
        double overtaken_cpu_seconds = 0;
        sys::Clock::time_point drained_at;
        std::uint64_t stored_before = 0, overtaken_stored = 0;  // likewise, bytes
        RankRecords::Save save;
        std::uint32_t ranks_expected = 0;         // 0: an earlier session has saved it, and its records are gone
        sys::Clock::time_point waits_until = {};  // for these
    };

    /// The clock of the machine as the session began, and the monotonic one since: nobody sets it.
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
    const std::int64_t unix_less_steady_ns_;
    std::optional<node::TimingRings> rings_;
    TimingWriter writer_;
    std::mutex alone_;
    struct Heard {                   // guarded by `alone_`
        std::vector<Open> draining;  // the last one moves bytes, those before it are overtaken
        std::array<std::optional<Open>, node::slots_max> drained;
        std::deque<Open> waiting;          // in the order in which they are written
        std::vector<std::uint64_t> seen;   // of each rank's ring
        node::TimingRings::Unkept unkept;  // that batches have told
        std::uint64_t missed = 0;
        RankRecords records;
        std::vector<format::Timing> loose;  // of no slot: analyses
        std::array<std::int64_t, node::slots_max> step_before{};
        std::map<std::string, std::int64_t> saved_before;
        std::map<std::string, std::vector<format::TimingBatch>> usual;  // of a stream, without their timings
        std::uint32_t nodes = 0;
        std::vector<Event> events;  // at the next event, or at the end: whom it is told may wait for storage
        bool ends = false;
    } heard_;
    std::condition_variable wake_;  // of the thread: a batch waits, or the end
    sys::Thread looker_;
};

}  // namespace forebay::agent
