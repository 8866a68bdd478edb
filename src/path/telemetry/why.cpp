#include "path/telemetry/why.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "core/base/units.hpp"
#include "path/telemetry/chronicle.hpp"
#include "path/telemetry/median.hpp"

namespace forebay::telemetry {

namespace {

using format::TimingBatch;
using format::TimingKind;

// Slow is twice as long as usual, and by more than people notice. Usual needs three earlier batches.
constexpr double slow_ratio = 2, slow_seconds_min = 0.2;
constexpr std::size_t usual_min = 3;
constexpr double wait_seconds_min = 0.1;
constexpr double low_target_ratio = 0.8, high_sync_share = 0.3, late_share = 0.25;

struct Usual {
    double seconds = 0, ratio = 0;  // against the usual time
};

using Seconds = std::function<double(const TimingBatch&)>;

const TimingBatch* slowest(const Batches& batches, const Seconds& seconds_of) {
    const auto batch = std::ranges::max_element(
        batches, [&](const TimingBatch* a, const TimingBatch* b) { return seconds_of(*a) < seconds_of(*b); });
    return batch == batches.end() ? nullptr : *batch;
}

// Returns a value if the batch took much longer than `others` for as many bytes.
std::optional<Usual> unusual(const TimingBatch& batch, const Batches& others, const Seconds& seconds_of) {
    std::vector<double> seconds;
    for (const auto* other : others)
        if (other != &batch && other->bytes > 0 && seconds_of(*other) > 0)
            // Scaled by bytes, because snapshots differ in size.
            seconds.push_back(seconds_of(*other) / static_cast<double>(other->bytes) *
                              static_cast<double>(batch.bytes));
    if (seconds.size() < usual_min) return {};
    const Usual usual{median_of(seconds), seconds_of(batch) / median_of(seconds)};
    const bool slow = usual.ratio >= slow_ratio && seconds_of(batch) - usual.seconds > slow_seconds_min;
    return slow ? std::optional(usual) : std::nullopt;
}

// Compares with the snapshots before. As long as there are none, compares with the remaining nodes.
std::optional<Usual> unusual(const TimingBatch& batch, const Batches& now, const Batches& before,
                             const Seconds& seconds_of) {
    if (const auto reason = unusual(batch, before, seconds_of)) return reason;
    return unusual(batch, now, seconds_of);
}

std::string slow_target(const TimingBatch& drain) {
    std::vector<double> rates;
    for (const auto& target : drain.targets)
        if (target.bytes > 0 && target.busy_seconds > 0 && !target.name.empty())
            rates.push_back(static_cast<double>(target.bytes) / target.busy_seconds);
    if (rates.size() < 2) return "";
    const double middle = median_of(rates);
    const format::TimingTarget* worst = nullptr;
    double least = low_target_ratio;
    for (const auto& target : drain.targets) {
        if (target.bytes == 0 || target.busy_seconds <= 0 || target.name.empty()) continue;
        const double ratio = static_cast<double>(target.bytes) / target.busy_seconds / middle;
        if (ratio < least) worst = &target, least = ratio;
    }
    return worst == nullptr ? ""
                            : fmt::format(", whose target {} wrote at {:.2f} of the usual rate", worst->name, least);
}

std::string cause_of(const TimingBatch& drain) {
    auto text = slow_target(drain);
    if (is_limited(drain))
        text += fmt::format("; the limit of {}/s held it back", show_bytes(drain.rate_limit_bytes_per_second));
    if (const double share = drain.drain_seconds > 0 ? drain.sync_seconds / drain.drain_seconds : 0;
        share >= high_sync_share)
        text += fmt::format("; {:.0f} % of it was sync", 100 * std::min(share, 1.0));
    if (drain.retries > 0)
        text += fmt::format("; {} {} before had failed", drain.retries, drain.retries == 1 ? "try" : "tries");
    return text;
}

double drain_of(const TimingBatch& batch) { return batch.drain_seconds; }
double copy_of(const TimingBatch& batch) { return batch.copy_seconds; }

std::string drain_text(const TimingBatch& drain, const Usual& usual) {
    return fmt::format("the drain of step {} took {:.1f} s, {:.1f} x the usual {:.1f} s, on node {}{}", drain.step,
                       drain.drain_seconds, usual.ratio, usual.seconds, node_name(drain), cause_of(drain));
}

// The time from the end of the save before on that node to the begin of this save.
double computed_before(const TimingBatch& batch, const Batches& before) {
    const TimingBatch* last = nullptr;
    for (const auto* other : before)
        if (node_name(*other) == node_name(batch) && (last == nullptr || other->saved_unix_ns > last->saved_unix_ns))
            last = other;
    return std::max(0.0, batch.interval_seconds - (last == nullptr ? 0 : last->blocked_seconds));
}

void add_wait(const Batches& now, const Batches& before, std::vector<std::string>& why) {
    const auto* waiter = slowest(now, [](const TimingBatch& batch) { return batch.wait_seconds; });
    if (waiter->wait_seconds < wait_seconds_min) return;
    auto text = fmt::format("step {} waited {:.1f} s for a slot on node {}", waiter->step, waiter->wait_seconds,
                            node_name(*waiter));
    // `holders` are batches of the snapshot that had the slot before.
    Batches holders, earlier;
    for (const auto* other : before) (other->step == waiter->waited_for_step ? holders : earlier).push_back(other);
    const auto* holder = slowest(holders, drain_of);
    if (holder == nullptr) return why.push_back(text);
    if (const auto usual = unusual(*holder, holders, earlier, drain_of)) text += ": " + drain_text(*holder, *usual);
    else if (waiter->interval_seconds > 0)
        text += fmt::format(
            ": a drain and its commit take {:.1f} s, as usual, and saves begin {:.1f} s after the last one ended, with "
            "{} {}{}",
            holder->drain_seconds + holder->commit_seconds, computed_before(*waiter, before), waiter->slots,
            waiter->slots == 1 ? "slot" : "slots", cause_of(*holder));
    why.push_back(text);
}

void add_drain(const Batches& now, const Batches& before, std::vector<std::string>& why) {
    const auto* drain = slowest(now, drain_of);
    if (const auto usual = unusual(*drain, now, before, drain_of)) why.push_back(drain_text(*drain, *usual));
}

void add_copy(const Batches& now, const Batches& before, std::vector<std::string>& why) {
    const auto* copy = slowest(now, copy_of);
    const auto usual = unusual(*copy, now, before, copy_of);
    if (!usual) return;
    why.push_back(fmt::format(
        "copying step {} took {:.1f} s, {:.1f} x the usual {:.1f} s, on node {}: its cores or its memory were busy",
        copy->step, copy->copy_seconds, usual->ratio, usual->seconds, node_name(*copy)));
}

// Ranks that save together wait for the last rank.
void add_late_rank(const Batches& now, std::vector<std::string>& why) {
    std::int64_t first = 0, last = 0;
    std::string late;
    double blocked = 0;
    for (const auto* batch : now)
        for (const auto& timing : batch->timings) {
            if (timing.kind != static_cast<std::uint16_t>(TimingKind::save) || (timing.flags & format::timing_failed))
                continue;
            const auto start = static_cast<std::int64_t>(timing.start_unix_ns);
            if (start < batch->saved_unix_ns) continue;  // a save that this save replaced
            if (first == 0 || start < first) first = start;
            blocked = std::max(blocked, timing.seconds());
            if (start <= last) continue;
            last = start;
            late = fmt::format("rank {} of node {}", timing.flags & format::timing_source_mask, node_name(*batch));
        }
    const double behind = static_cast<double>(last - first) * 1e-9;
    if (behind > slow_seconds_min && behind > late_share * blocked)
        why.push_back(fmt::format("{} began to save step {} {:.1f} s after the first rank, and all waited for it", late,
                                  now.front()->step, behind));
}

void add_commit(const Batches& now, const Batches& before, std::vector<std::string>& why) {
    const auto commit_of = [](const TimingBatch& batch) { return batch.commit_seconds; };
    const auto* waiter = slowest(now, commit_of);
    if (!unusual(*waiter, before, commit_of)) return;
    const auto* last =
        slowest(now, [](const TimingBatch& batch) { return static_cast<double>(batch.drained_unix_ns); });
    // The node that drained first waits longest. The node that drained last explains this wait.
    if (last != waiter)
        why.push_back(
            fmt::format("the commit of step {} came {:.1f} s after the data of node {}: the data of node {} came last",
                        waiter->step, waiter->commit_seconds, node_name(*waiter), node_name(*last)));
    else
        why.push_back(
            fmt::format("the commit of step {} came {:.1f} s after the data of node {}: data of other nodes, or "
                        "renames at the target, were late",
                        waiter->step, waiter->commit_seconds, node_name(*waiter)));
}

}  // namespace

bool is_limited(const TimingBatch& batch) {
    constexpr double nearly = 0.7;  // the sync and the begin of a drain take time too
    return batch.rate_limit_bytes_per_second > 0 && batch.drain_seconds > 0 &&
           static_cast<double>(batch.stored_bytes) / batch.drain_seconds >
               nearly * static_cast<double>(batch.rate_limit_bytes_per_second);
}

std::vector<std::string> why_slow(const Batches& now, const Batches& before) {
    std::vector<std::string> why;
    if (now.empty()) return why;
    add_wait(now, before, why);
    add_drain(now, before, why);
    add_copy(now, before, why);
    add_late_rank(now, why);
    add_commit(now, before, why);
    return why;
}

}  // namespace forebay::telemetry
