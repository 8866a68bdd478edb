#include "poisson.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace nbody {

void overdensity_modes(const Slab& slab, const Mesh& mass, double mean, Fourier& fourier) {
    for (std::int64_t x = 0; x < slab.planes; ++x)
        for (std::int64_t y = 0; y < slab.mesh; ++y) {
            const double* row = mass.at(x, y, 0);
            for (std::int64_t z = 0; z < slab.mesh; ++z) fourier.real(x, y, z) = row[z] / mean - 1;
        }
    fourier.forward();
}

// Short waves lose force three times: twice to the cloud, as sinc(k/2)^4 or 1 - k^2/6 along each axis, and once to the
// central difference, as sin(k)/k. The source and `laplace` give both back to the order k^2, so modes of linear growth
// keep their pace.
double solve_potential(const Slab& slab, const Mesh& mass, double mean, Fourier& fourier, Mesh& psi) {
    overdensity_modes(slab, mass, mean, fourier);

    const auto mesh = slab.mesh;
    const auto cells = static_cast<double>(mesh * mesh * mesh);
    std::vector<double> laplace(static_cast<std::size_t>(mesh / 2 + 1)), sharpen(laplace.size()),
        square(laplace.size());
    for (std::size_t k = 0; k < laplace.size(); ++k) {
        const double half_radian = std::numbers::pi * static_cast<double>(k) / static_cast<double>(mesh);
        const double star = 4 * std::sin(half_radian) * std::sin(half_radian);  // k^2 - k^4/12
        laplace[k] = star * (1 - star / 12);  // k sin(k), and positive up to the shortest wave
        sharpen[k] = star / 6;
        square[k] = 4 * half_radian * half_radian;
    }
    double energy = 0;
    fourier.each_mode([&](auto kx, auto ky, auto kz, auto& mode) {
        const std::size_t x = std::abs(kx), y = std::abs(ky), z = kz;
        const double k2 = square[x] + square[y] + square[z];
        if (k2 == 0) {
            mode = 0;
            return;
        }
        const double source = -1.5 * (1 + sharpen[x] + sharpen[y] + sharpen[z]) / cells;
        const double weight = kz == 0 || 2 * kz == mesh ? 1 : 2;  // the other half is conjugate
        energy += 0.5 * weight * std::norm(mode) * source / k2;
        mode *= source / (laplace[x] + laplace[y] + laplace[z]);
    });
    fourier.backward();

    for (std::int64_t x = 0; x < slab.planes; ++x)
        for (std::int64_t y = 0; y < mesh; ++y) {
            double* row = psi.at(x, y, 0);
            for (std::int64_t z = 0; z < mesh; ++z) row[z] = fourier.real(x, y, z);
        }
    psi.fill_halo(slab);
    return energy;
}

void differentiate(const Slab& slab, const Mesh& psi, Mesh& gradient) {
    const auto mesh = slab.mesh;
    for (std::int64_t x = 0; x < slab.planes; ++x)
        for (std::int64_t y = 0; y < mesh; ++y) {
            const auto y_below = y > 0 ? y - 1 : mesh - 1, y_above = y + 1 < mesh ? y + 1 : 0;
            const double* row = psi.at(x, y, 0);
            for (std::int64_t z = 0; z < mesh; ++z) {
                const auto z_below = z > 0 ? z - 1 : mesh - 1, z_above = z + 1 < mesh ? z + 1 : 0;
                double* value = gradient.at(x, y, z);
                value[0] = 0.5 * (*psi.at(x + 1, y, z) - *psi.at(x - 1, y, z));
                value[1] = 0.5 * (*psi.at(x, y_above, z) - *psi.at(x, y_below, z));
                value[2] = 0.5 * (row[z_above] - row[z_below]);
            }
        }
    gradient.fill_halo(slab);
}

}  // namespace nbody
