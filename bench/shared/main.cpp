// shared_bench WAY FOLDER ROWS REPEATS [TOML]: writes particles again and again one way, and prints what it took as
// JSON. bench/shared/shared.py runs it; TOML is the configuration of Forebay's ways, and of their agents.

#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "measure.hpp"
#include "way.hpp"

namespace {

std::unique_ptr<bench::Way> way_named(const std::string& name, MPI_Comm comm, const bench::Settings& settings,
                                      bench::Data& data, const std::string& toml) {
    if (name == "file_per_process") return bench::file_per_process(comm, settings, data);
    if (name == "mpi_io") return bench::mpi_io(comm, settings, data);
    if (name == "hdf5") return bench::parallel_hdf5(comm, settings, data);
    if (!toml.empty()) return bench::forebay_way(comm, settings, data, toml);
    bench::fail("no way " + name);
}

std::string list_of(const std::vector<double>& numbers) { return fmt::format("[{:.6f}]", fmt::join(numbers, ",")); }

void print(const bench::Samples& samples, const bench::Data& data) {
    std::fputs(
        fmt::format("{{\"bytes\":{},\"files\":{},\"memcpy\":{},\"visible\":{},\"durable\":{}}}\n", data.bytes_all(),
                    samples.files, list_of(samples.memcpy), list_of(samples.visible), list_of(samples.durable))
            .c_str(),
        stdout);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc < 5) bench::fail("usage: shared_bench WAY FOLDER ROWS REPEATS [TOML]");
    const std::string name = argv[1], toml = argc > 5 ? argv[5] : "";
    const bench::Settings settings{.folder = argv[2]};
    const auto comm = bench::without_agents(MPI_COMM_WORLD, settings, toml);
    if (comm != MPI_COMM_NULL) {
        int rank = 0, ranks = 0;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &ranks);
        bench::Data data(std::strtoull(argv[3], nullptr, 10), rank, ranks);
        auto way = way_named(name, comm, settings, data, toml);
        if (way == nullptr) {
            if (rank == 0) std::puts("null");  // not in this build
        } else {
            const auto samples = bench::measure(comm, settings, data, *way, std::atoi(argv[4]));
            if (rank == 0) print(samples, data);
        }
    }
    MPI_Finalize();
}
