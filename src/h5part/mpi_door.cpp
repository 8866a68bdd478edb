#define PARALLEL_IO  // of the header: its calls with a communicator are defined here

// The calls that take a communicator, and the end of MPI, at which files that are still being made are waited for.

#include <mpi.h>

#include <vector>

#include "comm/mpi_group.hpp"
#include "forebay/mpi.hpp"
#include "h5part/file.hpp"
#include "h5part/mpi_door.hpp"

namespace forebay::h5part {

namespace {

// The ranks of `comm` as the world counts them: equal for communicators of the same processes.
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
    const auto finished = finish_all(Opened::by_ranks);
    if (!finished) fail("MPI_Finalize", code_of(finished.error().kind), finished.error().text);
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

}  // namespace

H5PartFile* open_over(const char* name, char flags, MPI_Comm comm, h5part_int64_t align) {
    constexpr auto function = "H5PartOpenFileParallel";
    int is_initialised = 0;
    MPI_Initialized(&is_initialised);
    if (is_initialised == 0 || comm == MPI_COMM_NULL) {
        fail(function, H5PART_ERR_MPI, "forebay: MPI is not initialised, or there is no communicator.");
        return nullptr;
    }
    finish_at_finalize();
    const Ranks ranks{.world = comm::mpi_group(comm), .key = key_of(comm), .open = [comm](const Options& options) {
                          return forebay::open(comm, options);
                      }};
    return open_file(function, name, flags, ranks, align);
}

}  // namespace forebay::h5part

extern "C" {

H5PartFile* H5PartOpenFileParallel(const char* filename, const char flags, MPI_Comm communicator) {
    return forebay::h5part::open_over(filename, flags, communicator, 0);
}

H5PartFile* H5PartOpenFileParallelAlign(const char* filename, const char flags, MPI_Comm communicator,
                                        h5part_int64_t align) {
    return forebay::h5part::open_over(filename, flags, communicator, align);
}

}  // extern "C"
