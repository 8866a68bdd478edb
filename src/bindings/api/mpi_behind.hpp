// The ranks of a communicator for the bindings with other libraries' interfaces, and the end of MPI, at which files
// that
// are still being made are waited for.

#pragma once

#include <mpi.h>

#include "bindings/api/behind.hpp"

namespace forebay::behind {

/// Duplicates the communicator for its messages; sessions duplicate `comm` again. Collective.
SessionRanks ranks_of(MPI_Comm comm);

/// MPI_Finalize calls it before all else, while MPI still works.
void at_finalize(void (*finish)());

}  // namespace forebay::behind
