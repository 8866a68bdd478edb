// The simulation of support/job_simulation.hpp under MPI.

#include "support/job_simulation.hpp"

#include "forebay/mpi.hpp"

using namespace forebay;

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const auto code = test::run_simulation(count, [&] {
        test::simulate(forebay::open(MPI_COMM_WORLD, {.run = arguments[1], .staging = arguments[2]}).value(), arguments,
                       static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(ranks));
    });
    if (code != 0) MPI_Abort(MPI_COMM_WORLD, code);
    MPI_Finalize();
    return code;
}
