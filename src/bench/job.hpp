// The job of MPI in which a verb of forebay-mpi does its work: begun, and ended whatever happens.

#pragma once

#include <functional>

#include "bench/ranks.hpp"
#include "cli/command_line.hpp"

namespace forebay::bench {

/// Calls `work` on all ranks between MPI_Init and MPI_Finalize. Its error, which all ranks share, is told by one. A
/// rank without memory is an error that names `bytes_per_rank`, as each asks for as much.
Result<cli::Exit> in_job(std::uint64_t bytes_per_rank, const std::function<Result<>(Ranks&)>& work);

}  // namespace forebay::bench
