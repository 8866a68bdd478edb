// A domain that repeats itself: positions from 0 up to its length. Pure.

#pragma once

#include <array>
#include <cmath>

namespace forebay::insitu {

/// The place in [0, length) that a finite position stands for; -0 becomes 0. What rounds to the length itself, as
/// -1e-30 does, is at 0.
inline double wrapped(double position, double length) {
    if (position >= 0 && position < length) return position + 0.0;
    const auto rest = std::fmod(position, length);
    const auto place = rest < 0 ? rest + length : rest;
    return place < length ? place + 0.0 : 0.0;
}

/// From one place in [0, length) to the nearest image of another: in [-length/2, length/2].
inline double nearest_offset(double from, double to, double length) {
    const auto offset = to - from;
    if (offset > length / 2) return offset - length;
    if (offset < -length / 2) return offset + length;
    return offset;
}

}  // namespace forebay::insitu
