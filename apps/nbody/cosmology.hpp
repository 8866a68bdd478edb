// The Einstein-de Sitter background, in units of H0 = 1 and of one mesh cell.
//
// Momenta are p = a^2 dx/dt (the columns vx, vy, vz). The potential is psi, with laplace(psi) = 1.5 delta. Then
// dp/dt = -grad(psi) / a and dx/dt = p / a^2. With da/dt = a^(-1/2) both factors integrate exactly.

#pragma once

#include <cmath>

namespace nbody {

/// The integral of dt / a.
inline double kick_factor(double a_from, double a_to) { return 2 * (std::sqrt(a_to) - std::sqrt(a_from)); }

/// The integral of dt / a^2.
inline double drift_factor(double a_from, double a_to) { return 2 / std::sqrt(a_from) - 2 / std::sqrt(a_to); }

/// The growing mode's momentum for a displacement of 1 at a = 1.
inline double growth_momentum(double a) { return a * std::sqrt(a); }

inline double cosmic_time(double a) { return 2.0 / 3.0 * a * std::sqrt(a); }

}  // namespace nbody
