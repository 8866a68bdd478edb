// Forebay over an MPI communicator. Link forebay_mpi.

#pragma once

#include <mpi.h>

#include "forebay/forebay.hpp"

namespace forebay {

/// Splits ranks off that only write. With AgentMode::dedicated the last AgentOptions::cores ranks of each machine
/// become its agents. The other ranks get a communicator: use it in place of `world`, also to open sessions. In other
/// modes every rank gets a communicator. It belongs to the caller.
///
/// An agent stays in this call, asleep or draining, until every computing rank of its machine has called MPI_Finalize.
/// It then gets MPI_COMM_NULL, and only has to call MPI_Finalize itself. `refused` if a machine does not have more
/// ranks than cores, or if the ranks have options that open() would refuse.
///
/// With AgentOptions::forwarders, in any mode, the ranks of that many last hosts write to the target for the other
/// hosts (each of Options::virtual_nodes counts as a host). They stay in this call until all computing ranks have
/// called MPI_Finalize and the agents that outlive these ranks are done, at most Options::close_wait. They get
/// MPI_COMM_NULL too. `refused` if no computing host is left.
///
/// Call it once a process. Collective over `world`.
Result<MPI_Comm> dedicate(MPI_Comm world, const Options& options);
/// The same with the answer of load_options().
Result<MPI_Comm> dedicate(MPI_Comm world, const Result<Options>& options);

/// Opens a session of all ranks of `world`. It duplicates `world`, so your communicator carries no message of Forebay.
/// Call MPI_Init before, and MPI_Finalize only after the session is closed or destroyed. Collective.
Result<Session> open(MPI_Comm world, const Options& options);
/// The same with the answer of load_options(). If one rank cannot read its file, every rank gets its error, and no rank
/// waits.
Result<Session> open(MPI_Comm world, const Result<Options>& options);

}  // namespace forebay
