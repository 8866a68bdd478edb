#include "path/agent/rank_records.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace forebay::agent {

namespace {

using format::Timing;
using format::TimingKind;

// Saves of a stream that replaces them come and go during one drain.
constexpr std::uint64_t records_max = 65536;

std::uint32_t rank_of(const Timing& timing) { return timing.flags & format::timing_source_mask; }
bool is_of(const Timing& timing, TimingKind kind) { return timing.kind == static_cast<std::uint16_t>(kind); }

// Sums for one rank.
struct RankSeconds {
    double save = 0, wait = 0, plan = 0, copy = 0, agree = 0;
};

std::map<std::uint32_t, RankSeconds> seconds_of(const std::vector<Timing>& timings) {
    std::map<std::uint32_t, RankSeconds> ranks;
    for (const auto& timing : timings) {
        auto& rank = ranks[rank_of(timing)];
        if (is_of(timing, TimingKind::save)) rank.save = timing.seconds();
        if (is_of(timing, TimingKind::wait)) rank.wait += timing.seconds();
        if (is_of(timing, TimingKind::plan)) rank.plan += timing.seconds();
        if (is_of(timing, TimingKind::copy)) rank.copy += timing.seconds();
        if (is_of(timing, TimingKind::agree)) rank.agree += timing.seconds();
    }
    return ranks;
}

}  // namespace

void RankRecords::add(const node::RankTiming& record) {
    if (record.slot >= node::slots_max || record.save <= forgotten_[record.slot]) return;
    if (count_ >= records_max) {
        ++dropped_;
        return;
    }
    auto& timings = saves_[{record.slot, record.save}];
    if (std::ranges::find(timings, record.timing) != timings.end()) return;
    timings.push_back(record.timing);
    ++count_;
}

std::uint32_t RankRecords::ranks_of(Save save) const {
    const auto timings = saves_.find(save);
    if (timings == saves_.end()) return 0;
    return static_cast<std::uint32_t>(
        std::ranges::count_if(timings->second, [](const Timing& timing) { return is_of(timing, TimingKind::save); }));
}

void RankRecords::fill(Save save, format::TimingBatch& batch) const {
    const auto timings = saves_.find(save);
    if (timings == saves_.end()) return;
    for (const auto& timing : timings->second) {
        const auto start = static_cast<std::int64_t>(timing.start_unix_ns);
        if (is_of(timing, TimingKind::save) && (batch.saved_unix_ns == 0 || start < batch.saved_unix_ns))
            batch.saved_unix_ns = start;
    }
    for (const auto& [rank, seconds] : seconds_of(timings->second)) {
        if (seconds.save > batch.blocked_seconds)
            // The parts of the slowest rank, so they add up to its time. The maxima below may come from different
            // ranks.
            batch.blocked_parts = {.copy_seconds = seconds.copy,
                                   .layout_seconds = seconds.plan,
                                   .ranks_seconds = seconds.agree,
                                   .slot_seconds = seconds.wait};
        batch.blocked_seconds = std::max(batch.blocked_seconds, seconds.save);
        batch.wait_seconds = std::max(batch.wait_seconds, seconds.wait);
        batch.plan_seconds = std::max(batch.plan_seconds, seconds.plan);
        batch.copy_seconds = std::max(batch.copy_seconds, seconds.copy);
    }
    std::ranges::copy(timings->second, std::back_inserter(batch.timings));
}

void RankRecords::forget(Save save) {
    auto& last = forgotten_[save.slot];
    last = std::max(last, save.number);
    const auto begin = saves_.lower_bound({save.slot, 0}), end = saves_.upper_bound(save);
    for (auto at = begin; at != end; ++at) count_ -= at->second.size();
    saves_.erase(begin, end);
}

std::uint64_t RankRecords::take_dropped() { return std::exchange(dropped_, 0); }

}  // namespace forebay::agent
