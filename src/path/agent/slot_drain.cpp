#include "path/agent/slot_drain.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "path/agent/direct_choice.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/run.hpp"
#include "path/commit/publish.hpp"
#include "path/drain/node_drain.hpp"
#include "path/node/compression_rules.hpp"

namespace forebay::agent {

namespace {

// Compression may use 80 % of the time until the slot is needed: 8 s of 10 s. The agent estimates that time from the
// last saves, and the commit takes a part of it.
constexpr double share_to_compress = 0.8;

}  // namespace

SlotDrain::SlotDrain(sys::Store& store, node::Staging& staging, const node::SessionFile& session,
                     const Schedule& schedule, Slots& slots, Speed& speed, const Tell& tell)
    : store_(store),
      staging_(staging),
      session_(session),
      schedule_(schedule),
      slots_(slots),
      speed_(speed),
      tell_(tell) {}

// A snapshot that goes to another run gets that run's lineage, in a private copy of the mapping: the staged file stays
// as the application sealed it.
Result<> SlotDrain::map(std::uint32_t slot) {
    if (!session_.adopts) return slots_.map(slot);
    auto& mapping = slots_.notes(slot).mapping;
    const auto path = slots_.path(slot);
    mapping = {};
    FB_TRY_ASSIGN(mapped, sys::Mapping::open_copy(path));
    FB_TRY_ASSIGN(peeked, format::peek(std::as_const(mapped).bytes(), path));
    const auto stream = slots_.stream_name(slot);
    // A step that the other run has already is its own, and stays.
    const commit::SnapshotPlace place{session_.run, stream, peeked.record.step};
    FB_TRY_ASSIGN(taken, store_.exists(place.final_directory()));
    FB_TRY_ASSIGN(ours, commit::find_committed(store_, place, peeked.record.which_save()));
    if (taken && !ours)
        return Error{ErrorKind::refused, fmt::format("{} already has a step {}", session_.run, place.step), "",
                     "choose another run with --into"};
    FB_TRY_ASSIGN(lineage, catalog::lineage_to_join(store_, session_.run, stream));
    FB_TRY(format::change_lineage(lineage, mapped.bytes(), path));
    mapping = std::move(mapped);
    return {};
}

// Another client may have created the run a moment ago, and this client does not see it yet. So for an unseen run the
// parent directory is opened anew, and the drain is tried again. An error of that list does not matter.
Result<> SlotDrain::check_run() {
    auto checked = catalog::check_identity(store_, session_.run, session_.run_id);
    const bool unseen = !checked && checked.error().kind == ErrorKind::missing && !saw_run_;
    if (unseen) {
        static_cast<void>(store_.list(directory_of(session_.run)));
        checked = catalog::check_identity(store_, session_.run, session_.run_id);
    }
    saw_run_ |= checked.has_value();
    if (checked || checked.error().kind == ErrorKind::retry) return checked;
    auto error =
        with_context(checked.error(), checked.error().what, "",
                     fmt::format("bring the run back, or forebay drain {} --into ANOTHER-RUN", staging_.directory()));
    if (unseen && error.kind == ErrorKind::missing) error.kind = ErrorKind::retry;
    return error;
}

// The application writes the rules into the stream's entry before it seals the first slot, and never changes them.
drain::CompressionMemory& SlotDrain::compression_memory(std::uint32_t slot) {
    auto& memory = compression_[slots_.control(slot).stream];
    auto rules = node::decode_rules(slots_.stream(slot).compression.data());
    if (!rules) {
        tell_({.what = What::uncompressed, .stream = slots_.stream_name(slot), .detail = rules.error().line()});
        rules = node::CompressionRules();
    }
    if (node::encode_rules(*rules) != node::encode_rules(memory.rules)) memory = {.rules = std::move(*rules)};
    return memory;
}

std::optional<double> SlotDrain::seconds_to_compress(std::uint32_t slot) const {
    const auto ends = schedule_.ends_unix_ns(slot);
    if (ends == never_due) return std::nullopt;
    return share_to_compress * static_cast<double>(ends - sys::unix_ns()) * 1e-9;
}

void SlotDrain::note(std::uint32_t slot, const std::string& text) const {
    auto noted = slots_.event(What::noted, slot);
    noted.detail = text;
    tell_(noted);
}

// After a failed measurement it acts as for `yes`, and does not measure again.
bool SlotDrain::is_direct(std::uint32_t slot, const move::WriteOptions& options) {
    if (session_.agent.direct != Direct::automatic) return session_.agent.direct == Direct::yes;
    const auto file_bytes = slots_.notes(slot).file_bytes;
    if (direct_ || file_bytes < chosen_bytes_min) return direct_.value_or(true);
    auto limits = options;
    if (session_.agent.slowdown_percent_max == 0 && session_.agent.rate_bytes_per_second == 0) limits.pace = nullptr;
    const auto choice = choose_direct(store_, session_.run, limits, file_bytes);
    if (!choice)
        note(slot, fmt::format("writes go past the page cache: the faster way could not be measured: {}",
                               choice.error().line()));
    else if (!choice->why.empty()) note(slot, choice->why);
    direct_ = !choice || choice->direct;
    return *direct_;
}

Result<> SlotDrain::run(std::uint32_t slot, bool again, move::Gate& gate, const std::atomic<bool>& stop) {
    const bool is_new = !slots_.notes(slot).mapping.mapped();
    if (is_new) FB_TRY(map(slot));
    FB_TRY(check_run());
    // An earlier agent or try may have committed it, see Slots::is_committed().
    if (is_new || again) {
        FB_TRY_ASSIGN(committed, slots_.is_committed(slot));
        if (committed) return {};
    }
    // The application grows the file when a layout needs more room. The old mapping is then too short.
    FB_TRY_ASSIGN(peeked, slots_.peek(slot));
    if (peeked.file_bytes > slots_.image(slot).size()) FB_TRY(map(slot));
    return write(slot, peeked, gate, stop);
}

Result<> SlotDrain::write(std::uint32_t slot, const format::Peek& peeked, move::Gate& gate,
                          const std::atomic<bool>& stop) {
    auto& page = staging_.control();
    auto& control = slots_.control(slot);
    auto& notes = slots_.notes(slot);
    control.drained_bytes = 0;
    std::uint64_t stored_bytes = 0;
    notes.file_bytes = peeked.file_bytes;
    notes.look_first_at = peeked.record.node;
    const Moving moving(page, true);
    const move::WriteOptions options{.block_bytes = session_.agent.block_bytes,
                                     .in_flight = session_.agent.in_flight,
                                     .rate_bytes_per_second = slots_.stream(slot).rate_bytes_per_second.load(),
                                     .pace = &speed_.pace(),
                                     .gate = &gate};
    const drain::NodeDrain drain{.store = &store_,
                                 .run = session_.run,
                                 .write = options,
                                 .direct = is_direct(slot, options),
                                 .done_bytes = &control.drained_bytes,
                                 .stored_bytes = &stored_bytes,
                                 .compression = &compression_memory(slot),
                                 .seconds_left = seconds_to_compress(slot),
                                 .log = [&](const std::string& text) { note(slot, text); },
                                 .stop = &stop};
    FB_TRY(drain::drain_node_file(drain, slots_.image(slot), slots_.path(slot)));
    page.counts.bytes_stored += stored_bytes;
    return {};
}

}  // namespace forebay::agent
