// How hard to compress: as hard as the time there is allows, learnt chunk by chunk. Pure arithmetic, without a clock.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/codec/codec.hpp"

namespace forebay::drain {

/// One way to store a chunk: by Blosc at some level, by another filter (`level` means nothing then), or as it is.
struct Effort {
    bool plain = false;
    codec::Level level;
    /// "lz4 5", "zstd 3", "as it is".
    std::string name() const;
};

/// The efforts that one variable may be given, the cheapest first, and what each was seen to cost and to gain.
class Ladder {
public:
    explicit Ladder(const Compression& rule);

    /// The rung for the next chunk: of those that fit the time, the one that leaves the fewest bytes; a rung that was
    /// never tried is tried when its cost, guessed from the one below, fits. Where none fits, the fastest.
    /// `seconds_a_byte` is the time there is for a plain byte, nothing when it is not known: then the cheapest rung
    /// that compresses. `write_seconds` is what a stored byte costs. All are of one thread.
    std::size_t choose(std::optional<double> seconds_a_byte, double write_seconds) const;

    /// What a chunk took at a rung.
    void took(std::size_t rung, std::uint64_t plain_bytes, std::uint64_t stored_bytes, double seconds);

    const Effort& operator[](std::size_t rung) const { return rungs_[rung].effort; }
    std::size_t size() const { return rungs_.size(); }

private:
    struct Rung {
        Effort effort;
        bool known = false;
        double seconds = 0;  // a plain byte
        double ratio = 1;    // stored bytes a plain byte
    };
    double cost(const Rung& rung, double write_seconds) const { return rung.seconds + rung.ratio * write_seconds; }

    std::vector<Rung> rungs_;
};

}  // namespace forebay::drain
