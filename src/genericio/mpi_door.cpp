// The class with MPI: its constructor, and the end of MPI, at which files that are still being made are waited for.

#include <mpi.h>

#include <cstdio>

#include "comm/mpi_group.hpp"
#include "forebay/mpi.hpp"
#include "genericio/door.hpp"
#include "genericio/pending.hpp"

namespace gio {

namespace own = forebay::genericio;

namespace {

// The ranks of `comm` as the world counts them.
std::string key_of(MPI_Comm comm) {
    MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Comm_group(comm, &group);
    int size = 0;
    MPI_Group_size(group, &size);
    std::vector<int> ranks(static_cast<std::size_t>(size)), in_world(ranks.size());
    for (int rank = 0; rank < size; ++rank) ranks[static_cast<std::size_t>(rank)] = rank;
    MPI_Group_translate_ranks(group, size, ranks.data(), world, in_world.data());
    MPI_Group_free(&world);
    MPI_Group_free(&group);
    std::string key;
    for (const int rank : in_world) key += std::to_string(rank) + ",";
    return key;
}

int at_finalize(MPI_Comm, int, void*, void*) {
    const auto finished = own::finish_all(own::Which::by_ranks);
    // MPI_Finalize has no answer of its own to give.
    if (!finished) std::fprintf(stderr, "%s\n", finished.error().text.c_str());
    return MPI_SUCCESS;
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF before all else, while MPI still works (MPI 4.1, 11.2.4).
void finish_at_finalize() {
    static const int key = [] {
        int made = MPI_KEYVAL_INVALID;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &made, nullptr);
        MPI_Comm_set_attr(MPI_COMM_SELF, made, nullptr);
        return made;
    }();
    static_cast<void>(key);
}

own::Ranks ranks_of(MPI_Comm comm) {
    own::Ranks ranks;
    ranks.world = forebay::comm::mpi_group(comm);
    ranks.key = key_of(comm);
    ranks.open = [comm](const forebay::Options& options) { return forebay::open(comm, options); };
    int topology = MPI_UNDEFINED, count = 0;
    MPI_Topo_test(comm, &topology);
    if (topology == MPI_CART) MPI_Cartdim_get(comm, &count);
    if (count != 3) return ranks;
    int dims[3], periods[3], coords[3];
    MPI_Cart_get(comm, 3, dims, periods, coords);
    ranks.is_grid = true;
    for (std::size_t d = 0; d < 3; ++d) {
        ranks.dims[d] = static_cast<std::uint64_t>(dims[d]);
        ranks.coords[d] = static_cast<std::uint64_t>(coords[d]);
    }
    return ranks;
}

}  // namespace

GenericIO::GenericIO(const MPI_Comm& comm, const std::string& file, unsigned) : state_(new State) {
    finish_at_finalize();
    state_->data = make_data(ranks_of(comm), file);
}

int world_rank() {
    int rank = 0, is_initialised = 0;
    MPI_Initialized(&is_initialised);
    if (is_initialised != 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

}  // namespace gio
