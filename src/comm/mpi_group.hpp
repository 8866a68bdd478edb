// Group over an MPI communicator, which is duplicated and freed with the object. MPI's own error handler stays as the
// application set it on the communicator it gave us.

#pragma once

#include <mpi.h>

#include <memory>

#include "comm/group.hpp"

namespace forebay::comm {

/// Duplicates `comm`. Collective over it.
std::unique_ptr<Group> mpi_group(MPI_Comm comm);

}  // namespace forebay::comm
