#include "agent/agent.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "agent/between.hpp"
#include "base/attempt.hpp"
#include "base/units.hpp"
#include "catalog/history.hpp"
#include "catalog/run.hpp"
#include "commit/commit.hpp"
#include "commit/publish.hpp"
#include "drain/node_drain.hpp"
#include "move/retry.hpp"

namespace forebay::agent {

namespace {

using node::SlotState;

// An idle agent looks this often whether its application lives: 2 system calls a second.
constexpr std::chrono::milliseconds idle_pause{500};
// How often an agent that is done looks whether the others are: often at first, a snapshot's nodes end together.
constexpr std::chrono::milliseconds peers_pause_min{5}, peers_pause_max{1000};
// Of what there is until the slot is needed: that is guessed from the last saves, and the commit takes its time.
constexpr double share_to_compress = 0.8;

}  // namespace

Agent::Agent(sys::Store& store, node::Staging& staging, node::SessionFile session, ViewMaker make_view, Log log)
    : store_(store),
      staging_(staging),
      page_(staging.control()),
      session_(std::move(session)),
      make_view_(std::move(make_view)),
      log_(std::move(log)),
      pace_(session_.agent.rate_bytes_per_second),
      pacer_(session_.agent.slowdown_percent_max) {
    page_.drain_rate_bytes_per_second = session_.agent.rate_bytes_per_second;
}

void Agent::set(node::SlotControl& slot, SlotState state) {
    slot.state.store(state, std::memory_order_release);
    node::ring(page_.news);
}

// What an agent that was killed had under way is drained again: whatever it has brought to the target is kept.
void Agent::take_over() {
    page_.draining = 0;
    page_.moving = 0;
    for (std::uint32_t i = 0; i < page_.slot_count.load(std::memory_order_acquire); ++i) {
        auto& slot = page_.slots[i];
        const auto state = slot.state.load(std::memory_order_acquire);
        if (state == SlotState::draining || state == SlotState::drained) set(slot, SlotState::sealed);
    }
}

bool Agent::run(const std::atomic<bool>& stop, std::chrono::seconds peers_wait) {
    const auto ran = attempt([&]() -> Result<bool> { return run_until(stop, peers_wait); });
    if (!ran) give_up(ran.error());
    return ran && *ran;
}

// For what is thrown between drains, where there is no slot to blame: whoever saves next is told, instead of waiting
// for an agent that has left.
void Agent::give_up(const Error& error) {
    page_.draining = 0;
    for (std::uint32_t i = 0; i < page_.slot_count.load(); ++i) {
        auto& slot = page_.slots[i];
        auto state = slot.state.load();
        if (state == SlotState::empty || state == SlotState::committed || state == SlotState::filling) continue;
        const auto told = attempt([&] {
            node::set_error(
                slot.error_text,
                because(error,
                        fmt::format("step {} of stream '{}' is NOT committed. {} It is staged in {}.", slot.step.load(),
                                    page_.streams[slot.stream].name.data(), error.what, staging_.slot_path(i))));
        });
        slot.error_kind = static_cast<std::uint32_t>(error.kind);
        if (!told) node::set_error(slot.error_text, error);
        slot.failures.fetch_add(1);
        // newest_only may take a sealed slot back at this very moment.
        if (slot.state.compare_exchange_strong(state, SlotState::failed)) node::ring(page_.news);
    }
}

bool Agent::run_until(const std::atomic<bool>& stop, std::chrono::seconds peers_wait) {
    // A seal rings the bell. Where every CPU has a rank, the agent would else take it from the one that rang.
    if (const auto given = sys::give_way(); !given)
        log_(fmt::format("the agent takes CPUs from ranks: {}", given.error().line()));
    take_over();
    std::chrono::milliseconds pause = peers_pause_min;
    auto last_progress = sys::Clock::now();
    while (!stop.load()) {
        bell_ = page_.bell.load(std::memory_order_acquire);
        take_steps();
        if (work(stop)) {
            pause = peers_pause_min;
            last_progress = sys::Clock::now();
            continue;
        }
        bool waits_for_peers = false;
        for (std::uint32_t i = 0; i < page_.slot_count.load(); ++i)
            waits_for_peers |= page_.slots[i].state.load() == SlotState::drained;
        const bool leaving = page_.ending.load() != 0 || !staging_.application_lives();
        if (leaving && (!waits_for_peers || sys::Clock::now() - last_progress >= peers_wait)) break;
        sys::wait_on(page_.bell, bell_, waits_for_peers ? pause : idle_pause);
        pause = std::min(pause * 2, peers_pause_max);
    }
    const auto waiting = static_cast<std::uint64_t>(
        std::ranges::count_if(std::span(page_.slots).first(page_.slot_count.load()),
                              [](const node::SlotControl& slot) { return slot.state.load() == SlotState::drained; }));
    if (begun_ != ended_ + waiting)
        log_(fmt::format("{} drains were begun, {} ended and {} wait for other nodes: please report it", begun_, ended_,
                         waiting));
    return !unfinished();
}

bool Agent::unfinished() const {
    for (std::uint32_t i = 0; i < page_.slot_count.load(); ++i) {
        const auto state = page_.slots[i].state.load();
        if (state != SlotState::empty && state != SlotState::committed && state != SlotState::filling) return true;
    }
    return false;
}

// One drain, of what is most urgent, and one look at what waits for other nodes; true when anything changed.
bool Agent::work(const std::atomic<bool>& stop) {
    count_missed_deadlines();
    bool changed = false;
    if (const auto index = most_urgent(nullptr)) {
        auto& slot = page_.slots[*index];
        auto state = slot.state.load(std::memory_order_acquire);
        // newest_only may take a sealed slot back at this very moment; whoever changes the state first has it.
        const bool ours = (state == SlotState::sealed || state == SlotState::failed) &&
                          slot.state.compare_exchange_strong(state, SlotState::draining);
        if (ours) drain_slot(*index, state == SlotState::failed, stop);
        changed = true;
    }
    return commit_drained() || changed;
}

// An agent that has just come may find in a slot what another has committed: the agent of a dead session did, after
// it. So may one that failed after its node file had its name. Drained again it would cost its whole volume and leave a
// part that nobody commits.
Result<bool> Agent::is_committed(std::uint32_t index) const {
    FB_TRY_ASSIGN(peeked, format::peek(std::as_const(mine_[index].mapping).bytes(), staging_.slot_path(index)));
    const std::string stream = page_.streams[page_.slots[index].stream].name.data();
    FB_TRY_ASSIGN(
        found, commit::find_committed(store_, {session_.run, stream, peeked.record.step}, peeked.record.which_save()));
    return found.has_value();
}

// The staged file is left as it is when its snapshot goes to another run than the one that it was saved in.
Result<> Agent::map_slot(std::uint32_t index) {
    auto& mapping = mine_[index].mapping;
    const auto path = staging_.slot_path(index);
    mapping = {};
    FB_TRY_ASSIGN(mapped, session_.adopts ? sys::Mapping::open_copy(path) : sys::Mapping::open(path, false));
    if (session_.adopts) {
        FB_TRY_ASSIGN(peeked, format::peek(std::as_const(mapped).bytes(), path));
        const std::string stream = page_.streams[page_.slots[index].stream].name.data();
        // What the other run has under this step is its own, and stays.
        const commit::Place place{session_.run, stream, peeked.record.step};
        FB_TRY_ASSIGN(taken, store_.exists(place.final_directory()));
        FB_TRY_ASSIGN(ours, commit::find_committed(store_, place, peeked.record.which_save()));
        if (taken && !ours)
            return Error{ErrorKind::refused, fmt::format("{} has a step {} of its own", session_.run, place.step), "",
                         "--into another run"};
        FB_TRY_ASSIGN(lineage, catalog::lineage_to_join(store_, session_.run, stream));
        FB_TRY(format::change_lineage(lineage, mapped.bytes(), path));
    }
    mapping = std::move(mapped);
    return {};
}

Result<> Agent::check_run() const {
    const auto checked = catalog::check_identity(store_, session_.run, session_.run_id);
    if (checked || checked.error().kind == ErrorKind::retry) return checked;
    return because(checked.error(), checked.error().what, "",
                   fmt::format("bring the run back, or forebay drain {} --into ANOTHER-RUN", staging_.directory()));
}

// The rules stand in the stream's entry when its first slot is sealed, and stay.
drain::CompressionMemory& Agent::compression_memory(std::uint32_t stream) {
    auto& memory = compression_[stream];
    auto rules = node::decode_rules(page_.streams[stream].compression.data());
    if (!rules) {
        log_(fmt::format("stream '{}' is drained without compression: {}", page_.streams[stream].name.data(),
                         rules.error().line()));
        rules = node::CompressionRules();
    }
    if (node::encode_rules(*rules) != node::encode_rules(memory.rules)) memory = {.rules = std::move(*rules)};
    return memory;
}

std::optional<double> Agent::seconds_to_compress(std::uint32_t index) const {
    const auto ends = ends_unix_ns(index);
    if (ends == never_due) return std::nullopt;
    return share_to_compress * static_cast<double>(ends - sys::unix_ns()) * 1e-9;
}

Result<> Agent::drain_once(std::uint32_t index, bool again, Between& between, const std::atomic<bool>& stop) {
    auto& mapping = mine_[index].mapping;
    const auto path = staging_.slot_path(index);
    const bool is_new = !mapping.mapped();
    if (is_new) FB_TRY(map_slot(index));
    FB_TRY(check_run());
    if (is_new || again) {
        FB_TRY_ASSIGN(committed, is_committed(index));
        if (committed) return {};
    }
    // The application grows the file when a layout needs more room; the old mapping then ends too early.
    FB_TRY_ASSIGN(peeked, format::peek(std::as_const(mapping).bytes(), path));
    if (peeked.file_bytes > mapping.bytes().size()) FB_TRY(map_slot(index));

    auto& slot = page_.slots[index];
    slot.drained_bytes = 0;
    std::uint64_t stored_bytes = 0;
    mine_[index].file_bytes = peeked.file_bytes;
    mine_[index].look_first_at = peeked.record.node;
    const Moving told(page_, true);
    const drain::NodeDrain drain{
        .store = &store_,
        .run = session_.run,
        .write = {.block_bytes = session_.agent.block_bytes,
                  .in_flight = session_.agent.in_flight,
                  .rate_bytes_per_second = page_.streams[slot.stream].rate_bytes_per_second.load(),
                  .pace = &pace_,
                  .gate = &between},
        .direct = session_.agent.direct,
        .done_bytes = &slot.drained_bytes,
        .stored_bytes = &stored_bytes,
        .compression = &compression_memory(slot.stream),
        .seconds_left = seconds_to_compress(index),
        .log =
            [&](const std::string& text) {
                log_(fmt::format("step {} of stream '{}': {}", slot.step.load(), page_.streams[slot.stream].name.data(),
                                 text));
            },
        .stop = &stop};
    FB_TRY(drain::drain_node_file(drain, std::as_const(mapping).bytes(), path));
    page_.bytes_stored += stored_bytes;
    return {};
}

bool Agent::drain_slot(std::uint32_t index, bool again, const std::atomic<bool>& stop) {
    auto& slot = page_.slots[index];
    page_.draining.fetch_add(1);
    node::ring(page_.news);
    ++page_.drains;
    ++begun_;
    mine_[index].overruled = false;
    Between between(*this, index, stop);
    const auto start = sys::Clock::now();
    const auto result =
        move::with_retries({.retries = session_.agent.retries, .pause = session_.agent.retry_pause}, &stop,
                           [&] { return drain_once(index, std::exchange(again, true), between, stop); });
    const auto took = sys::Clock::now() - start - between.overtaken();
    page_.drain_ns += static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count());
    page_.draining.fetch_sub(1);
    if (mine_[index].overruled) {
        ++page_.limits_overruled;
        log_(fmt::format(
            "step {} of stream '{}' was drained faster than slowdown_percent_max = {} allows, so as to end in "
            "time",
            slot.step.load(), page_.streams[slot.stream].name.data(), session_.agent.slowdown_percent_max));
    }
    if (!result) {
        fail(index, result.error());
        return false;
    }
    page_.bytes_drained += slot.drained_bytes.load();
    log_(fmt::format("step {} of stream '{}': {} drained in {}", slot.step.load(),
                     page_.streams[slot.stream].name.data(), show_bytes(slot.drained_bytes.load()),
                     show_seconds(std::chrono::duration<double>(took).count())));
    set(slot, SlotState::drained);
    return true;
}

// The target's files can be damaged or missing too; only a damaged staged copy is worth nothing.
bool Agent::staged_is_whole(std::uint32_t index) const {
    const auto& mapping = mine_[index].mapping;
    return mapping.mapped() && drain::check_image(mapping.bytes(), staging_.slot_path(index));
}

void Agent::fail(std::uint32_t index, const Error& error) {
    auto& slot = page_.slots[index];
    auto& mine = mine_[index];
    ++page_.aborts;
    ++ended_;
    const auto path = staging_.slot_path(index);
    const bool torn = (error.kind == ErrorKind::corrupt || error.kind == ErrorKind::missing) && !staged_is_whole(index);
    const auto failed =
        because(error,
                fmt::format("step {} of stream '{}' is NOT committed: {}", slot.step.load(),
                            page_.streams[slot.stream].name.data(), error.what),
                "committed snapshots" +
                    (torn ? std::string() : fmt::format(", and the staged copy on {}, {}", sys::host_name(), path)),
                torn ? std::string("save again; check the memory of this node")
                     : fmt::format("forebay drain {} on {}, before the allocation ends", staging_.directory(),
                                   sys::host_name()));
    log_(failed.line());
    // Bytes that are not what the application gave cannot become right by another try: told once, then given up.
    if (torn && std::exchange(mine.torn, slot.snapshot_id.load()) == slot.snapshot_id.load()) {
        slot.given_up = 1;
        set(slot, SlotState::empty);
        return;
    }
    mine.bell_at_failure = bell_;
    slot.error_kind = static_cast<std::uint32_t>(error.kind);
    node::set_error(slot.error_text, failed);
    slot.failures.fetch_add(1);
    set(slot, SlotState::failed);
}

}  // namespace forebay::agent
