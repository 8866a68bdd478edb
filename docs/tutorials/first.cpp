#include <cstdint>
#include <cstdio>
#include <vector>

#include "forebay/mpi.hpp"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    try {
        const std::uint64_t cells = 1'000'000;
        const std::uint64_t first = cells * rank / ranks, last = cells * (rank + 1) / ranks;
        std::vector<double> u(last - first);  // this rank's part of a global array
        std::int64_t step = 0;

        auto session = forebay::open(MPI_COMM_WORLD, {.run = argc > 1 ? argv[1] : "run1"}).value();
        auto stream = session.stream("restart").value();
        stream.replicated("step", &step).value();
        stream
            .array("u", forebay::f64, {cells}, {forebay::packed({{first}, {last - first}}, u.data())}, {.unit = "m/s"})
            .value();
        stream.restore().value();  // the newest snapshot that reads whole, on any number of ranks
        if (rank == 0) std::printf("starting after step %lld\n", static_cast<long long>(step));

        for (const auto end = step + 5; step < end;) {
            for (auto& value : u) value += 0.5;
            stream.save(++step).value();  // one memory copy; the agent does the rest
        }
        session.close().value();
    } catch (const forebay::Exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}
