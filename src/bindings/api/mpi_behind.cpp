#include "bindings/api/mpi_behind.hpp"

#include <vector>

#include "core/comm/mpi_group.hpp"
#include "forebay/mpi.hpp"

namespace forebay::behind {

namespace {

// The ranks of `comm`, as numbers in the world.
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

}  // namespace

SessionRanks ranks_of(MPI_Comm comm) {
    return {{.world = comm::mpi_group(comm), .key = key_of(comm)},
            [comm](const Options& options) { return forebay::open(comm, options); }};
}

// MPI_Finalize deletes the attributes of MPI_COMM_SELF first (MPI 4.1, 11.2.4).
void at_finalize(void (*finish)()) {
    const auto deleted = [](MPI_Comm, int, void*, void* state) {
        reinterpret_cast<void (*)()>(state)();
        return MPI_SUCCESS;
    };
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &key, reinterpret_cast<void*>(finish));
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
}

}  // namespace forebay::behind
