#include "bench/ranks.hpp"

#include <algorithm>
#include <thread>

#include "core/comm/mpi_group.hpp"

namespace forebay::bench {

namespace {

constexpr std::chrono::milliseconds rest_pause{1};

}  // namespace

Ranks::Ranks(MPI_Comm comm) : comm_(comm), group_(comm::mpi_group(comm)), node_(group_->split_shared()) {}

void Ranks::rest() {
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(comm_, &all);
    for (int here = 0; here == 0;) {
        MPI_Test(&all, &here, MPI_STATUS_IGNORE);
        if (here == 0) std::this_thread::sleep_for(rest_pause);
    }
}

std::unique_ptr<Ranks> Ranks::first(int count) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(comm_, rank() < count ? 0 : MPI_UNDEFINED, rank(), &part);
    if (part == MPI_COMM_NULL) return nullptr;
    return std::make_unique<Ranks>(part);
}

double Ranks::max(double number) {
    double all = 0;
    MPI_Allreduce(&number, &all, 1, MPI_DOUBLE, MPI_MAX, comm_);
    return all;
}

std::string Ranks::broadcast(const std::string& text) {
    auto received = text;
    group_->broadcast_sized(received, 0).value();
    return received;
}

std::vector<std::uint64_t> Ranks::gather_on_node(std::uint64_t own_number) {
    std::vector<std::uint64_t> all(static_cast<std::size_t>(node_->size()));
    node_->gather_all(std::as_bytes(std::span(&own_number, 1)), std::as_writable_bytes(std::span(all)));
    return all;
}

double Ranks::span(sys::Clock::time_point start, sys::Clock::time_point end) {
    const auto ns = [](sys::Clock::time_point time) {
        return static_cast<std::int64_t>(std::chrono::nanoseconds(time.time_since_epoch()).count());
    };
    // Clocks are only compared on one machine.
    std::int64_t ends[] = {-ns(start), ns(end)};
    node_->max(ends);
    return static_cast<double>(group_->max(ends[0] + ends[1])) * 1e-9;
}

}  // namespace forebay::bench
