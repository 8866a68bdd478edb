// One save of a stream, on each rank: begin() and finish(). begin() checks the description with all ranks, gathers the
// rows of the node, and gets a slot: the node's first rank waits for one and lays it out if it must (admit), the others
// learn its decision from the control page (follow). Then all ranks agree, so that either every node saves this step or
// none does. finish() copies this rank's data into the slot; when all ranks of the node have done so, its first rank
// seals it and rings the agent.
//
// Between begin() and finish() the application may write blocks itself. abandon() gives the slot back whatever was
// written. After the agreement nothing can fail but the plan of a shared file: ranks that had gone on would have sealed
// their part.

#include "stage/stager.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/try.hpp"
#include "node/await.hpp"
#include "node/step_clock.hpp"
#include "sys/clock.hpp"

namespace forebay::stage {

namespace {

constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min();

double seconds_since(sys::Clock::time_point start) {
    return std::chrono::duration<double>(sys::Clock::now() - start).count();
}

// A number that differs between any two saves of any sessions (the mixing step of splitmix64).
std::uint64_t snapshot_id(std::uint64_t session, std::uint64_t save) {
    std::uint64_t x = session + 0x9E3779B97F4A7C15ull * (save + 1);
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

}  // namespace

Stager::Stager(StagerContext context, std::string stream, const StreamOptions& options)
    : context_(std::move(context)), stream_(std::move(stream)), options_(options) {}

Result<> Stager::add() {
    auto& node = *context_.topology->node;
    FB_TRY(comm::agree(node, [&]() -> Result<> {
        if (!context_.topology->leads()) return {};
        FB_TRY_ASSIGN(index, context_.staging->add_stream(stream_, options_));
        stream_index_ = index;
        return {};
    }));
    node.broadcast(std::as_writable_bytes(std::span(&stream_index_, 1)), 0);
    FB_TRY(comm::agree(node, [&] {
        for (const auto index : context_.staging->slots_of(stream_index_))
            if (context_.staging->control().slots[index].number < static_cast<std::uint32_t>(options_.slots))
                indices_.push_back(index);
        slots_.resize(indices_.size());
        reported_.resize(indices_.size());
        saved_as_.resize(indices_.size());
        decisions_ = stream_control().decisions.load();
    }));
    if (context_.topology->leads() && options_.file.kind == TargetFile::Kind::combined && context_.topology->nodes > 1)
        sharers_ =
            context_.topology->leaders->split(static_cast<int>(context_.topology->node_index) / options_.file.nodes);
    return {};
}

void Stager::gather_rows(const describe::Binding& binding) {
    const auto tables = binding.tables.size();
    const auto ranks = parts_.size();
    if (tables == 0) return;
    for (std::size_t t = 0; t < tables; ++t) own_rows_[t] = binding.tables[t].rows;
    context_.topology->node->gather_all(std::as_bytes(std::span(own_rows_)),
                                        std::as_writable_bytes(std::span(all_rows_)));
    for (std::size_t i = 0; i < ranks; ++i) {
        for (std::size_t t = 0; t < tables; ++t) {
            rows_[t * ranks + i] = all_rows_[i * tables + t];
            parts_[i].rows[t] = all_rows_[i * tables + t];
        }
    }
}

void Stager::count_time() {
    counters_.blocked_seconds += saved_.blocked_seconds;
    counters_.wait_seconds += saved_.wait_seconds;
}

Result<> Stager::lay_out(std::uint32_t own, const Schema& schema) {
    auto& slot = slots_[own];
    const auto path = context_.staging->slot_path(indices_[own]);
    const auto rank = static_cast<std::uint32_t>(context_.topology->world->rank());
    FB_TRY(slot.plan(schema, parts_, {.alignment_bytes = context_.alignment_bytes}, rank, version_));
    FB_TRY(context_.topology->leads() ? slot.create(path) : slot.open(path));
    return slot.prefault();
}

Result<Stager::Outcome> Stager::admit(const Schema& schema) {
    const auto waiting = sys::Clock::now();
    auto outcome = attempt([&] { return acquire(); });
    const std::chrono::nanoseconds waited = sys::Clock::now() - waiting;
    saved_.wait_seconds = std::chrono::duration<double>(waited).count();
    if (outcome && *outcome == Outcome::admitted) {
        auto& slot = slots_[current_];
        const auto start = sys::Clock::now();
        // change_rows refuses a table that outgrew its capacity; then the slot is laid out anew, for this node alone.
        if (!slot.fits(version_) || !slot.change_rows(rows_)) {
            const auto laid = attempt([&] { return lay_out(static_cast<std::uint32_t>(current_), schema); });
            if (!laid) outcome = laid.error();
        }
        if (outcome) slot.invalidate();
        saved_.plan_seconds += seconds_since(start);
    }
    auto& shared = stream_control();
    shared.outcome = static_cast<std::uint32_t>(outcome ? *outcome : Outcome::failed);
    shared.slot = static_cast<std::uint32_t>(current_);
    shared.wait_ns = static_cast<std::uint64_t>(waited.count());
    node::ring(shared.decisions);
    ++decisions_;
    return outcome;
}

Result<> Stager::follow(Outcome& outcome) {
    auto& shared = stream_control();
    while (shared.decisions.load(std::memory_order_acquire) == decisions_) {
        sys::wait_on(shared.decisions, decisions_, liveness_pause);
        if (shared.decisions.load() == decisions_ && !context_.staging->application_lives())
            return Error{ErrorKind::broken, fmt::format("stream '{}': the first rank of this node has ended", stream_),
                         fmt::format("committed snapshots and {}", context_.staging->directory())};
    }
    ++decisions_;
    outcome = static_cast<Outcome>(shared.outcome);
    current_ = shared.slot;
    // The node's first rank alone knows what of its time was waiting and what was laying out.
    saved_.wait_seconds = static_cast<double>(shared.wait_ns) * 1e-9;
    return {};
}

void Stager::give_back() {
    if (!std::exchange(holds_slot_, false)) return;
    // An admitted slot was empty or held a committed save. A save that newest_only replaces is whole until all ranks
    // have agreed, so its slot goes back to the agent as sealed.
    control(current_).state.store(
        previous_ == node::SlotState::sealed ? node::SlotState::sealed : node::SlotState::empty,
        std::memory_order_release);
    node::ring(context_.staging->control().bell);
}

void Stager::abandon() {
    under_way_ = 0;
    give_back();
}

Result<> Stager::prepare(const Schema& schema, const describe::Binding& binding, bool changed) {
    FB_TRY(plan_together({.stream = stream_}, schema, binding, changed, Values::not_yet, {}));
    gather_rows(binding);
    const bool leads = context_.topology->leads();
    for (std::uint32_t i = 0; i < indices_.size(); ++i) {
        // Only the node's first rank may judge a slot's state; the others lay out what it has laid out.
        std::int64_t free = 0;
        if (leads && !slots_[i].fits(version_)) {
            if (node::is_free(control(i))) {
                control(i).state.store(node::SlotState::filling);
                free = 1;
            }
        }
        free = context_.topology->node->max(free);
        Result<> laid;
        if (free != 0 && leads) laid = attempt([&] { return lay_out(i, schema); });
        context_.topology->node->barrier();
        if (free != 0 && !leads) laid = attempt([&] { return lay_out(i, schema); });
        const auto all = comm::agree(*context_.topology->world, laid);
        if (free != 0 && leads) control(i).state.store(node::SlotState::empty);
        FB_TRY(all);
    }
    return {};
}

Result<Saved> Stager::begin(std::int64_t step, double time, const Schema& schema, const describe::Binding& binding,
                            bool changed, Values values, const Result<>& mine_before) {
    auto& topology = *context_.topology;
    abandon();
    const auto now = sys::Clock::now();
    interval_ = saves_ == 0 ? std::chrono::nanoseconds(0) : now - began_;
    began_ = now;
    saved_ = {.step = step};
    time_ = time;
    replaced_ = -1;
    FB_TRY(
        plan_together({.stream = stream_, .step = step, .time = time}, schema, binding, changed, values, mine_before));
    gather_rows(binding);
    ++saves_;
    Outcome outcome = Outcome::failed;
    Result<> mine;
    if (topology.leads()) {
        if (auto admitted = admit(schema)) outcome = *admitted;
        else mine = admitted.error();
    } else {
        mine = attempt([&]() -> Result<> {
            FB_TRY(follow(outcome));
            auto& slot = slots_[current_];
            if (outcome == Outcome::admitted && (!slot.fits(version_) || !slot.change_rows(rows_)))
                return lay_out(static_cast<std::uint32_t>(current_), schema);
            return outcome == Outcome::replacing ? slot.change_rows(rows_) : Result<>();
        });
    }
    // The others of a node follow its first rank, so they say nothing about what is replaced.
    const bool leads = topology.leads();
    bool new_share = false;
    if (leads && mine && options_.file.kind == TargetFile::Kind::shared && outcome != Outcome::skipped)
        mine = attempt([&] { new_share = share_has_changed(); });
    std::int64_t flags[] = {mine ? 0 : 1, outcome == Outcome::skipped ? 1 : 0, leads ? replaced_ : nothing,
                            leads ? -replaced_ : nothing, new_share ? 1 : 0};
    topology.world->max(flags);
    // Nodes that would drop different steps, or one and none, would leave halves that can never be committed.
    const bool alike = flags[2] == -flags[3];
    if (flags[0] != 0 || flags[1] != 0 || !alike) {
        give_back();
        saved_.blocked_seconds = seconds_since(began_);
        count_time();  // of a save that is refused or skipped too: it may have waited long for a slot
        if (flags[0] != 0) return comm::agree(*topology.world, mine).error();
        ++counters_.skipped;
        return saved_;
    }
    // Only when the plan of a shared file changes is there anything left to fail.
    if (flags[4] != 0) {
        if (const auto planned = comm::agree(*topology.world, [&] { plan_share(schema); }); !planned) {
            give_back();
            return planned.error();
        }
    }
    saved_.replaced = flags[2];
    if (flags[2] >= 0) ++counters_.replaced;
    if (outcome == Outcome::replacing) {
        if (topology.leads()) slots_[current_].invalidate();
        previous_ = node::SlotState::empty;  // given up, the slot holds nothing that the agent could drain
        topology.node->barrier();
    }
    if (options_.file.kind != TargetFile::Kind::shared) combine_files();
    else if (leads) slots_[current_].share(shared_offsets_);
    saved_.kept = true;
    under_way_ = saves_;
    return saved_;
}

Result<Saved> Stager::finish(const describe::Binding& binding, std::span<const char> direct) {
    auto& slot = slots_[current_];
    under_way_ = 0;
    const auto copying = sys::Clock::now();
    slot.put(binding, direct);
    saved_.copy_seconds = seconds_since(copying);
    saved_.bytes = slot.own_bytes();
    saved_as_[current_] = saves_;
    context_.topology->node->barrier();
    if (context_.topology->leads()) {
        const auto sealing = sys::Clock::now();
        const auto id = snapshot_id(context_.session_id, saves_);
        const format::Record record{.snapshot_id = id,
                                    .step = saved_.step,
                                    .time = time_,
                                    .sealed_unix_ns = sys::unix_ns(),
                                    .node = context_.topology->node_index,
                                    .nodes = context_.topology->nodes,
                                    .world_ranks = static_cast<std::uint32_t>(context_.topology->world->size()),
                                    .form = form_,
                                    .lineage = {context_.run_id, saves_, std::move(lines_)}};
        slot.seal(record);
        auto& shared = control(current_);
        shared.step = saved_.step;
        shared.snapshot_id = id;
        shared.inherited = 0;
        shared.late = 0;
        shared.given_up = 0;
        shared.sealed_unix_ns = record.sealed_unix_ns;
        // This slot is needed again after as many saves as the stream has slots. Saves begin interval_ apart, so with
        // 2 slots and a save every 10 s that is 20 s after this save began, and not after it was sealed.
        const std::chrono::nanoseconds saving = sys::Clock::now() - began_;
        shared.needed_unix_ns =
            interval_.count() == 0 ? 0 : record.sealed_unix_ns + (interval_ * options_.slots - saving).count();
        shared.state.store(node::SlotState::sealed, std::memory_order_release);
        holds_slot_ = false;
        node::ring(context_.staging->control().bell);
        saved_.plan_seconds += seconds_since(sealing);
    }
    saved_.blocked_seconds = seconds_since(began_);
    ++counters_.saves;
    counters_.bytes_saved += saved_.bytes;
    count_time();
    return saved_;
}

Result<> Stager::wait_committed(std::chrono::milliseconds at_most) {
    const auto waited = node::await_commits(*context_.topology->world, *context_.staging, indices_, at_most,
                                            context_.host, context_.say);
    for (std::size_t i = 0; i < indices_.size(); ++i) reported_[i] = control(i).failures.load();
    return waited;
}

std::uint64_t Stager::deadlines_missed() const { return stream_control().deadlines_missed.load(); }

std::int64_t Stager::newest_durable_step() const { return stream_control().newest_durable_step.load(); }

}  // namespace forebay::stage
