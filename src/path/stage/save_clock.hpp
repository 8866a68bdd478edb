// Splits the time of one save on one rank into copying, layout, waiting for other ranks, and waiting for a slot. Each
// moment from the begin on belongs to exactly one of them, so the parts add up to the whole, to the microsecond.
//
// Life: restart() -> lap() after each piece of work -> pieces(). No call allocates.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <span>

#include "core/format/timing.hpp"
#include "core/sys/clock.hpp"

namespace forebay::stage {

class SaveClock {
public:
    /// From `start` to `end` after the begin of the save.
    struct Piece {
        format::TimingKind kind = format::TimingKind::agree;
        std::chrono::microseconds start{0}, end{0};
        std::chrono::microseconds length() const { return end - start; }
    };

    void restart(sys::Clock::time_point now) {
        began_ = now;
        count_ = 0;
        end_ = {};
    }
    sys::Clock::time_point began() const { return began_; }

    /// Adds the time since the last lap, or since the begin, to `kind`.
    void lap(format::TimingKind kind, sys::Clock::time_point now = sys::Clock::now()) { add(kind, whole(now)); }
    struct Part {
        format::TimingKind kind = format::TimingKind::agree;
        std::chrono::nanoseconds length{0};
    };
    /// The same, but the last part of that time goes to `parts`, in this order. If they are longer than that time, the
    /// last part comes first. Returns the time given to `parts`.
    std::chrono::nanoseconds lap(format::TimingKind before, std::initializer_list<Part> parts,
                                 sys::Clock::time_point now = sys::Clock::now());

    /// From the begin to the last lap: the sum over pieces().
    std::chrono::microseconds total() const { return end_; }
    /// In order of time, without a gap. Neighbours of one kind are one piece.
    std::span<const Piece> pieces() const { return std::span(pieces_).first(count_); }

private:
    std::chrono::microseconds whole(sys::Clock::time_point now) const {
        return std::chrono::duration_cast<std::chrono::microseconds>(now - began_);
    }
    void add(format::TimingKind kind, std::chrono::microseconds end);

    sys::Clock::time_point began_;
    std::chrono::microseconds end_{0};
    // A save has eight at most. After a long wait for a slot it has two more for each time that it asked the other
    // nodes. If there is no room, a piece is merged into the last piece.
    std::array<Piece, 16> pieces_;
    std::size_t count_ = 0;
};

}  // namespace forebay::stage
