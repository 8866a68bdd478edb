// Group over an MPI communicator, which is duplicated and freed with the object. MPI's own error handler stays as the
// application set it on the communicator it gave us.

#pragma once

#include <mpi.h>

#include <memory>

#include "core/comm/group.hpp"

namespace forebay::comm {

/// Duplicates `comm`. Collective over it. Throws bad_alloc on all ranks alike where one has no memory.
std::unique_ptr<Group> mpi_group(MPI_Comm comm);

/// The number of the calling rank in `comm`.
int rank_in(MPI_Comm comm);

/// `refused` before MPI_Init and after MPI_Finalize, where any other call of MPI would end the process.
Result<> check_mpi();

}  // namespace forebay::comm
