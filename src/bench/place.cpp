#include "bench/place.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "core/base/error_text.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/store.hpp"
#include "core/terminal/print.hpp"

namespace forebay::bench {

void tell_leftovers(Ranks& ranks, const std::string& directory, bool looks) {
    if (!looks) return;
    for (const auto& line : remove_leftovers(directory))
        if (ranks.rank() == 0) cli::note({fmt::format("{}{}\n", program_prefix, show_text(line))});
}

std::string temporary_directory() {
    const char* wish = std::getenv("TMPDIR");
    return wish != nullptr && *wish != '\0' ? wish : "/var/tmp";
}

Result<BenchPlace> BenchPlace::make(Ranks& ranks, const BenchOptions& options) {
    BenchPlace place;
    const auto id = ranks.broadcast(new_bench_id());
    const auto run = options.run.empty() ? ranks.broadcast(temporary_directory()) : options.run;
    const auto node = options.staging.empty() ? std::string(default_staging) : options.staging;
    place.copy_threads_ = options.copy_threads;
    place.agent_.block_bytes = options.block_bytes;
    place.agent_.in_flight = options.in_flight;
    place.run_ = run + "/" + id;
    place.node_ = node + "/" + id;
    tell_leftovers(ranks, run, ranks.rank() == 0);
    tell_leftovers(ranks, node, ranks.node().rank() == 0);
    const auto own = [&](const std::string& directory, OwnDirectory::Access access) -> Result<> {
        FB_TRY_ASSIGN(own_directory, OwnDirectory::make(directory, id, access));
        place.created_.push_back(std::move(own_directory));
        return {};
    };
    Result<> outcome;
    if (ranks.rank() == 0) outcome = own(run, OwnDirectory::Access::open);
    if (outcome && ranks.node().rank() == 0 && place.node_ != place.run_)
        outcome = own(node, OwnDirectory::Access::is_private);
    FB_TRY(ranks.agree(outcome));
    return place;
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
