#include "cic.hpp"

namespace nbody {

namespace {

void split(double place, std::int64_t mesh, std::array<std::int64_t, 2>& cells, std::array<double, 2>& weights) {
    const auto cell = static_cast<std::int64_t>(place);
    const double above = place - static_cast<double>(cell);
    cells = {cell, cell + 1 == mesh ? 0 : cell + 1};
    weights = {1 - above, above};
}

}  // namespace

Cloud::Cloud(const Slab& slab, double px, double py, double pz) {
    split(px, slab.mesh, x, weight_x);
    x = {x[0] - slab.lo, x[0] - slab.lo + 1};  // the plane above is the slab's halo plane, even at the box's end
    split(py, slab.mesh, y, weight_y);
    split(pz, slab.mesh, z, weight_z);
}

void deposit(const Slab& slab, const Particles& particles, Mesh& mass) {
    mass.clear();
    for (std::size_t row = 0; row < particles.size(); ++row)
        Cloud(slab, particles.x[row], particles.y[row], particles.z[row])
            .each_corner([&](auto x, auto y, auto z, double weight) { *mass.at(x, y, z) += weight; });
    mass.add_halo_above(slab);
}

double value_at(const Mesh& mesh, const Cloud& cloud) {
    double sum = 0;
    cloud.each_corner([&](auto x, auto y, auto z, double weight) { sum += weight * *mesh.at(x, y, z); });
    return sum;
}

std::array<double, 3> vector_at(const Mesh& mesh, const Cloud& cloud) {
    std::array<double, 3> sum{};
    cloud.each_corner([&](auto x, auto y, auto z, double weight) {
        const double* value = mesh.at(x, y, z);
        for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += weight * value[axis];
    });
    return sum;
}

}  // namespace nbody
