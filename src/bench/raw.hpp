// The limits of a target: the same bytes written and synced, or read, with nothing around it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/ranks.hpp"

namespace forebay::bench {

/// One way to write or read a file from front to back.
struct RawWay {
    const char* key;
    const char* what;
    std::uint64_t block_bytes;
    int threads;
    bool direct;
};

/// Ways that one process a node may write a new file; the best is the limit.
std::span<const RawWay> write_ways();

/// Writes `bytes` (whole pages) to a new file, syncs and closes it; the seconds. By one process a node.
Result<double> raw_write(const std::string& path, std::span<const std::byte> bytes, const RawWay& way);

/// raw_write by the first rank of each node while the others sleep; the slowest node counts. Collective.
Result<double> timed_raw_write(Ranks& ranks, const std::string& path, std::span<const std::byte> bytes,
                               const RawWay& way);

/// Seconds of several ways, measured in turns.
class RawSamples {
public:
    explicit RawSamples(std::span<const RawWay> ways) : ways_(ways), samples_(ways.size()) {}
    std::span<const RawWay> ways() const { return ways_; }
    void add(std::size_t way, double seconds) { samples_[way].push_back(seconds); }
    const std::vector<double>& of(std::size_t way) const { return samples_[way]; }
    /// The way with the smallest median.
    std::size_t best() const;

private:
    std::span<const RawWay> ways_;
    std::vector<std::vector<double>> samples_;
};

}  // namespace forebay::bench
