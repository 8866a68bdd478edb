#include "bench/place.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "base/try.hpp"
#include "sys/machine.hpp"
#include "sys/private_file.hpp"
#include "sys/store.hpp"

namespace forebay::bench {

std::string temporary_directory() {
    const char* wish = std::getenv("TMPDIR");
    return wish != nullptr && *wish != '\0' ? wish : "/var/tmp";
}

Result<BenchPlace> BenchPlace::make(Ranks& ranks, const BenchOptions& options) {
    BenchPlace place;
    const auto id = ranks.broadcast(fmt::format("forebay-bench-{:016x}", sys::random_u64()));
    place.run_ = (options.run.empty() ? ranks.broadcast(temporary_directory()) : options.run) + "/" + id;
    place.copy_threads_ = options.copy_threads;
    place.agent_.block_bytes = options.block_bytes;
    place.agent_.in_flight = options.in_flight;
    place.node_ = (options.staging.empty() ? "/dev/shm" : options.staging) + "/" + id;
    place.owns_run_ = ranks.rank() == 0;
    place.owns_node_ = ranks.node().rank() == 0;
    Result<> made;
    if (ranks.rank() == 0) made = sys::posix_store().make_directories(place.run_);
    if (made && place.owns_node_) made = sys::make_private_directory(place.node_);
    FB_TRY(ranks.agree(made));
    return place;
}

BenchPlace::BenchPlace(BenchPlace&& other) noexcept
    : run_(std::move(other.run_)),
      node_(std::move(other.node_)),
      agent_(std::move(other.agent_)),
      copy_threads_(other.copy_threads_),
      owns_run_(std::exchange(other.owns_run_, false)),
      owns_node_(std::exchange(other.owns_node_, false)) {}

BenchPlace::~BenchPlace() {
    // At the end of a benchmark, after its figures: a file that stays is found by its name.
    if (owns_node_) (void)sys::posix_store().remove_tree(node_);
    if (owns_run_) (void)sys::posix_store().remove_tree(run_);
}

Result<Session> BenchPlace::open(Ranks& ranks, std::uint64_t rate_bytes_per_second, double slowdown_percent_max,
                                 bool timings) const {
    Options options{.run = run_, .staging = node_};
    options.copy_threads = copy_threads_;
    options.agent = agent_;
    options.agent.rate_bytes_per_second = rate_bytes_per_second;
    options.agent.slowdown_percent_max = slowdown_percent_max;
    options.agent.timings = timings;
    return forebay::open(ranks.comm(), options);
}

StreamOptions BenchPlace::stream_options() { return {.slots = 1, .keep = 0, .view = false}; }

Result<> BenchPlace::remove_snapshots(const std::string& stream) const {
    return sys::posix_store().remove_tree(run_ + "/" + stream);
}

}  // namespace forebay::bench
