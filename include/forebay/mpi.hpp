// Forebay over an MPI communicator. Link forebay_mpi.

#pragma once

#include <mpi.h>

#include "forebay/forebay.hpp"

namespace forebay {

/// Opens a session of all ranks of `world`, which is duplicated: the caller's communicator sees no message of
/// ours. MPI must be initialised, and finalised only after the session is closed or destroyed. Collective.
Result<Session> open(MPI_Comm world, const Options& options);

}  // namespace forebay
