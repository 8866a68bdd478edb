// Cuts the mesh into whole planes along x, as FFTW does. Each rank has one run of neighbouring planes. The last ranks
// may have fewer planes, or none.

#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nbody {

class Slab {
public:
    Slab(MPI_Comm comm_in, std::int64_t mesh_in) : comm(comm_in), mesh(mesh_in) {
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
        block_ = (mesh + ranks - 1) / ranks;
        lo = std::min(rank * block_, mesh);
        planes = std::min((rank + 1) * block_, mesh) - lo;
    }
    std::int64_t hi() const { return lo + planes; }
    std::int64_t plane_cells() const { return mesh * mesh; }
    std::int64_t cells() const { return planes * plane_cells(); }
    /// The rank that owns a plane. Planes below 0 and from mesh on count periodically.
    int owner(std::int64_t plane) const { return static_cast<int>(((plane + mesh) % mesh) / block_); }

    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0;
    int ranks = 1;
    std::int64_t mesh = 0;
    std::int64_t lo = 0;
    std::int64_t planes = 0;

private:
    std::int64_t block_ = 0;
};

/// Sums each of `values` over the ranks, in rank order: the same number of ranks gives the same bits. Collective.
void sum_over_ranks(const Slab& slab, std::vector<double>& values);

}  // namespace nbody
