// The program `forebay-mpi`: the verbs of `forebay` that need MPI. `forebay` executes it in its place.

#include <mpi.h>

#include "bench/bench.hpp"
#include "bench/preflight.hpp"
#include "bench/tune.hpp"
#include "core/sys/process.hpp"

namespace {

// MPI_Finalize() would wait for a lost rank. MPI_Abort() makes the launcher end all ranks with this exit code.
int end_of_job(int code) {
    int has_begun = 0, has_ended = 0;
    MPI_Initialized(&has_begun);
    MPI_Finalized(&has_ended);
    if (has_begun != 0 && has_ended == 0) MPI_Abort(MPI_COMM_WORLD, code);
    return code;
}

}  // namespace

int main(int count, char** arguments) {
    forebay::sys::hold_standard_descriptors();
    forebay::sys::ignore_file_size_signal();
    forebay::cli::CommandLine line("Commands of forebay that need MPI. `forebay VERB` starts them too.");
    forebay::bench::add_bench(line);
    forebay::bench::add_tune(line);
    forebay::bench::add_preflight(line);
    return end_of_job(line.run(count, arguments));
}
