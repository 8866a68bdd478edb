#include "path/drain/effort.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace forebay::drain {

namespace {

// The weight of a new measurement. The ladder follows changing data within about ten chunks.
constexpr double new_weight = 0.2;
// The expected cost of the next rung, as a multiple of the rung below. zstd's levels differ by 1.2 to 2.
constexpr double next_cost = 2;
// A more expensive rung is worth its time if it leaves less than this part of the bytes.
constexpr double worth = 0.995;

// Blosc's zstd levels are zstd's 1, 3, 5 ... 15. Its 9 is zstd's 22: tens of times slower than 8 for a few per cent.
constexpr int zstd_level_max = 8;

}  // namespace

std::string Effort::name() const {
    if (plain) return "as it is";
    return fmt::format("{} {}", level.codec == Codec::zstd ? "zstd" : "lz4", level.number);
}

Ladder::Ladder(const Compression& rule) {
    const auto add = [&](Codec codec, int number) { rungs_.push_back({.effort = {false, {codec, number}}}); };
    if (rule.level > 0) {
        add(rule.codec, rule.level);
        return;
    }
    if (rule.codec == Codec::automatic) {
        rungs_.push_back({.effort = {.plain = true}, .known = true});
        add(Codec::lz4, 5);
    }
    if (rule.codec == Codec::lz4)
        for (const int number : {1, 5, 9}) add(Codec::lz4, number);
    if (rule.codec != Codec::lz4)
        for (int number = 1; number <= zstd_level_max; ++number) add(Codec::zstd, number);
}

std::size_t Ladder::choose(std::optional<double> seconds_a_byte, double write_seconds) const {
    if (!seconds_a_byte) return rungs_.front().effort.plain && rungs_.size() > 1 ? 1 : 0;
    std::optional<std::size_t> best;
    std::size_t fastest = 0;
    for (std::size_t i = 0; i < rungs_.size(); ++i) {
        const auto& rung = rungs_[i];
        if (!rung.known) {
            // Costs rise from rung to rung, so only the first unknown rung is worth a guess.
            const double guess = i == 0 ? 0 : rungs_[i - 1].seconds * next_cost + rungs_[i - 1].ratio * write_seconds;
            return guess <= *seconds_a_byte || i <= 1 ? i : best.value_or(fastest);
        }
        if (cost(rung, write_seconds) < cost(rungs_[fastest], write_seconds)) fastest = i;
        if (cost(rung, write_seconds) > *seconds_a_byte) continue;
        if (!best || rung.ratio < rungs_[*best].ratio * worth) best = i;
    }
    return best.value_or(fastest);
}

void Ladder::took(std::size_t index, std::uint64_t plain_bytes, std::uint64_t stored_bytes, double seconds) {
    if (plain_bytes == 0) return;
    auto& rung = rungs_[index];
    const double weight = rung.known ? new_weight : 1;
    rung.known = true;
    const auto bytes = static_cast<double>(plain_bytes);
    rung.seconds += weight * (seconds / bytes - rung.seconds);
    rung.ratio += weight * (static_cast<double>(stored_bytes) / bytes - rung.ratio);
}

}  // namespace forebay::drain
