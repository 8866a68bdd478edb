#include "bench/raw.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "bench/spread.hpp"
#include "core/base/page_buffer.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/store.hpp"
#include "core/sys/thread.hpp"

namespace forebay::bench {

namespace {

constexpr std::uint64_t mib = 1u << 20;
constexpr RawWay as_dd{"copied_16x1", "raw write, as dd oflag=direct bs=16M", 16 * mib, 1, true, false, true};
constexpr std::array<RawWay, 7> ways{
    {{"direct_16x1", "raw write, O_DIRECT, 16 MiB x 1", 16 * mib, 1, true},
     {"direct_16x2", "raw write, O_DIRECT, 16 MiB x 2", 16 * mib, 2, true},
     {"direct_64x1", "raw write, O_DIRECT, 64 MiB x 1", 64 * mib, 1, true},
     {"direct_64x2", "raw write, O_DIRECT, 64 MiB x 2", 64 * mib, 2, true},
     {"reserved_16x2", "raw write, O_DIRECT, room reserved, 16 MiB x 2", 16 * mib, 2, true, true},
     {"buffered_16x1", "raw write, buffered, 16 MiB x 1", 16 * mib, 1, false},
     {"buffered_16x2", "raw write, buffered, 16 MiB x 2", 16 * mib, 2, false}}};

/// Blocks of the source in order, for any number of threads, until the end or a failure.
class RawBlocks {
public:
    RawBlocks(sys::File& from, sys::File& to, std::span<const std::byte> bytes, const RawWay& way)
        : from_(from), to_(to), bytes_(bytes), way_(way) {}

    void work() {
        PageBuffer buffer;
        for (auto at = next_.fetch_add(way_.block_bytes); at < bytes_.size(); at = next_.fetch_add(way_.block_bytes)) {
            const auto written = write(at, buffer);
            if (written) continue;
            next_ = bytes_.size();
            const std::lock_guard lock(mutex_);
            outcome_ = written;
        }
    }
    const Result<>& outcome() const { return outcome_; }

private:
    Result<> write(std::uint64_t at, PageBuffer& buffer) {
        const auto mapped = bytes_.subspan(at, std::min<std::uint64_t>(way_.block_bytes, bytes_.size() - at));
        if (!way_.copied) return to_.write(at, mapped);
        const auto copy = buffer.take(mapped.size());
        FB_TRY(from_.read(at, copy));
        return to_.write(at, copy);
    }

    sys::File& from_;
    sys::File& to_;
    const std::span<const std::byte> bytes_;
    const RawWay& way_;
    std::atomic<std::uint64_t> next_{0};
    std::mutex mutex_;  // guards the members below
    Result<> outcome_;
};

}  // namespace

std::span<const RawWay> write_ways() { return ways; }
const RawWay& way_of_dd() { return as_dd; }

Result<RawCost> raw_write(const std::string& path, const RawSource& source, const RawWay& way) {
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(from, store.open(source.path, sys::Access::read));
    const auto start = sys::Clock::now();
    const auto cpu_before = sys::cpu_time();
    FB_TRY_ASSIGN(to, store.open(path, way.direct ? sys::Access::create_direct : sys::Access::create));
    if (way.reserved) to->reserve(0, source.bytes.size());
    RawBlocks blocks(*from, *to, source.bytes, way);
    sys::work_together(static_cast<std::uint64_t>(way.threads), [&] { blocks.work(); });
    FB_TRY(blocks.outcome());
    FB_TRY(to->sync());
    FB_TRY(to->close());
    return RawCost{std::chrono::duration<double>(sys::Clock::now() - start).count(),
                   std::chrono::duration<double>(sys::cpu_time() - cpu_before).count()};
}

Result<RawCost> timed_raw_write(Ranks& ranks, const std::string& path, const RawSource& source, const RawWay& way) {
    RawCost cost;
    Result<> own_result;
    ranks.rest();
    if (ranks.node().rank() == 0) {
        const auto own = path + "." + std::to_string(ranks.rank());
        const auto written = raw_write(own, source, way);
        if (written) cost = *written;
        else own_result = written.error();
        if (const auto removed = sys::posix_store().remove(own); own_result) own_result = removed;
    }
    ranks.rest();
    FB_TRY(ranks.agree(own_result));
    return RawCost{ranks.max(cost.seconds), ranks.max(cost.cpu_seconds)};
}

std::size_t RawSamples::best() const {
    std::size_t best = 0;
    for (std::size_t way = 1; way < samples_.size(); ++way)
        if (spread_of(samples_[way]).median < spread_of(samples_[best]).median) best = way;
    return best;
}

}  // namespace forebay::bench
