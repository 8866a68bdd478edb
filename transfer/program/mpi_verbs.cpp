#include "transfer/program/mpi_verbs.hpp"

#include <algorithm>

#include "core/base/try.hpp"
#include "transfer/program/hosts.hpp"
#include "transfer/program/mpi_team.hpp"
#include "transfer/team/team_worker.hpp"

namespace forebay::cli {

namespace {

// Only rank 0 prints results; its exit code is the command's.
Result<Exit> work_with_ranks(const TreeArguments& arguments, const TreeVerb& verb, bool& has_lost) {
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!arguments.hosts.empty())
        return Error{ErrorKind::refused, "--hosts does not work under mpiexec: the ranks share the work already"};
    if (size == 1) return verb(nullptr);
    if (rank != 0) {
        const auto threads = arguments.thread_count({});
        static_cast<void>(tree::serve_team(std::make_unique<MpiTeam>(MPI_COMM_WORLD), team_version(), threads));
        return Exit::good;
    }
    tree::Coordinator lead(team_setup(arguments, std::make_unique<MpiTeam>(MPI_COMM_WORLD)));
    auto done = verb(&lead);
    has_lost = std::ranges::any_of(lead.members(), [](const tree::TeamWorker& member) { return !member.lost.empty(); });
    return done;
}

Result<Exit> run_with_ranks(const TreeArguments& arguments, const TreeVerb& verb) {
    int provided = MPI_THREAD_SINGLE, rank = 0;
    bool has_lost = false;  // lost a rank
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    auto done =
        provided < MPI_THREAD_SERIALIZED
            ? Result<Exit>(Error{ErrorKind::unsupported, "this MPI allows only one thread of a process to communicate",
                                 "", "run it with --hosts instead of mpiexec"})
            : work_with_ranks(arguments, verb, has_lost);
    if (!has_lost) MPI_Finalize();  // MPI_Finalize() waits for all ranks
    return rank == 0 ? done : Exit::good;
}

}  // namespace

void add_mpi_verbs(CommandLine& line) {
    add_walk(line, run_with_ranks);
    add_copy(line, run_with_ranks);
    add_sync(line, run_with_ranks);
    add_compare(line, run_with_ranks);
    add_delete(line, run_with_ranks);
}

}  // namespace forebay::cli
