#include "path/stage/copy_threads.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/attempt.hpp"
#include "core/base/crc32c.hpp"
#include "core/sys/clock.hpp"

namespace forebay::stage {

namespace {

// The time of a try. The best of several tries counts, because a thread may meet a cold cache or a sleeping neighbour.
// The first try only makes the pages.
constexpr std::chrono::microseconds try_time{300};
constexpr int tries = 3;
// Larger than the private cache of most cores, so the data come from memory that cores share.
constexpr std::size_t from_bytes = 2u << 20;
constexpr std::size_t to_bytes = 1u << 20;
constexpr std::size_t piece_bytes = 256u << 10;
// Half the threads are enough if they reach this part of the rate.
constexpr double enough = 0.95;

class CopyRate {
public:
    explicit CopyRate(std::uint32_t threads_most) : memory_(threads_most), rates_(threads_most) {
        // Not written here: each part must be touched first by its copying thread.
        for (auto& pair : memory_)
            pair = {std::make_unique_for_overwrite<std::byte[]>(from_bytes),
                    std::make_unique_for_overwrite<std::byte[]>(to_bytes)};
    }

    /// Bytes a nanosecond, summed over all threads of the crew.
    double of(sys::Crew& crew) {
        const auto threads = crew.threads();
        double best = 0;
        for (int i = 0; i <= tries; ++i) {
            crew.each(threads, threads, [&](std::uint64_t thread) { rates_[thread] = copy(memory_[thread]); });
            if (i > 0) best = std::max(best, std::accumulate(rates_.begin(), rates_.begin() + threads, 0.0));
        }
        return best;
    }

private:
    struct Memory {
        std::unique_ptr<std::byte[]> from, to;
    };

    static double copy(const Memory& memory) {
        const auto end = sys::Clock::now() + try_time;
        const auto begin = sys::thread_time();
        std::uint64_t copied = 0;
        do {
            crc32c_copy(memory.to.get() + copied % to_bytes, memory.from.get() + copied % from_bytes, piece_bytes);
            copied += piece_bytes;
        } while (copied < from_bytes || sys::Clock::now() < end);
        const auto used = sys::thread_time() - begin;
        return static_cast<double>(copied) / static_cast<double>(std::max<std::int64_t>(used.count(), 1));
    }

    std::vector<Memory> memory_;
    std::vector<double> rates_;
};

std::unique_ptr<sys::Crew> fastest_crew(std::unique_ptr<sys::Crew> crew, const sys::CpuSet& cpus) {
    CopyRate rate(crew->threads());
    for (auto best = rate.of(*crew); crew->threads() > 1;) {
        auto half = std::make_unique<sys::Crew>(crew->threads() / 2, cpus);
        const auto half_rate = rate.of(*half);
        if (half_rate < enough * best) break;
        best = std::max(best, half_rate);
        crew = std::move(half);
    }
    return crew;
}

}  // namespace

sys::CpuSet cpus_alone(std::span<const sys::CpuSet> ranks, std::size_t rank) {
    auto cpus = ranks[rank];
    for (std::size_t other = 0; other < ranks.size(); ++other)
        if (other != rank) cpus &= ~ranks[other];
    return cpus;
}

MeasuredCrew crew_at_memory_limit(std::uint32_t threads, const sys::CpuSet& cpus) {
    MeasuredCrew measured{.crew = std::make_unique<sys::Crew>(1, cpus)};
    if (threads <= 1) return measured;
    measured.measured = attempt([&] {
        auto crew = std::make_unique<sys::Crew>(threads, cpus);
        if (crew->threads() > 1 && crew->shortage()) crew = fastest_crew(std::move(crew), cpus);
        measured.crew = std::move(crew);
    });
    return measured;
}

}  // namespace forebay::stage
