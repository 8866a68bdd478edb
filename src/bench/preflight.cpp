#include "bench/preflight.hpp"

#include <cstdio>
#include <memory>

#include "bench/mpi_nodes.hpp"
#include "core/base/try.hpp"
#include "core/sys/process.hpp"
#include "core/terminal/print.hpp"
#include "program/plan/preflight_run.hpp"

namespace forebay::bench {

namespace {

using cli::Exit;

// Ends all ranks, because one may hang. The exit code is then that of mpiexec or srun.
[[noreturn]] void abandon(Exit code) {
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
    std::abort();
}

Result<Exit> preflight_of_ranks(const cli::PreflightArguments& arguments) {
    const sys::EndSignals signals;
    MPI_Init(nullptr, nullptr);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) {
        if (!answer_rank_0(MPI_COMM_WORLD)) abandon(Exit::found);
        MPI_Finalize();
        return Exit::good;
    }
    MpiNodes nodes(MPI_COMM_WORLD);
    const auto done = cli::preflight_with(nodes, arguments, {}, [&] { return signals.come(); });
    const auto code = done ? done->exit : cli::exit_of(done.error().kind);
    if (!nodes.end() || (done && !done->all_answered)) {
        if (!done) cli::print_error(done.error());
        abandon(code);
    }
    MPI_Finalize();
    if (!done) return done.error();
    if (done->signal != 0) sys::EndSignals::end_by(done->signal);
    return code;
}

}  // namespace

void add_preflight(cli::CommandLine& line) {
    const auto arguments = std::make_shared<cli::PreflightArguments>();
    auto verb =
        line.verb("preflight", "Find slow and broken nodes and storage targets before a run, with one rank a node");
    cli::add_preflight_options(verb, *arguments);
    verb.examples(
        "  srun --mpi=pmix -N 128 --ntasks-per-node 1 forebay preflight --target /scratch/me --bytes-per-node 50G\n  "
        "mpiexec "
        "--map-by ppr:1:node forebay preflight --target /scratch/me\nA rank that does not answer is reported. "
        "MPI_Abort then ends the remaining ranks.\n");
    verb.action([arguments] { return preflight_of_ranks(*arguments); });
}

}  // namespace forebay::bench
