#include "bindings/api/mpi_posts.hpp"
#include "bindings/api/state.hpp"
#include "core/base/try.hpp"
#include "core/comm/mpi_group.hpp"
#include "forebay/mpi.hpp"

namespace forebay {

Result<Session> open(MPI_Comm world, const Options& options) {
    return attempt([&] { return open(world, Result<Options>(options)); });
}

Result<Session> open(MPI_Comm world, const Result<Options>& options) {
    FB_TRY(comm::check_mpi());
    return attempt([&]() -> Result<Session> {
        auto group = comm::mpi_group(world);
        auto& ranks = *group;
        std::unique_ptr<GroupHolder> holder;
        FB_TRY(comm::agree(ranks, [&] {
            auto forwarding = forwarding_of_process();
            holder = std::make_unique<GroupHolder>(std::move(group), posts_of_process(), std::move(forwarding));
        }));
        return detail::open_over(std::move(holder), options);
    });
}

}  // namespace forebay
