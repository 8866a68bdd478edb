// Forebay over an MPI communicator. Link forebay_mpi.

#pragma once

#include <mpi.h>

#include "forebay/forebay.hpp"

namespace forebay {

/// Splits agents off: with AgentMode::dedicated the last AgentOptions::cores ranks of each machine become its agents,
/// and the others get a communicator of their own, which they use instead of `world`, also to open sessions. With
/// another mode all ranks get one. An agent stays in this call, asleep or draining, until every rank of its machine
/// that computes has called MPI_Finalize, and then gets MPI_COMM_NULL: it has nothing left to do but MPI_Finalize. Once
/// a process. `refused` where a machine has not more ranks than cores. The communicator belongs to the caller.
/// Collective over `world`.
///
/// With AgentOptions::forwarders the ranks of the last so many hosts (Options::virtual_nodes counts as hosts) write to
/// the target for the others, whatever the mode: they stay in this call until all that compute have called MPI_Finalize
/// and the agents that outlive those are done, at most Options::close_wait, and get MPI_COMM_NULL too. `refused` where
/// no host is left, and where ranks have options that open() would refuse.
Result<MPI_Comm> dedicate(MPI_Comm world, const Options& options);
/// The same with what load_options() has answered.
Result<MPI_Comm> dedicate(MPI_Comm world, const Result<Options>& options);

/// Opens a session of all ranks of `world`, which is duplicated: the caller's communicator sees no message of
/// ours. MPI must be initialised, and finalised only after the session is closed or destroyed. Collective.
Result<Session> open(MPI_Comm world, const Options& options);
/// The same with what load_options() has answered: every rank gets the error of one that could not read its file, and
/// none waits for it.
Result<Session> open(MPI_Comm world, const Result<Options>& options);

}  // namespace forebay
