#include "mesh.hpp"

#include <algorithm>

namespace nbody {

namespace {
constexpr int tag_up = 1, tag_down = 2;
}

Mesh::Mesh(const Slab& slab, int halo_below, int halo_above, int components)
    : mesh_(slab.mesh), below_(halo_below), above_(halo_above), components_(components) {
    if (slab.planes > 0) values_.resize(index(slab.planes + above_, 0, 0));
}

void Mesh::clear() { std::fill(values_.begin(), values_.end(), 0.0); }

void Mesh::fill_halo(const Slab& slab) {
    if (slab.planes == 0) return;
    const int below = slab.owner(slab.lo - 1), above = slab.owner(slab.hi());
    if (above_ > 0)
        MPI_Sendrecv(at(0, 0, 0), plane_values(), MPI_DOUBLE, below, tag_down, at(slab.planes, 0, 0), plane_values(),
                     MPI_DOUBLE, above, tag_down, slab.comm, MPI_STATUS_IGNORE);
    if (below_ > 0)
        MPI_Sendrecv(at(slab.planes - 1, 0, 0), plane_values(), MPI_DOUBLE, above, tag_up, at(-1, 0, 0), plane_values(),
                     MPI_DOUBLE, below, tag_up, slab.comm, MPI_STATUS_IGNORE);
}

// Each plane receives from exactly one neighbour, so the order of arrival cannot change the sum.
void Mesh::add_halo_above(const Slab& slab) {
    if (slab.planes == 0) return;
    std::vector<double> deposited(static_cast<std::size_t>(plane_values()));
    MPI_Sendrecv(at(slab.planes, 0, 0), plane_values(), MPI_DOUBLE, slab.owner(slab.hi()), tag_up, deposited.data(),
                 plane_values(), MPI_DOUBLE, slab.owner(slab.lo - 1), tag_up, slab.comm, MPI_STATUS_IGNORE);
    double* first = at(0, 0, 0);
    for (std::size_t i = 0; i < deposited.size(); ++i) first[i] += deposited[i];
}

}  // namespace nbody
