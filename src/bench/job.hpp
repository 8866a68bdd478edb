// The job of MPI in which a verb of forebay-mpi does its work: begun, and ended whatever happens.

#pragma once

#include <functional>

#include "bench/ranks.hpp"
#include "core/terminal/command_line.hpp"

namespace forebay::bench {

/// MPI from its making to its end.
class MpiUse {
public:
    MpiUse() { MPI_Init(nullptr, nullptr); }
    MpiUse(const MpiUse&) = delete;
    MpiUse& operator=(const MpiUse&) = delete;
    ~MpiUse() { MPI_Finalize(); }
};

/// `refused` where ranks were started with other options than the first: they would wait for one another for ever.
/// Collective.
Result<> check_alike(Ranks& ranks);

/// An error as it is told once what was staged or written is removed, whatever the session said of it.
Error after_removal(Error error);

/// Calls `work` on all ranks between MPI_Init and MPI_Finalize. Its error, which all ranks share, is told by one. A
/// rank without memory is an error that names `bytes_per_rank`, as each asks for as much.
Result<cli::Exit> in_job(std::uint64_t bytes_per_rank, const std::function<Result<>(Ranks&)>& work);

}  // namespace forebay::bench
