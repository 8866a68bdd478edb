#include "path/node/timing_ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <limits>
#include <new>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"

namespace forebay::node {

namespace {

constexpr std::uint64_t rings_magic = 0x33474E4952424600ull;  // "\0FBRING3"
constexpr std::uint32_t ranks_max = 65535;                    // format::agent_source is no rank

// The words of a Timing, with the slot as its target, and the number of the save. The first word is stored last and is
// 0 while the other words change.
constexpr std::size_t timing_words = sizeof(format::Timing) / sizeof(std::uint64_t);
using Entry = std::array<std::atomic<std::uint64_t>, timing_words + 1>;

struct alignas(64) Ring {
    std::atomic<std::uint64_t> count{0}, unkept{0}, unkept_ns{0};
    std::array<Entry, ring_timings> entries;
};
struct alignas(64) Head {
    std::uint64_t magic = rings_magic;
    std::uint32_t ranks = 0;
    std::atomic<std::int64_t> layout_ns{0};
    std::atomic<std::uint64_t> reported{0}, reported_ns{0};
};

std::string path_in(const std::string& directory) { return directory + "/timings"; }
std::uint64_t bytes_for(std::uint32_t ranks) { return sizeof(Head) + ranks * sizeof(Ring); }

const Head& head_of(const sys::Mapping& mapping) { return *reinterpret_cast<const Head*>(mapping.bytes().data()); }
const Ring& ring_of(const sys::Mapping& mapping, std::uint32_t rank) {
    return *reinterpret_cast<const Ring*>(mapping.bytes().data() + bytes_for(rank));
}

std::uint32_t up_to_32_bits(std::uint64_t value) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

std::int64_t steady_ns(sys::Clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::int64_t unix_less_steady_ns() { return sys::unix_ns() - steady_ns(sys::Clock::now()); }

format::Timing timing_of(format::TimingKind kind, std::int64_t start_unix_ns, sys::Clock::duration took,
                         std::uint64_t bytes, std::uint32_t source) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    return {.start_unix_ns = static_cast<std::uint64_t>(start_unix_ns),
            .duration_us = up_to_32_bits(static_cast<std::uint64_t>(std::max<std::int64_t>(us, 0))),
            .kib = up_to_32_bits((bytes >> 10) + ((bytes & 1023) != 0 ? 1 : 0)),
            .kind = static_cast<std::uint16_t>(kind),
            .flags = source};
}

Result<TimingRings> TimingRings::create(const std::string& directory, std::uint32_t ranks) {
    if (ranks == 0 || ranks > ranks_max)
        return Error{ErrorKind::refused,
                     fmt::format("{} ranks of a node: only 1 to {} can be timed", ranks, ranks_max)};
    const auto bytes = round_up(bytes_for(ranks), limits::page_bytes);
    TimingRings rings;
    FB_TRY_ASSIGN(mapping, sys::Mapping::create(path_in(directory), bytes));
    // Faulted now, so that no put() in a save pays for a page.
    FB_TRY(mapping.prefault(0, bytes));
    (new (mapping.bytes().data()) Head())->ranks = ranks;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) new (mapping.bytes().data() + bytes_for(rank)) Ring();
    rings.mapping_ = std::move(mapping);
    rings.unix_less_steady_ns_ = unix_less_steady_ns();
    return rings;
}

Result<TimingRings> TimingRings::open(const std::string& directory, bool writable) {
    TimingRings rings;
    FB_TRY_ASSIGN(mapping, sys::Mapping::open(path_in(directory), writable));
    const auto bytes = std::as_const(mapping).bytes();
    const bool good = bytes.size() >= sizeof(Head) && head_of(mapping).magic == rings_magic &&
                      head_of(mapping).ranks <= ranks_max && bytes.size() >= bytes_for(head_of(mapping).ranks);
    if (!good) return Error{ErrorKind::corrupt, fmt::format("{} holds no timings", path_in(directory))};
    FB_TRY(mapping.prefault(0, round_up(bytes_for(head_of(mapping).ranks), limits::page_bytes)));
    rings.mapping_ = std::move(mapping);
    rings.unix_less_steady_ns_ = unix_less_steady_ns();
    return rings;
}

std::uint32_t TimingRings::ranks() const { return mapping_.mapped() ? head_of(mapping_).ranks : 0; }

void TimingRings::put(std::uint32_t rank, Of of, format::TimingKind kind, sys::Clock::time_point start,
                      sys::Clock::duration took, std::uint64_t bytes) {
    if (rank >= ranks()) return;
    auto timing = timing_of(kind, steady_ns(start) + unix_less_steady_ns_, took, bytes, rank);
    timing.target = of.slot;
    const auto words = std::bit_cast<std::array<std::uint64_t, timing_words>>(timing);
    auto& ring = *reinterpret_cast<Ring*>(mapping_.bytes().data() + bytes_for(rank));
    auto& entry = ring.entries[ring.count.fetch_add(1, std::memory_order_acq_rel) % ring_timings];
    // A 0, or another first word at a second look, shows a reader that the entry is not whole.
    entry[0].store(0, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 1; i < timing_words; ++i) entry[i].store(words[i], std::memory_order_relaxed);
    entry[timing_words].store(of.save, std::memory_order_relaxed);
    entry[0].store(words[0], std::memory_order_release);
}

void TimingRings::tell_layout(std::chrono::nanoseconds took) {
    reinterpret_cast<Head*>(mapping_.bytes().data())->layout_ns.store(took.count(), std::memory_order_relaxed);
}

std::chrono::nanoseconds TimingRings::told_layout() const {
    return std::chrono::nanoseconds(head_of(mapping_).layout_ns.load(std::memory_order_relaxed));
}

void TimingRings::count_unkept(std::uint32_t rank, sys::Clock::duration took) {
    if (rank >= ranks()) return;
    auto& ring = *reinterpret_cast<Ring*>(mapping_.bytes().data() + bytes_for(rank));
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(took).count();
    ring.unkept_ns.fetch_add(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)), std::memory_order_relaxed);
    // After the time: a reader that sees the count sees its time.
    ring.unkept.fetch_add(1, std::memory_order_release);
}

TimingRings::Unkept TimingRings::unkept(std::uint32_t rank) const {
    if (rank >= ranks()) return {};
    const auto& ring = ring_of(mapping_, rank);
    const auto count = ring.unkept.load(std::memory_order_acquire);
    return {count, ring.unkept_ns.load(std::memory_order_relaxed)};
}

TimingRings::Unkept TimingRings::reported() const {
    if (!mapping_.mapped()) return {};
    const auto& head = head_of(mapping_);
    return {head.reported.load(std::memory_order_relaxed), head.reported_ns.load(std::memory_order_relaxed)};
}

void TimingRings::set_reported(Unkept reported) {
    auto& head = *reinterpret_cast<Head*>(mapping_.bytes().data());
    head.reported.store(reported.count, std::memory_order_relaxed);
    head.reported_ns.store(reported.ns, std::memory_order_relaxed);
}

void TimingRings::take(std::uint32_t rank, std::uint64_t& seen, std::uint64_t& missed,
                       std::vector<RankTiming>& into) const {
    if (rank >= ranks()) return;
    const auto& ring = ring_of(mapping_, rank);
    const auto count = ring.count.load(std::memory_order_acquire);
    if (seen > count) seen = 0;  // a new session began in this directory
    const auto first = count > ring_timings ? std::max(seen, count - ring_timings) : seen;
    missed += first - seen;
    seen = first;
    for (; seen < count; ++seen) {
        const auto& entry = ring.entries[seen % ring_timings];
        std::array<std::uint64_t, timing_words> words{};
        words[0] = entry[0].load(std::memory_order_acquire);
        if (words[0] == 0) {
            // It is being written, or its writer died here: then a later entry follows.
            if (count - seen < 2) return;
            ++missed;
            continue;
        }
        for (std::size_t i = 1; i < timing_words; ++i) words[i] = entry[i].load(std::memory_order_relaxed);
        const auto save = entry[timing_words].load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        const bool overwritten = entry[0].load(std::memory_order_relaxed) != words[0] ||
                                 ring.count.load(std::memory_order_relaxed) - seen > ring_timings;
        if (overwritten) {
            ++missed;
            continue;
        }
        RankTiming taken{.timing = std::bit_cast<format::Timing>(words), .save = save};
        taken.slot = std::exchange(taken.timing.target, format::no_target);
        into.push_back(taken);
    }
}

}  // namespace forebay::node
