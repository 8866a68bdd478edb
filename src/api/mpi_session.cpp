#include "api/mpi_posts.hpp"
#include "api/state.hpp"
#include "comm/mpi_group.hpp"
#include "forebay/mpi.hpp"

namespace forebay {

Result<Session> open(MPI_Comm world, const Options& options) { return open(world, Result<Options>(options)); }

Result<Session> open(MPI_Comm world, const Result<Options>& options) {
    return Session::open_over(
        std::make_unique<GroupHolder>(comm::mpi_group(world), posts_of_process(), forwarding_of_process()), options);
}

}  // namespace forebay
