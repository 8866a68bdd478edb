// The limits of a target: the same bytes written and synced, or read, without other work.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/ranks.hpp"

namespace forebay::bench {

/// A way to write or read a file from begin to end.
struct RawWay {
    const char* key;
    const char* what;
    std::uint64_t block_bytes;
    int threads;
    bool direct;
    bool reserved = false;  // reserves the room before the first write
    bool copied = false;    // each block is first read(2) into a buffer, as dd does
};

/// The bytes to write: a file on the node, in whole pages, and its mapping.
struct RawSource {
    std::string path;
    std::span<const std::byte> bytes;
};

struct RawCost {
    double seconds = 0, cpu_seconds = 0;
};

/// Ways in which one process of a node may write a new file. The best is the limit.
std::span<const RawWay> write_ways();
/// Reference for a drain's CPU time: like `dd oflag=direct bs=16M`, where the CPU reads each byte once.
const RawWay& way_of_dd();

/// Writes the source to a new file, syncs and closes it. One process on each node.
Result<RawCost> raw_write(const std::string& path, const RawSource& source, const RawWay& way);

/// raw_write by the first rank of each node while other ranks sleep. The slowest node counts. Collective.
Result<RawCost> timed_raw_write(Ranks& ranks, const std::string& path, const RawSource& source, const RawWay& way);

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
