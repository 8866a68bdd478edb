// A periodic domain: positions run from 0 up to its length. Pure functions.

#pragma once

#include <array>
#include <cmath>

namespace forebay::insitu {

/// Wraps a finite position into [0, length); -0 becomes 0. If rounding gives the length itself, as for -1e-30, the
/// result is 0.
inline double wrapped(double position, double length) {
    if (position >= 0 && position < length) return position + 0.0;
    const auto rest = std::fmod(position, length);
    const auto place = rest < 0 ? rest + length : rest;
    return place < length ? place + 0.0 : 0.0;
}

/// The offset from one place in [0, length) to the nearest image of another, in [-length/2, length/2].
inline double nearest_offset(double from, double to, double length) {
    const auto offset = to - from;
    if (offset > length / 2) return offset - length;
    if (offset < -length / 2) return offset + length;
    return offset;
}

}  // namespace forebay::insitu
