#include "bench/job.hpp"

#include <fmt/format.h>

#include <new>

namespace forebay::bench {

namespace {

class MpiUse {
public:
    MpiUse() { MPI_Init(nullptr, nullptr); }
    MpiUse(const MpiUse&) = delete;
    MpiUse& operator=(const MpiUse&) = delete;
    ~MpiUse() { MPI_Finalize(); }
};

}  // namespace

Result<cli::Exit> in_job(std::uint64_t bytes_per_rank, const std::function<Result<>(Ranks&)>& work) {
    const MpiUse mpi;
    Ranks ranks(MPI_COMM_WORLD);
    const auto done = [&]() -> Result<> {
        try {
            return work(ranks);
        } catch (const std::bad_alloc&) {
            return Error{ErrorKind::full, fmt::format("there is no memory for {} bytes of each rank", bytes_per_rank),
                         "", "a smaller --bytes-per-rank"};
        }
    }();
    if (done) return cli::Exit::good;
    // What was staged is removed, whatever the session said of it.
    if (ranks.rank() != 0) return cli::exit_of(done.error().kind);
    auto error = done.error();
    if (!error.safe.empty()) {
        error.safe = "all that was there before; what the benchmark has made is removed";
        error.next.clear();
    }
    return error;
}

}  // namespace forebay::bench
