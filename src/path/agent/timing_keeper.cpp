#include "path/agent/timing_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/format/node_file.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/mapping.hpp"
#include "path/telemetry/why.hpp"

namespace forebay::agent {

namespace {

using format::TimingBatch;
using format::TimingKind;

constexpr std::size_t loose_max = 1024;  // analyses between two batches
// The pause between two looks for records of late ranks, while a batch waits; and the most batches that wait.
constexpr std::chrono::milliseconds late_look_pause{50};
constexpr std::size_t late_batches_max = 64;
// The most writes of a drain that are kept. A batch in the file holds about 2700 timings in all.
constexpr std::size_t writes_kept_max = 16384;
// For the rate of a target only writes of at least a quarter of a block count.
constexpr std::uint64_t small_write_divisor = 4;

// For all nodes together, with old files, for any length of the run. A node has room for two batches.
constexpr std::uint64_t timings_bytes_max = 4ull << 30;
constexpr std::uint64_t timings_node_bytes_min = 2 * format::timing_batch_bytes_max;

std::int64_t ns_of(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }

std::optional<node::TimingRings> rings_in(const std::string& directory) {
    auto rings = node::TimingRings::open(directory, true);
    if (!rings) return {};  // a session without timings
    return std::move(*rings);
}

}  // namespace

TimingKeeper::TimingKeeper(std::shared_ptr<sys::Store> store, node::Staging& staging, NodeFileOfRun file,
                           std::string agent, std::uint64_t block_bytes, Tell tell, Placement* placement)
    : staging_(staging),
      block_bytes_(block_bytes),
      file_(std::move(file)),
      agent_(std::move(agent)),
      tell_(std::move(tell)),
      placement_(placement),
      unix_less_steady_ns_(node::unix_less_steady_ns()),
      began_unix_ns_(now_unix_ns()),
      rings_(rings_in(staging.directory())),
      writer_(std::move(store), file_, tell_) {
    if (rings_) heard_.seen.resize(rings_->ranks());
    if (rings_) heard_.unkept = rings_->reported();
    heard_.step_before.fill(-1);
    // Without the thread a late record is looked for at the next event.
    auto started = sys::Thread::start([this] { static_cast<void>(attempt([this] { keep_looking(); })); });
    if (started) looker_ = std::move(*started);
}

void TimingKeeper::finish() {
    std::vector<Event> events;
    {
        const std::lock_guard lock(alone_);
        write_complete(true);
        events = std::exchange(heard_.events, {});
        heard_.ends = true;
    }
    wake_.notify_all();
    looker_.join();
    for (const auto& event : events) tell_(event);
    writer_.finish();
}

void TimingKeeper::keep_looking() {
    std::unique_lock lock(alone_);
    while (!heard_.ends) {
        if (heard_.waiting.empty()) wake_.wait(lock);
        else wake_.wait_for(lock, late_look_pause);
        write_complete(false);
    }
}

std::uint32_t TimingKeeper::nodes() {
    const std::lock_guard lock(alone_);
    return heard_.nodes;
}

std::int64_t TimingKeeper::now_unix_ns() const { return node::steady_ns(sys::Clock::now()) + unix_less_steady_ns_; }

std::optional<TimingKeeper::Open>& TimingKeeper::of(std::uint32_t slot) { return heard_.drained[slot]; }

void TimingKeeper::hear(const Event& event) {
    std::vector<Event> events;
    {
        const std::lock_guard lock(alone_);
        if (event.what == What::analysed && heard_.loose.size() < loose_max) {
            const auto start = now_unix_ns() - ns_of(event.seconds);
            heard_.loose.push_back(node::timing_of(
                TimingKind::analysis, start, std::chrono::nanoseconds(ns_of(event.seconds)), 0, format::agent_source));
        }
        if (event.slot >= node::slots_max) return;
        auto& drained = of(event.slot);
        switch (event.what) {
            case What::begun: begin(event.slot); break;
            case What::drained: end_drain(event); break;
            case What::retried:
                if (heard_.draining.empty()) break;
                ++heard_.draining.back().batch.retries;
                heard_.draining.back().batch.retry_seconds += event.seconds;
                add(heard_.draining.back(), TimingKind::retry, now_unix_ns() - ns_of(event.seconds), event.seconds);
                break;
            case What::failed:
                if (!heard_.draining.empty() && heard_.draining.back().slot == event.slot) {
                    drained = std::move(heard_.draining.back());
                    heard_.draining.pop_back();
                }
                if (drained) end(*drained, "failed");
                if (drained) wait_for_ranks(*std::exchange(drained, {}));
                break;
            case What::superseded:
            case What::set_aside:
            case What::incomplete:
                if (drained) drained->batch.outcome = name_of(event.what);
                break;
            case What::committed:
            case What::found_committed:
                if (drained) end(*drained, name_of(event.what));
                break;
            case What::viewed:
            case What::not_viewed:
                if (drained) add(*drained, TimingKind::view, now_unix_ns() - ns_of(event.seconds), event.seconds);
                break;
            case What::settled:
                if (drained && event.seconds > 0)
                    add(*drained, TimingKind::retention, now_unix_ns() - ns_of(event.seconds), event.seconds);
                if (drained) wait_for_ranks(*std::exchange(drained, {}));
                break;
            default: break;
        }
        write_complete(false);
        events = std::exchange(heard_.events, {});
    }
    // Without the lock: a sink may wait for storage.
    for (const auto& next : events) tell_(next);
}

void TimingKeeper::begin(std::uint32_t slot) {
    take_rank_timings();  // with saves that replace each other the ring may overflow during the drain
    Open open{.slot = slot, .batch = {}, .places = {}};
    open.cpu_seconds_before = staging_.control().counts.drain_cpu_seconds.load();
    open.stored_before = staging_.control().counts.bytes_stored.load();
    open.batch.drain_unix_ns = now_unix_ns();
    heard_.draining.push_back(std::move(open));
}

void TimingKeeper::add(Open& open, TimingKind kind, std::int64_t start_unix_ns, double seconds, std::uint64_t bytes) {
    open.batch.timings.push_back(
        node::timing_of(kind, start_unix_ns, std::chrono::nanoseconds(ns_of(seconds)), bytes, format::agent_source));
}

void TimingKeeper::end_drain(const Event& event) {
    if (heard_.draining.empty() || heard_.draining.back().slot != event.slot) return;
    auto open = std::move(heard_.draining.back());
    heard_.draining.pop_back();
    auto& batch = open.batch;
    const auto cpu = staging_.control().counts.drain_cpu_seconds.load() - open.cpu_seconds_before;
    batch.drain_cpu_seconds = std::max(0.0, cpu - open.overtaken_cpu_seconds);
    const auto stored = staging_.control().counts.bytes_stored.load() - open.stored_before;
    if (!heard_.draining.empty()) {
        // The overtaken drain leaves out the CPU time and the bytes of this drain.
        heard_.draining.back().overtaken_cpu_seconds += cpu;
        heard_.draining.back().overtaken_stored += stored;
    }
    batch.drained_unix_ns = now_unix_ns();
    open.drained_at = sys::Clock::now();
    batch.drain_seconds = event.seconds;
    add(open, TimingKind::drain, batch.drain_unix_ns, event.seconds, event.bytes);
    fill(open);
    batch.stored_bytes = stored - open.overtaken_stored;
    if (placement_ != nullptr) placement_->learn(batch);
    of(event.slot) = std::move(open);
}

// Takes the facts from the seal and the page.
void TimingKeeper::fill(Open& open) {
    auto& batch = open.batch;
    const auto slot = open.slot;
    const auto& page = staging_.control();
    batch.host = file_.host;
    batch.virtual_node = file_.virtual_node;
    batch.agent = agent_;
    batch.agent_began_unix_ns = began_unix_ns_;
    batch.stream = page.streams[page.slots[slot].stream].name.data();
    batch.node_ranks = rings_ ? rings_->ranks() : 0;
    open.ranks_expected = page.slots[slot].inherited.load() == 0 ? batch.node_ranks : 0;
    open.save.slot = slot;
    for (std::uint32_t i = 0; i < page.slot_count.load(); ++i)
        if (page.slots[i].stream == page.slots[slot].stream) ++batch.slots;
    batch.slowdown_percent = page.counts.slowdown_percent.load();
    batch.slowdown_low_percent = page.slowdown_low_percent.load();
    batch.slowdown_high_percent = page.slowdown_high_percent.load();
    // One step of a kind says nothing about the scatter of steps.
    if (batch.slowdown_low_percent < batch.slowdown_high_percent)
        batch.slowdown_steps = page.counts.steps_counted.load();
    const auto of_agent = page.counts.drain_rate_bytes_per_second.load();
    const auto of_stream = page.streams[page.slots[slot].stream].rate_bytes_per_second.load();
    batch.rate_limit_bytes_per_second =
        of_agent == 0 || of_stream == 0 ? std::max(of_agent, of_stream) : std::min(of_agent, of_stream);
    batch.step = page.slots[slot].step.load();
    batch.snapshot_id = page.slots[slot].snapshot_id.load();
    batch.sealed_unix_ns = page.slots[slot].sealed_unix_ns.load();
    batch.bytes = page.slots[slot].drained_bytes.load();
    const auto mapping = sys::Mapping::open(staging_.slot_path(slot), false);
    if (!mapping) return;
    const auto peeked = format::peek(mapping->bytes(), staging_.slot_path(slot));
    // A save may have taken the slot meanwhile.
    if (!peeked || peeked->record.snapshot_id != batch.snapshot_id) return;
    batch.node = peeked->record.node;
    batch.nodes = peeked->record.nodes;
    batch.ranks = peeked->record.world_ranks;
    batch.session = peeked->record.lineage.line().session;
    open.save.number = peeked->record.lineage.save;
    constexpr std::array forms{"own", "combined", "shared"};
    batch.file = forms[static_cast<std::size_t>(format::kind_of(peeked->record.form))];
}

void TimingKeeper::take_rank_timings() {
    if (!rings_) return;
    std::vector<node::RankTiming> taken;
    for (std::uint32_t rank = 0; rank < rings_->ranks(); ++rank)
        rings_->take(rank, heard_.seen[rank], heard_.missed, taken);
    for (const auto& record : taken) heard_.records.add(record);
}

// All ranks count the same saves, but not at the same moment: the largest count is right.
node::TimingRings::Unkept TimingKeeper::unkept_now() const {
    node::TimingRings::Unkept now;
    for (std::uint32_t rank = 0; rings_ && rank < rings_->ranks(); ++rank) {
        const auto own = rings_->unkept(rank);
        now = {std::max(now.count, own.count), std::max(now.ns, own.ns)};
    }
    return now;
}

void TimingKeeper::count_unkept(TimingBatch& batch) {
    const auto now = unkept_now();
    const auto before = std::exchange(heard_.unkept, now);
    if (rings_) rings_->set_reported(now);
    batch.unkept_saves = now.count - before.count;
    batch.unkept_seconds = static_cast<double>(now.ns - before.ns) * 1e-9;
}

void TimingKeeper::end(Open& open, const std::string& outcome) {
    auto& batch = open.batch;
    if (batch.stream.empty()) fill(open);  // its drain failed
    if (batch.outcome.empty()) batch.outcome = outcome;
    batch.ended_unix_ns = now_unix_ns();
    if (batch.drained_unix_ns > 0) {
        batch.commit_seconds = std::chrono::duration<double>(sys::Clock::now() - open.drained_at).count();
        add(open, TimingKind::commit, batch.drained_unix_ns, batch.commit_seconds);
    }
}

void TimingKeeper::wait_for_ranks(Open open) {
    open.waits_until = sys::Clock::now() + rank_wait_max;
    heard_.waiting.push_back(std::move(open));
    wake_.notify_all();
}

// Batches are written in their order, because each has the interval since the save before.
void TimingKeeper::write_complete(bool all) {
    if (!heard_.waiting.empty()) take_rank_timings();
    while (!heard_.waiting.empty()) {
        auto& open = heard_.waiting.front();
        const bool is_whole = open.save.number == 0 || heard_.records.ranks_of(open.save) >= open.ranks_expected;
        if (!all && !is_whole && sys::Clock::now() < open.waits_until && heard_.waiting.size() <= late_batches_max)
            break;
        complete(open);
        write(std::move(open));
        heard_.waiting.pop_front();
    }
}

void TimingKeeper::complete(Open& open) {
    auto& batch = open.batch;
    if (open.ranks_expected > 0) {
        batch.missing_ranks = open.ranks_expected - std::min(heard_.records.ranks_of(open.save), open.ranks_expected);
        heard_.records.fill(open.save, batch);
        // A failed snapshot is drained again, as the same save.
        if (batch.outcome != "failed") heard_.records.forget(open.save);
    }
    // The seal has the time of the machine's clock. Somebody may have set this clock since the session began.
    if (batch.saved_unix_ns > 0)
        batch.sealed_unix_ns =
            std::clamp(batch.sealed_unix_ns, batch.saved_unix_ns, batch.saved_unix_ns + ns_of(batch.blocked_seconds));
    count_unkept(batch);
    auto& before = heard_.saved_before[batch.stream];
    if (before > 0 && batch.saved_unix_ns > before)
        batch.interval_seconds = static_cast<double>(batch.saved_unix_ns - before) * 1e-9;
    if (batch.saved_unix_ns > 0) before = batch.saved_unix_ns;
    constexpr double waited_min = 0.001;
    if (batch.wait_seconds > waited_min) batch.waited_for_step = heard_.step_before[open.slot];
    if (batch.outcome != "failed") heard_.step_before[open.slot] = batch.step;
    batch.why = explain(open);
    for (auto& timing : heard_.loose) batch.timings.push_back(timing);
    heard_.loose.clear();
    batch.dropped = std::exchange(heard_.missed, 0) + heard_.records.take_dropped();
}

std::vector<std::string> TimingKeeper::explain(Open& open) {
    auto& usual = heard_.usual[open.batch.stream];
    telemetry::Batches before;
    for (const auto& batch : usual) before.push_back(&batch);
    auto why = telemetry::why_slow({&open.batch}, before);
    auto kept = open.batch;
    kept.timings.clear();
    if (usual.size() >= telemetry::usual_batches_max) usual.erase(usual.begin());
    if (kept.drain_seconds > 0) usual.push_back(std::move(kept));
    return why;
}

std::uint16_t TimingKeeper::place_of(Open& open, std::optional<std::uint32_t> target) {
    const auto key = target.value_or(UINT32_MAX);
    const auto [place, is_new] = open.places.try_emplace(key, static_cast<std::uint16_t>(open.batch.targets.size()));
    if (is_new) open.batch.targets.push_back({.name = target ? fmt::format("OST{:04x}", *target) : std::string()});
    return place->second;
}

void TimingKeeper::wrote(const std::vector<Write>& writes, const sys::StripeMap& map) {
    const std::lock_guard lock(alone_);
    if (heard_.draining.empty()) return;  // a manifest, or a measurement
    auto& open = heard_.draining.back();
    for (const auto& write : writes) {
        // A write to several targets takes as long as all of them. A small write takes more than its share. Both count
        // for no target.
        const bool is_large = write.bytes >= block_bytes_ / small_write_divisor;
        const auto place = place_of(open, is_large ? map.target_of(write.offset, write.bytes) : std::nullopt);
        const auto start = node::steady_ns(write.start) + unix_less_steady_ns_;
        auto timing = node::timing_of(TimingKind::write, start, write.took, write.bytes, format::agent_source);
        timing.target = place;
        if (write.failed) timing.flags |= format::timing_failed;
        auto& target = open.batch.targets[place];
        const auto end = start + std::chrono::duration_cast<std::chrono::nanoseconds>(write.took).count();
        if (target.writes++ == 0 || start < target.first_unix_ns) target.first_unix_ns = start;
        target.last_unix_ns = std::max(target.last_unix_ns, end);
        target.bytes += write.bytes;
        target.busy_seconds += std::chrono::duration<double>(write.took).count();
        if (open.batch.timings.size() < writes_kept_max) open.batch.timings.push_back(timing);
        else ++heard_.missed;
    }
}

void TimingKeeper::synced(sys::Clock::time_point start, sys::Clock::duration took, bool failed) {
    const std::lock_guard lock(alone_);
    if (heard_.draining.empty()) return;
    auto& open = heard_.draining.back();
    open.batch.sync_seconds += std::chrono::duration<double>(took).count();
    auto timing =
        node::timing_of(TimingKind::sync, node::steady_ns(start) + unix_less_steady_ns_, took, 0, format::agent_source);
    if (failed) timing.flags |= format::timing_failed;
    open.batch.timings.push_back(timing);
}

void TimingKeeper::write(Open open) {
    for (const auto& sentence : open.batch.why)
        heard_.events.push_back(
            {.what = What::slow, .stream = open.batch.stream, .step = open.batch.step, .detail = sentence});
    heard_.nodes = std::max(open.batch.nodes, 1u);
    // Divided by 2: beside the file there is the old file of the node.
    const auto bytes_max =
        std::clamp(timings_bytes_max / 2 / heard_.nodes, timings_node_bytes_min, node_file_bytes_max);
    const auto bytes = format::encode(std::move(open.batch));
    writer_.put(std::string(forebay::text_of(bytes)), bytes_max);
}

}  // namespace forebay::agent
