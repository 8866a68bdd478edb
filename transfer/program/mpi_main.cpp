// The program `forebay-transfer-mpi`: ranks of MPI share one verb. `forebay-transfer` executes it in its place.

#include <mpi.h>

#include "core/sys/process.hpp"
#include "transfer/program/mpi_verbs.hpp"

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
    forebay::cli::CommandLine line("Commands of forebay-transfer that share their work over the ranks of MPI.");
    forebay::cli::add_mpi_verbs(line);
    return end_of_job(line.run(count, arguments));
}
