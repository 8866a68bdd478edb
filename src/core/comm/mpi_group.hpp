// Group over an MPI communicator, which is duplicated, and freed with the object. MPI's error handler stays as the
// application set it on the given communicator.

#pragma once

#include <mpi.h>

#include <memory>

#include "core/comm/group.hpp"

namespace forebay::comm {

/// Duplicates `comm`. Collective over it. If a rank has no memory, all ranks throw bad_alloc.
std::unique_ptr<Group> mpi_group(MPI_Comm comm);

/// The number of the calling rank in `comm`.
int rank_in(MPI_Comm comm);

/// `refused` before MPI_Init and after MPI_Finalize: any other call of MPI would then end the process.
Result<> check_mpi();

}  // namespace forebay::comm
