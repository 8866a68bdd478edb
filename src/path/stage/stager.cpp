// One save of a stream on each rank: begin() and finish(). begin() checks the description with all ranks, gathers the
// rows of the node, and gets a slot. The node's first rank waits for a slot and lays it out if needed (admit). The
// node's other ranks read its decision from the control page (follow). Then all ranks agree (acquire_together): either
// every node saves this step or none does. finish() copies this rank's data into the slot. When all ranks of the node
// are done, the first rank seals the slot and rings the agent.
//
// Between begin() and finish() the application may write blocks itself. abandon() gives the slot back in any state.
// After the agreement only the plan of a shared file can fail: if anything else could, ranks that went on would seal
// their parts.

#include "path/stage/stager.hpp"

#include <utility>

#include "core/base/splitmix.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "path/node/await.hpp"

namespace forebay::stage {

namespace {

double seconds_since(sys::Clock::time_point start) {
    return std::chrono::duration<double>(sys::Clock::now() - start).count();
}

}  // namespace

Stager::Stager(StagerContext context, std::string stream, const StreamOptions& options)
    : context_(std::move(context)),
      stream_(std::move(stream)),
      options_(options),
      slots_(*context_.staging),
      description_(*context_.topology, clock_) {}

Result<> Stager::add() {
    auto& node = *context_.topology->node;
    // Before anything that may fail on only one node: the first ranks of the other nodes would wait for it.
    description_.share_files(options_.file, context_.block_bytes);
    std::uint32_t index = 0;
    FB_TRY(comm::agree(node, [&]() -> Result<> {
        if (!context_.topology->leads()) return {};
        FB_TRY_ASSIGN(added, context_.staging->add_stream(stream_, options_));
        index = added;
        return {};
    }));
    node.broadcast(std::as_writable_bytes(std::span(&index, 1)), 0);
    FB_TRY(comm::agree(node, [&] { slots_.find(index, static_cast<std::uint32_t>(options_.slots)); }));
    return {};
}

Counters Stager::counters() const {
    auto all = counters_;
    describe::put_counters(slots_.stream_control().counts, all);
    return all;
}

// Ends a save with any result. The time since the last lap was spent waiting for other ranks.
void Stager::count_time() {
    clock_.lap(format::TimingKind::agree);
    saved_.blocked_seconds = std::chrono::duration<double>(clock_.total()).count();
    counters_.blocked_seconds += saved_.blocked_seconds;
    counters_.wait_seconds += saved_.wait_seconds;
    if (context_.timings != nullptr) put_timings();
}

// The whole save comes last, so a reader that sees it has all its parts.
void Stager::put_timings() {
    auto& timings = *context_.timings;
    const auto rank = static_cast<std::uint32_t>(context_.topology->node->rank());
    if (!saved_.kept) return timings.count_unkept(rank, clock_.total());
    const auto index = slots_.current_index();
    if (blocked_.size() <= index) blocked_.resize(slots_.count());
    if (saved_.replaced >= 0) timings.count_unkept(rank, blocked_[index]);
    blocked_[index] = clock_.total();
    const node::TimingRings::Of of{saves_, static_cast<std::uint16_t>(slots_.indices()[index])};
    const auto put = [&](format::TimingKind kind, std::chrono::microseconds start, std::chrono::microseconds took) {
        const bool moves = kind == format::TimingKind::copy || kind == format::TimingKind::save;
        timings.put(rank, of, kind, clock_.began() + start, took, moves ? saved_.bytes : 0);
    };
    for (const auto& piece : clock_.pieces()) put(piece.kind, piece.start, piece.length());
    put(format::TimingKind::save, std::chrono::microseconds(0), clock_.total());
}

Result<> Stager::lay_out(std::size_t i, const Schema& schema) {
    return description_.lay_out(slots_[i], slots_.path(i), schema, context_.alignment_bytes);
}

// change_rows() refuses a table that outgrew its capacity. Then only this node lays the slot out again.
Result<> Stager::fit_current(const Schema& schema) {
    auto& slot = slots_.current();
    if (slot.fits(description_.version()) && slot.change_rows(description_.rows())) return {};
    return lay_out(slots_.current_index(), schema);
}

void Stager::abandon() {
    under_way_ = 0;
    slots_.give_back();
}

Result<> Stager::prepare(const Schema& schema, const describe::Binding& binding, bool changed) {
    FB_TRY(description_.agree({.stream = stream_}, schema, binding, changed, Values::not_yet, {}));
    description_.gather_rows(binding);
    const bool leads = context_.topology->leads();
    for (std::size_t i = 0; i < slots_.count(); ++i) {
        // Only the node's first rank may judge a slot's state. The other ranks lay out the same slots.
        std::int64_t free = 0;
        if (leads && !slots_[i].fits(description_.version()) && node::is_free(slots_.control(i))) {
            slots_.control(i).state.store(node::SlotState::filling);
            node::take_leases(context_.staging->control(), slots_.control(i));
            free = 1;
        }
        free = context_.topology->node->max(free);
        Result<> laid;
        if (free != 0 && leads) laid = attempt([&] { return lay_out(i, schema); });
        context_.topology->node->barrier();
        if (free != 0 && !leads) laid = attempt([&] { return lay_out(i, schema); });
        const auto all = comm::agree(*context_.topology->world, laid);
        if (free != 0 && leads) slots_.control(i).state.store(node::SlotState::empty);
        FB_TRY(all);
    }
    return {};
}

Result<Saved> Stager::begin(std::int64_t step, double time, const Schema& schema, const describe::Binding& binding,
                            bool changed, Values values, const Result<>& own_result) {
    auto& topology = *context_.topology;
    abandon();
    const auto now = sys::Clock::now();
    interval_ = saves_ == 0 ? std::chrono::nanoseconds(0) : now - clock_.began();
    clock_.restart(now);
    saved_ = {.step = step};
    FB_TRY(description_.agree({.stream = stream_, .step = step, .time = time}, schema, binding, changed, values,
                              own_result));
    description_.gather_rows(binding);
    clock_.lap(format::TimingKind::agree);
    ++saves_;
    record_ = {.step = step,
               .time = time,
               .node = topology.node_index,
               .nodes = topology.nodes,
               .world_ranks = static_cast<std::uint32_t>(topology.world->size()),
               .lineage = {context_.run_id, saves_, {}}};
    const auto agreed = acquire_together(schema);
    if (agreed) saved_.kept = agreed->keeps;
    if (!agreed || !agreed->keeps) {
        slots_.give_back();
        count_time();  // also for a refused or skipped save: it may have waited long for a slot
        if (!agreed) return agreed.error();
        ++counters_.skipped;
        return saved_;
    }
    // Only a new plan of a shared file can still fail.
    if (agreed->must_plan) {
        const auto planned = comm::agree(*topology.world, [&] {
            if (auto* places = description_.places()) places->plan(schema);
        });
        clock_.lap(format::TimingKind::plan);
        if (!planned) {
            slots_.give_back();
            saved_.kept = false;
            count_time();
            return planned.error();
        }
    }
    saved_.replaced = agreed->replaced;
    if (agreed->replaced >= 0) ++counters_.replaced;
    if (agreed->own == Outcome::replacing) {
        // All ranks have agreed, so the waiting save may be lost now.
        if (topology.leads()) slots_.replace();
        topology.node->barrier();
        clock_.lap(format::TimingKind::agree);
    }
    if (auto* places = description_.places()) {
        places->place(slots_.current());
        clock_.lap(format::TimingKind::plan);
    }
    under_way_ = saves_;
    return saved_;
}

Result<Saved> Stager::finish(const describe::Binding& binding, std::span<const char> direct, sys::Crew& crew) {
    auto& slot = slots_.current();
    under_way_ = 0;
    const auto copying = sys::Clock::now();
    counters_.copy_threads = slot.put(binding, direct, crew);
    saved_.copy_seconds = seconds_since(copying);
    saved_.bytes = slot.own_bytes();
    clock_.lap(format::TimingKind::copy);
    context_.topology->node->barrier();
    clock_.lap(format::TimingKind::agree);
    if (context_.topology->leads()) {
        // The seal comes after the copies of all ranks of the node.
        const auto sealing = sys::Clock::now();
        record_.snapshot_id = splitmix(context_.session_id, saves_);
        record_.sealed_unix_ns = sys::unix_ns();
        if (const auto* places = description_.places()) record_.form = places->form();
        slot.seal(record_);
        // The stream needs this slot again after as many saves as it has slots. Saves begin interval_ apart: with 2
        // slots and a save every 10 s, that is 20 s after the begin of this save, not after its seal.
        const std::chrono::nanoseconds saving = sys::Clock::now() - clock_.began();
        const auto needed_unix_ns =
            interval_.count() == 0 ? 0 : record_.sealed_unix_ns + (interval_ * options_.slots - saving).count();
        slots_.hand_over(record_, needed_unix_ns);
        saved_.plan_seconds += seconds_since(sealing);
        clock_.lap(format::TimingKind::plan);
    }
    ++counters_.saves;
    counters_.bytes_saved += saved_.bytes;
    count_time();
    return saved_;
}

Result<> Stager::wait_committed(std::chrono::milliseconds at_most) {
    const auto waited = node::await_commits(*context_.topology->world, *context_.staging, slots_.indices(), at_most,
                                            context_.host, context_.say);
    slots_.forget_failures();
    return waited;
}

}  // namespace forebay::stage
