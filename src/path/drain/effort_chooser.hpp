// Chooses the effort for the chunks of one file, by the ladders of its variables and the remaining time. Any number of
// threads may call it at once.

#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "core/sys/clock.hpp"
#include "path/drain/effort.hpp"

namespace forebay::drain {

class EffortChooser {
public:
    /// From now on there are `seconds_left` for `plain_bytes`; empty: unknown. `ladders` must outlive it.
    EffortChooser(std::vector<Ladder>& ladders, std::optional<double> seconds_left, std::uint64_t plain_bytes,
                  int threads)
        : seconds_left_(seconds_left), threads_(threads), ladders_(ladders), plain_left_(plain_bytes) {}

    struct Choice {
        std::size_t rung = 0;
        Effort effort;
    };
    /// For the next chunk of a variable; `write_seconds` as in Ladder::choose().
    Choice choose(std::uint32_t variable, double write_seconds) const;
    /// As Ladder::took().
    void took(std::uint32_t variable, std::size_t rung, std::uint64_t plain_bytes, std::uint64_t stored_bytes,
              double seconds);
    /// Call it when this number of bytes is done, with any effort.
    void done(std::uint64_t plain_bytes);

private:
    std::optional<double> time_a_byte() const;

    const sys::Clock::time_point start_ = sys::Clock::now();
    const std::optional<double> seconds_left_;  // at the start
    const int threads_;

    mutable std::mutex mutex_;  // guards the members below
    std::vector<Ladder>& ladders_;
    std::uint64_t plain_left_;
};

}  // namespace forebay::drain
