#include "bench/preflight.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "bench/mpi_nodes.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/process.hpp"
#include "core/sys/thread.hpp"
#include "core/terminal/print.hpp"
#include "program/plan/preflight_run.hpp"

namespace forebay::bench {

namespace {

using cli::Exit;

constexpr double seconds_max = 86'400;  // the greatest value of --seconds

// Ends all ranks, because one may hang. The exit code is then that of mpiexec or srun.
[[noreturn]] void abandon(Exit code) {
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
    std::abort();
}

// MPI_Init() waits for all ranks. If one hangs before it, the process ends here, and the launcher ends the other ranks.
Result<> initialize_within(std::chrono::duration<double> time) {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_done = false;
    FB_TRY_ASSIGN(guard, sys::Thread::start([&] {
                      std::unique_lock lock(mutex);
                      if (changed.wait_for(lock, time, [&] { return is_done; })) return;
                      cli::print_error({ErrorKind::retry,
                                        fmt::format("MPI_Init() did not return within {} s, so a rank hangs at its "
                                                    "start. Nothing was checked",
                                                    time.count()),
                                        "", "find the node without a rank, as in srun hostname, and leave it out"});
                      std::_Exit(static_cast<int>(Exit::found));
                  }));
    MPI_Init(nullptr, nullptr);
    {
        const std::lock_guard lock(mutex);
        is_done = true;
    }
    changed.notify_all();
    guard.join();
    return {};
}

Result<Exit> preflight_of_ranks(cli::PreflightArguments arguments) {
    const sys::EndSignals signals;
    const auto began = sys::Clock::now();
    if (arguments.seconds >= 1) {
        FB_TRY(initialize_within(std::chrono::duration<double>(std::min(arguments.seconds, seconds_max))));
        const auto used = std::chrono::duration<double>(sys::Clock::now() - began).count();
        arguments.seconds = std::max(1.0, arguments.seconds - used);
    } else {
        MPI_Init(nullptr, nullptr);  // the value is refused later, on rank 0
    }
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
