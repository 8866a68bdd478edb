// forebay bench and tune: measure with MPI.

#include "program/verbs.hpp"

namespace forebay::cli {

void add_bench(CommandLine& line) {
    line.elsewhere("bench", "Measure saves, drains and restarts against the limits of this machine (with MPI)",
                   become_mpi);
}

void add_tune(CommandLine& line) {
    line.elsewhere("tune", "Find the options with which saves are fastest here, by trials in one job (with MPI)",
                   become_mpi);
}

}  // namespace forebay::cli
