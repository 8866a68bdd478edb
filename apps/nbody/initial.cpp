#include "initial.hpp"

#include <cmath>
#include <complex>
#include <numbers>

#include "cic.hpp"
#include "cosmology.hpp"
#include "mesh.hpp"
#include "migrate.hpp"
#include "random.hpp"
#include "spectrum.hpp"
#include "wrap.hpp"

namespace nbody {

namespace {

using Mode = std::complex<double>;

/// A complex Gaussian number with <|g|^2> = 1. g(-k) = conj(g(k)), so the field is real.
Mode gaussian(std::uint64_t seed, std::int64_t kx, std::int64_t ky, std::int64_t kz) {
    const bool mirrored = kz < 0 || (kz == 0 && (ky < 0 || (ky == 0 && kx < 0)));
    if (mirrored) return std::conj(gaussian(seed, -kx, -ky, -kz));
    std::uint64_t bits = mix(seed, static_cast<std::uint64_t>(kx));
    bits = mix(bits, static_cast<std::uint64_t>(ky));
    bits = mix(bits, static_cast<std::uint64_t>(kz));
    const double radius = std::sqrt(-std::log(unit_interval(mix(bits, 1))));
    return std::polar(radius, 2 * std::numbers::pi * unit_interval(mix(bits, 2)));
}

/// Fills `fourier` with the displacement along one axis: real values, linear at a = 1, in cells.
void displacement(const Parameters& parameters, const Spectrum& spectrum, int axis, Fourier& fourier) {
    const double volume = std::pow(parameters.box_mpc, 3);
    const double k_unit = 2 * std::numbers::pi / parameters.box_mpc;
    const double cells_a_radian = static_cast<double>(parameters.mesh) / (2 * std::numbers::pi);
    // The particle lattice carries no waves shorter than two of its spacings.
    const std::int64_t k_end = (std::min(parameters.mesh, parameters.particles) + 1) / 2;
    fourier.each_mode([&](auto kx, auto ky, auto kz, Mode& mode) {
        mode = 0;
        const auto k2 = static_cast<double>(kx * kx + ky * ky + kz * kz);
        if (k2 == 0 || std::abs(kx) >= k_end || std::abs(ky) >= k_end || kz >= k_end) return;
        const double amplitude = std::sqrt(spectrum.power(k_unit * std::sqrt(k2)) / volume);
        const double along = static_cast<double>(axis == 0 ? kx : axis == 1 ? ky : kz);
        mode = Mode(0, along / k2 * cells_a_radian) * amplitude * gaussian(parameters.seed, kx, ky, kz);
    });
    fourier.backward();
}

Mesh displacements(const Slab& slab, const Parameters& parameters, Fourier& fourier) {
    const Spectrum spectrum(0.96, 0.25, parameters.sigma_8);
    Mesh shifts(slab, 0, 1, 3);
    for (int axis = 0; axis < 3; ++axis) {
        displacement(parameters, spectrum, axis, fourier);
        for (std::int64_t x = 0; x < slab.planes; ++x)
            for (std::int64_t y = 0; y < slab.mesh; ++y)
                for (std::int64_t z = 0; z < slab.mesh; ++z) shifts.at(x, y, z)[axis] = fourier.real(x, y, z);
    }
    shifts.fill_halo(slab);
    return shifts;
}

void append(const Parameters& parameters, const std::array<double, 3>& site, const std::array<double, 3>& shift,
            std::int64_t id, Particles& particles) {
    const double a = parameters.a_first, momentum = growth_momentum(a);
    particles.x.push_back(wrap(site[0] + a * shift[0], parameters.mesh));
    particles.y.push_back(wrap(site[1] + a * shift[1], parameters.mesh));
    particles.z.push_back(wrap(site[2] + a * shift[2], parameters.mesh));
    particles.vx.push_back(static_cast<float>(momentum * shift[0]));
    particles.vy.push_back(static_cast<float>(momentum * shift[1]));
    particles.vz.push_back(static_cast<float>(momentum * shift[2]));
    particles.phi.push_back(0);
    particles.id.push_back(id);
    particles.mask.push_back(0);
}

}  // namespace

Particles initial_particles(const Slab& slab, const Parameters& parameters, Fourier& fourier) {
    const Mesh shifts = displacements(slab, parameters, fourier);
    const std::int64_t n = parameters.particles;
    const double spacing = static_cast<double>(slab.mesh) / static_cast<double>(n);
    Particles particles;
    for (std::int64_t i = 0; i < n; ++i) {
        const double x = static_cast<double>(i) * spacing;
        if (x < static_cast<double>(slab.lo) || x >= static_cast<double>(slab.hi())) continue;
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t k = 0; k < n; ++k) {
                const std::array site{x, static_cast<double>(j) * spacing, static_cast<double>(k) * spacing};
                const auto shift = vector_at(shifts, Cloud(slab, site[0], site[1], site[2]));
                append(parameters, site, shift, (i * n + j) * n + k, particles);
            }
    }
    migrate(slab, particles);
    return particles;
}

}  // namespace nbody
