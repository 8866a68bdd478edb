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
    bool reserved = false;  // the room is asked for before the first write
    bool copied = false;    // each block is read(2) into a buffer first, as dd does
};

/// What is written: a file on the node, whole pages of it, and where it is mapped.
struct RawSource {
    std::string path;
    std::span<const std::byte> bytes;
};

struct RawCost {
    double seconds = 0, cpu_seconds = 0;
};

/// Ways that one process a node may write a new file; the best is the limit.
std::span<const RawWay> write_ways();
/// What the CPU time of a drain is compared with: as `dd oflag=direct bs=16M` does, each byte is read once by the CPU.
const RawWay& way_of_dd();

/// Writes the source to a new file, syncs and closes it. By one process a node.
Result<RawCost> raw_write(const std::string& path, const RawSource& source, const RawWay& way);

/// raw_write by the first rank of each node while the others sleep; the slowest node counts. Collective.
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
