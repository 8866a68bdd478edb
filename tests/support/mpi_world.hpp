// Shared by MPI tests: a run directory of all ranks, and sessions over the first few ranks of the world.

#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "forebay/mpi.hpp"
#include "support/temp_directory.hpp"

namespace forebay::test {

/// A directory. World rank 0 makes and removes it. Collective.
class CommonDirectory {
public:
    explicit CommonDirectory(const std::string& parent) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        char name[256] = {};
        if (rank == 0) {
            own_ = std::make_unique<TempDirectory>(parent);
            own_->path().copy(name, sizeof(name) - 1);
        }
        MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
        path_ = name;
    }
    CommonDirectory(const CommonDirectory&) = delete;
    CommonDirectory& operator=(const CommonDirectory&) = delete;
    ~CommonDirectory() { MPI_Barrier(MPI_COMM_WORLD); }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
    std::unique_ptr<TempDirectory> own_;
    std::string path_;
};

/// Runs `body` over a communicator of the first `ranks` world ranks. The rest wait. Collective.
inline void on_first(int ranks, const std::function<void(MPI_Comm)>& body) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &part);
    if (part != MPI_COMM_NULL) {
        body(part);
        MPI_Comm_free(&part);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

inline int rank_in(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}
inline int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

/// The numbers of every rank, in rank order. Collective.
inline std::vector<std::int64_t> gathered(MPI_Comm comm, const std::vector<std::int64_t>& own) {
    const int count = static_cast<int>(own.size());
    std::vector<int> counts(static_cast<std::size_t>(size_of(comm))), starts(counts.size(), 0);
    MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
    for (std::size_t i = 1; i < counts.size(); ++i) starts[i] = starts[i - 1] + counts[i - 1];
    std::vector<std::int64_t> all(static_cast<std::size_t>(starts.back() + counts.back()));
    MPI_Allgatherv(own.data(), count, MPI_INT64_T, all.data(), counts.data(), starts.data(), MPI_INT64_T, comm);
    return all;
}

}  // namespace forebay::test
