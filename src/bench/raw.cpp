#include "bench/raw.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/try.hpp"
#include "bench/spread.hpp"
#include "sys/clock.hpp"
#include "sys/store.hpp"
#include "sys/thread.hpp"

namespace forebay::bench {

namespace {

constexpr std::uint64_t mib = 1u << 20;
constexpr std::array<RawWay, 6> ways{{{"direct_16x1", "raw write, O_DIRECT, 16 MiB x 1", 16 * mib, 1, true},
                                      {"direct_16x2", "raw write, O_DIRECT, 16 MiB x 2", 16 * mib, 2, true},
                                      {"direct_64x1", "raw write, O_DIRECT, 64 MiB x 1", 64 * mib, 1, true},
                                      {"direct_64x2", "raw write, O_DIRECT, 64 MiB x 2", 64 * mib, 2, true},
                                      {"buffered_16x1", "raw write, buffered, 16 MiB x 1", 16 * mib, 1, false},
                                      {"buffered_16x2", "raw write, buffered, 16 MiB x 2", 16 * mib, 2, false}}};

}  // namespace

std::span<const RawWay> write_ways() { return ways; }

Result<double> raw_write(const std::string& path, std::span<const std::byte> bytes, const RawWay& way) {
    const auto start = sys::Clock::now();
    FB_TRY_ASSIGN(file, sys::posix_store().open(path, way.direct ? sys::Access::create_direct : sys::Access::create));
    std::atomic<std::uint64_t> next{0};
    std::vector<Result<>> ends(static_cast<std::size_t>(way.threads));
    const auto work = [&](std::size_t thread) {
        for (auto at = next.fetch_add(way.block_bytes); at < bytes.size() && ends[thread];
             at = next.fetch_add(way.block_bytes))
            ends[thread] =
                file->write(at, bytes.subspan(at, std::min<std::uint64_t>(way.block_bytes, bytes.size() - at)));
    };
    std::vector<sys::Thread> helpers;
    for (std::size_t thread = 1; thread < ends.size(); ++thread) {
        FB_TRY_ASSIGN(helper, sys::Thread::start([&work, thread] { work(thread); }));
        helpers.push_back(std::move(helper));
    }
    work(0);
    helpers.clear();  // joins
    for (const auto& end : ends) FB_TRY(end);
    FB_TRY(file->sync());
    FB_TRY(file->close());
    return std::chrono::duration<double>(sys::Clock::now() - start).count();
}

Result<double> timed_raw_write(Ranks& ranks, const std::string& path, std::span<const std::byte> bytes,
                               const RawWay& way) {
    double seconds = 0;
    Result<> own_result;
    ranks.rest();
    if (ranks.node().rank() == 0) {
        const auto own = path + "." + std::to_string(ranks.rank());
        const auto written = raw_write(own, bytes, way);
        if (written) seconds = *written;
        else own_result = written.error();
        if (const auto removed = sys::posix_store().remove(own); own_result) own_result = removed;
    }
    ranks.rest();
    FB_TRY(ranks.agree(own_result));
    return ranks.max(seconds);
}

std::size_t RawSamples::best() const {
    std::size_t best = 0;
    for (std::size_t way = 1; way < samples_.size(); ++way)
        if (spread_of(samples_[way]).median < spread_of(samples_[best]).median) best = way;
    return best;
}

}  // namespace forebay::bench
