// The periodic box, in the precision of the particles.

#pragma once

#include <cmath>
#include <cstdint>

namespace nbody {

/// A place in [0, mesh). In f32 a place just below 0 rounds up to mesh, so it becomes 0.
inline float wrap(double place, std::int64_t mesh) {
    const auto width = static_cast<double>(mesh);
    const auto inside = static_cast<float>(place - width * std::floor(place / width));
    return inside < static_cast<float>(mesh) ? inside : 0.0f;
}

}  // namespace nbody
