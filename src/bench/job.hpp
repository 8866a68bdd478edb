// The MPI job of a verb of forebay-mpi: begins and always ends it.

#pragma once

#include <functional>

#include "bench/ranks.hpp"
#include "core/terminal/command_line.hpp"

namespace forebay::bench {

/// MPI from MPI_Init to MPI_Finalize.
class MpiUse {
public:
    MpiUse() { MPI_Init(nullptr, nullptr); }
    MpiUse(const MpiUse&) = delete;
    MpiUse& operator=(const MpiUse&) = delete;
    ~MpiUse() { MPI_Finalize(); }
};

/// Returns `refused` if ranks have other options than the first rank: they would wait for each other for ever.
/// Collective.
Result<> check_alike(Ranks& ranks);

/// The error after staged and written files were removed, without the session's advice about them.
Error after_removal(Error error);

/// Calls `work` on all ranks between MPI_Init and MPI_Finalize. An error is shared by all ranks and printed by one. The
/// error of a rank without memory has `bytes_per_rank`, because each rank asks for as much.
Result<cli::Exit> in_job(std::uint64_t bytes_per_rank, const std::function<Result<>(Ranks&)>& work);

}  // namespace forebay::bench
