#define PARALLEL_IO  // of the header: its calls with a communicator are defined here

// The calls with a communicator, and the hook in MPI_Finalize that waits for unfinished files.

#include <mpi.h>

#include "bindings/api/mpi_behind.hpp"
#include "bindings/compat/h5part/file.hpp"
#include "bindings/compat/h5part/mpi_binding.hpp"

namespace forebay::h5part {

namespace {

void finish_all_by_ranks() { end_files("MPI_Finalize", made::Which::by_ranks); }

}  // namespace

H5PartFile* open_over(const char* name, char flags, MPI_Comm comm, h5part_int64_t align) {
    constexpr auto function = "H5PartOpenFileParallel";
    int is_initialised = 0;
    MPI_Initialized(&is_initialised);
    if (is_initialised == 0 || comm == MPI_COMM_NULL) {
        fail(function, H5PART_ERR_MPI, {ErrorKind::refused, "MPI is not initialised, or there is no communicator."});
        return nullptr;
    }
    static const bool once = (behind::at_finalize(finish_all_by_ranks), true);
    static_cast<void>(once);
    return open_file(function, name, flags, behind::ranks_of(comm), align);
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
