// Chooses how hard to compress: as hard as the available time allows, learnt chunk by chunk. Pure arithmetic without a
// clock.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/codec/codec.hpp"

namespace forebay::drain {

/// One way to store a chunk: by Blosc at a level, by another filter (without a level), or plain.
struct Effort {
    bool plain = false;
    codec::Level level;
    /// "lz4 5", "zstd 3", "as it is".
    std::string name() const;
};

/// The efforts for one variable, cheapest first, with the measured cost and gain of each.
class Ladder {
public:
    explicit Ladder(const Compression& rule);

    /// The rung for the next chunk: among the rungs that fit the time, the rung with the fewest bytes. An untried rung
    /// is tried if its cost, estimated from the rung below, fits. If no rung fits, the fastest. `seconds_a_byte` is the
    /// available time for a plain byte; empty if unknown: then the cheapest rung that compresses. `write_seconds` is
    /// the cost of a stored byte. Both are for one thread.
    std::size_t choose(std::optional<double> seconds_a_byte, double write_seconds) const;

    /// Records the cost of a chunk at a rung.
    void took(std::size_t rung, std::uint64_t plain_bytes, std::uint64_t stored_bytes, double seconds);

    const Effort& operator[](std::size_t rung) const { return rungs_[rung].effort; }
    std::size_t size() const { return rungs_.size(); }

private:
    struct Rung {
        Effort effort;
        bool known = false;
        double seconds = 0;  // for a plain byte
        double ratio = 1;    // stored bytes for a plain byte
    };
    double cost(const Rung& rung, double write_seconds) const { return rung.seconds + rung.ratio * write_seconds; }

    std::vector<Rung> rungs_;
};

}  // namespace forebay::drain
