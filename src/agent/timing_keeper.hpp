// What an agent keeps of how its node's saves and drains went: it hears the agent's events and the store's writes,
// takes the ranks' timings from their rings, and makes one batch a snapshot of them, which TimingWriter appends to the
// run (docs/formats/timings.md). It
// says why a snapshot was slow, as the event `slow`.
//
// A batch is written when the agent has nothing more to do for the snapshot but by analyses; those of the last batch
// come with the next one. Nothing of a drain depends on it: what cannot be written is lost, and told once.
// Threads: any; `tell` is called without a lock held.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/event_sinks.hpp"
#include "agent/events.hpp"
#include "agent/placement.hpp"
#include "agent/timed_store.hpp"
#include "agent/timing_writer.hpp"
#include "format/timing.hpp"
#include "node/staging.hpp"
#include "node/timing_ring.hpp"

namespace forebay::agent {

class TimingKeeper final : public TimingSink {
public:
    /// `placement` learns of each drain; it may be null. It, `store` and `staging` must outlive this. `agent` is
    /// TimingBatch::agent, `block_bytes` AgentOptions::block_bytes.
    TimingKeeper(std::shared_ptr<sys::Store> store, node::Staging& staging, NodeFileOfRun file, std::string agent,
                 std::uint64_t block_bytes, Tell tell, Placement* placement = nullptr);

    void hear(const Event& event);
    /// Of the newest snapshot; 0: there was none.
    std::uint32_t nodes();
    /// TimingWriter::finish().
    void finish() { writer_.finish(); }
    void wrote(const std::vector<Write>& writes, const sys::StripeMap& map) override;
    void synced(sys::Clock::time_point start, sys::Clock::duration took, bool failed) override;

private:
    /// A snapshot between the begin of its drain and its last word.
    struct Open {
        std::uint32_t slot = 0;
        format::TimingBatch batch;
        std::map<std::uint32_t, std::uint16_t> places;  // of OSTs among its targets
        std::uint64_t cpu_ns_before = 0;                // of all drains, when it began
        double overtaken_cpu_seconds = 0;
        sys::Clock::time_point drained_at;
        std::uint64_t stored_before = 0, overtaken_stored = 0;  // likewise, bytes
    };

    /// The clock of the machine as the session began, and the monotonic one since: nobody sets it.
    std::int64_t now_unix_ns() const;
    void begin(std::uint32_t slot);
    void add(Open& open, format::TimingKind kind, std::int64_t start_unix_ns, double seconds, std::uint64_t bytes = 0);
    void end_drain(const Event& event);
    void end(Open& open, const std::string& outcome);
    std::vector<std::string> explain(Open& open);
    void take_rank_timings();
    void take_saves(Open& open, const std::string& outcome);
    void count_unkept(format::TimingBatch& batch);
    void fill(format::TimingBatch& batch, std::uint32_t slot);
    std::optional<Open>& of(std::uint32_t slot);
    std::uint16_t place_of(Open& open, std::optional<std::uint32_t> target);
    void write(Open open, std::vector<Event>& told);

    node::Staging& staging_;
    const std::uint64_t block_bytes_;
    const NodeFileOfRun file_;
    const std::string agent_;
    const Tell tell_;
    Placement* const placement_;
    const std::int64_t unix_less_steady_ns_;
    const std::optional<node::TimingRings> rings_;
    TimingWriter writer_;
    std::mutex alone_;
    struct Heard {                   // guarded by `alone_`
        std::vector<Open> draining;  // the last one moves bytes, those before it are overtaken
        std::array<std::optional<Open>, node::slots_max> drained;
        std::vector<std::uint64_t> seen;                      // of each rank's ring
        std::vector<node::TimingRings::Skips> skips, unkept;  // of each rank: told in batches; what the next one tells
        std::uint64_t missed = 0;
        std::array<std::vector<format::Timing>, node::slots_max> saves;
        std::vector<format::Timing> loose;  // of no slot: analyses
        std::array<std::int64_t, node::slots_max> step_before{};
        std::map<std::string, std::int64_t> saved_before;
        std::map<std::string, std::vector<format::TimingBatch>> usual;  // of a stream, without their timings
        std::uint32_t nodes = 0;
    } heard_;
};

}  // namespace forebay::agent
