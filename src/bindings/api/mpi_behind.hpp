// The ranks of a communicator for the bindings for interfaces of other libraries, and the hook in MPI_Finalize that
// waits for unfinished files.

#pragma once

#include <mpi.h>

#include "bindings/api/behind.hpp"

namespace forebay::behind {

/// Duplicates the communicator for its messages. Each session duplicates `comm` again. Collective.
SessionRanks ranks_of(MPI_Comm comm);

/// Has MPI_Finalize call `finish` first, while MPI still works.
void at_finalize(void (*finish)());

}  // namespace forebay::behind
