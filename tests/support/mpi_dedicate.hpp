// The main() of an MPI test whose job has dedicated agents or forwarders. The cases run on the computing ranks. Define
// DOCTEST_CONFIG_IMPLEMENT, include doctest, then this header, and return mpi_main_with() from main().

#pragma once

#include <doctest/doctest.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "forebay/mpi.hpp"
#include "support/temp_directory.hpp"

namespace forebay::test {

/// What a rank knows about such a job.
struct DedicatedJob {
    MPI_Comm computing = MPI_COMM_NULL;
    std::vector<int> processes;  // process ids, by world rank
    std::string folder;          // equal on every rank; it contains a directory `memory` for staging
};

struct DedicatedMain {
    /// Called first, on every rank.
    std::function<void(int ranks)> plan;
    /// True if dedicate() refuses each wrong call. From here on `folder` is set.
    std::function<bool()> refuses;
    /// The options for dedicate().
    std::function<Options()> options;
    /// True if this world rank must get a communicator.
    std::function<bool(int rank)> computes;
    /// Called on the computing ranks after the cases.
    std::function<void()> at_end = [] {};
    /// Called on rank 0 after MPI_Finalize.
    std::function<bool()> is_good_afterwards = [] { return true; };
};

/// Rank 0 makes a directory with a subdirectory `memory`; every rank gets its path. Collective.
inline std::unique_ptr<TempDirectory> make_common_folder(int rank, std::string& name_of_all) {
    std::unique_ptr<TempDirectory> directory;
    std::array<char, 512> name{};
    if (rank == 0) {
        directory = std::make_unique<TempDirectory>();
        std::filesystem::create_directory(*directory / "memory");
        directory->path().copy(name.data(), name.size() - 1);
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    name_of_all = name.data();
    return directory;
}

inline int mpi_main_with(int argc, char** argv, DedicatedJob& job, const DedicatedMain& test) {
    MPI_Init(&argc, &argv);
    int size = 0, rank = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    test.plan(size);
    const auto folder = make_common_folder(rank, job.folder);
    job.processes.resize(static_cast<std::size_t>(size));
    const int own = ::getpid();
    MPI_Allgather(&own, 1, MPI_INT, job.processes.data(), 1, MPI_INT, MPI_COMM_WORLD);

    if (!test.refuses()) MPI_Abort(MPI_COMM_WORLD, 3);
    job.computing = dedicate(MPI_COMM_WORLD, test.options()).value();
    const bool computes = job.computing != MPI_COMM_NULL;
    int failed = computes == test.computes(rank) ? 0 : 1;
    if (computes) {
        doctest::Context context(argc, argv);
        context.setOption("minimal", rank != 0);
        failed |= context.run();
        test.at_end();
        MPI_Comm_free(&job.computing);
    }
    MPI_Finalize();
    if (rank == 0 && !test.is_good_afterwards()) failed = 1;
    return failed;
}

}  // namespace forebay::test
