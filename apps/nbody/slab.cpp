#include "slab.hpp"

namespace nbody {

// No MPI_Allreduce: its order of summation belongs to the library, and may change with size and topology.
void sum_over_ranks(const Slab& slab, std::vector<double>& values) {
    const auto count = static_cast<int>(values.size());
    std::vector<double> all(values.size() * static_cast<std::size_t>(slab.ranks));
    MPI_Allgather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, slab.comm);
    std::fill(values.begin(), values.end(), 0.0);
    for (std::size_t i = 0; i < all.size(); ++i) values[i % values.size()] += all[i];
}

}  // namespace nbody
