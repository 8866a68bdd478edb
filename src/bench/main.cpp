// The program `forebay-mpi`: the verbs of `forebay` that need MPI. `forebay` starts it in its own place.

#include "bench/bench.hpp"
#include "bench/preflight.hpp"
#include "transfer/program/mpi_verbs.hpp"
#include "bench/tune.hpp"
#include "core/sys/process.hpp"

int main(int count, char** arguments) {
    forebay::sys::hold_standard_descriptors();
    forebay::sys::ignore_file_size_signal();
    forebay::cli::CommandLine line("Those verbs of forebay that need MPI; `forebay VERB` starts them too.");
    forebay::bench::add_bench(line);
    forebay::bench::add_tune(line);
    forebay::bench::add_preflight(line);
    forebay::bench::add_trees(line);
    return forebay::bench::end_of_job(line.run(count, arguments));
}
