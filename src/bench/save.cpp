// forebay bench save: the time that save() blocks the application, compared with memcpy of the same bytes by one thread
// of each rank and, if several threads copy, by as many.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "bench/bench.hpp"
#include "bench/memory.hpp"
#include "bench/place.hpp"
#include "bench/report.hpp"
#include "bench/spread.hpp"
#include "bench/table.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/sys/machine.hpp"

namespace forebay::bench {

namespace {

constexpr std::chrono::minutes commit_max{10};
constexpr const char* stream_name = "particles";

// Goals as a part of memcpy's rate, by processor. A single rank does not saturate memory, so its kernel must be faster.
double goal_of(std::string_view kernel, int ranks) {
    if (kernel == "portable") return 0.25;
    if (kernel == "pclmul" || kernel == "sse4.2" || kernel == "crc32") return 0.8;
    if (kernel == "avx512") return 1.1;
    return ranks == 1 ? 0.92 : 1.0;
}

struct Samples {
    double prepare = 0, first = 0;
    std::uint64_t bytes = 0;    // of all ranks, about
    std::uint64_t threads = 1;  // largest number of a rank
    std::vector<double> memcpy, shares, pieces, save, write, copy, plan, exchange;
};

class SaveBench {
public:
    SaveBench(Ranks& ranks, BenchPlace& place, Stream& stream, Particles particles, BenchTable& table,
              MemcpyLimit& limit)
        : ranks_(ranks),
          place_(place),
          stream_(stream),
          particles_(std::move(particles)),
          table_(table),
          limit_(limit) {}

    Result<Samples> run(int repeats) {
        FB_TRY(table_.bind(particles_, table_.rows_in(0)));
        FB_TRY_ASSIGN(prepared, ranks_.timed([&] { return stream_.prepare(); }));
        samples_.prepare = prepared;
        FB_TRY_ASSIGN(first, save(0));
        samples_.first = first.seconds;
        const auto threads = stream_.counters().copy_threads;
        samples_.threads = static_cast<std::uint64_t>(ranks_.group().max(static_cast<std::int64_t>(threads)));
        crew_.emplace(static_cast<std::uint32_t>(threads), sys::own_cpus());
        // Warms the pages and caches of the limit as later turns find them.
        FB_TRY(limits(0));
        samples_.memcpy.clear();
        samples_.shares.clear();
        samples_.pieces.clear();
        samples_.write.clear();
        for (int turn = 1; turn <= repeats; ++turn) FB_TRY(measure(turn));
        FB_TRY(settle());
        return samples_;
    }

private:
    struct Taken {
        double seconds;
        Saved saved;
    };

    // The order alternates, so that neither always finds the other's caches.
    Result<> measure(int turn) {
        if (turn % 2 == 1) FB_TRY(limits(turn));
        FB_TRY_ASSIGN(taken, save(turn));
        samples_.save.push_back(taken.seconds);
        samples_.copy.push_back(ranks_.max(taken.saved.copy_seconds));
        samples_.plan.push_back(taken.saved.plan_seconds * 1e6);
        samples_.exchange.push_back(
            (taken.saved.blocked_seconds - taken.saved.copy_seconds - taken.saved.plan_seconds) * 1e6);
        if (turn % 2 == 0) FB_TRY(limits(turn));
        return {};
    }

    Result<> limits(int turn) {
        FB_TRY(settle());
        FB_TRY_ASSIGN(copied, copy(turn, [&] { limit_.copy_in(table_); }));
        samples_.memcpy.push_back(copied);
        if (samples_.threads > 1) {
            FB_TRY_ASSIGN(shares, copy(turn, [&] { limit_.copy_in(table_, *crew_, crew_->threads()); }));
            samples_.shares.push_back(shares);
            const auto pieces = table_.rows_in(turn) * BenchTable::element_bytes[0] / limits::segment_bytes + 1;
            FB_TRY_ASSIGN(in_pieces, copy(turn, [&] { limit_.copy_in(table_, *crew_, pieces); }));
            samples_.pieces.push_back(in_pieces);
        }
        FB_TRY_ASSIGN(written, timed_write(ranks_, place_.on_node("write"), table_, table_.rows_in(turn)));
        samples_.write.push_back(written);
        return {};
    }

    template <class Copy>
    Result<double> copy(int turn, const Copy& copy_in) {
        FB_TRY(settle());
        limit_.place(ranks_, table_.rows_in(turn));
        return ranks_.timed([&]() -> Result<> {
            copy_in();
            return {};
        });
    }

    Result<Taken> save(int turn) {
        FB_TRY(settle());
        FB_TRY(table_.bind(particles_, table_.rows_in(turn)));
        Saved saved;
        FB_TRY_ASSIGN(seconds, ranks_.timed([&]() -> Result<> {
            FB_TRY_ASSIGN(done, stream_.save(turn));
            saved = done;
            return {};
        }));
        samples_.bytes = static_cast<std::uint64_t>(ranks_.group().sum(static_cast<std::int64_t>(saved.bytes)));
        return Taken{seconds, saved};
    }

    // Waits until the agent is idle and the target empty.
    Result<> settle() {
        FB_TRY(stream_.wait_committed(commit_max));
        FB_TRY(ranks_.agree(ranks_.rank() == 0 ? place_.remove_snapshots(stream_name) : Result<>()));
        ranks_.rest();
        return {};
    }

    Ranks& ranks_;
    BenchPlace& place_;
    Stream& stream_;
    Particles particles_;
    BenchTable& table_;
    MemcpyLimit& limit_;
    std::optional<sys::Crew> crew_;  // of the limit: as many threads as save
    Samples samples_;
};

// NUMA nodes of the ranks on the first rank's machine.
std::string numa_nodes_of(Ranks& ranks) {
    auto numa_nodes = ranks.gather_on_node(sys::numa_node());
    std::ranges::sort(numa_nodes);
    numa_nodes.erase(std::unique(numa_nodes.begin(), numa_nodes.end()), numa_nodes.end());
    return fmt::format("{}", fmt::join(numa_nodes, " "));
}

void report(Ranks& ranks, const BenchOptions& options, const Samples& samples, const std::string& numa_nodes) {
    BenchReport report("save");
    report.setting("ranks", static_cast<std::uint64_t>(ranks.size()));
    report.setting("bytes_per_rank", options.bytes_per_rank);
    report.setting("processor", sys::processor_name());
    report.setting("kernel", crc32c_kernel());
    report.setting("numa_nodes", numa_nodes);
    report.setting("copy_threads", samples.threads);
    report.seconds("memcpy", "memcpy into a warm mapping", samples.memcpy, samples.bytes);
    if (samples.threads > 1) {
        report.seconds("memcpy_shares", fmt::format("the same, {} threads, a share each", samples.threads),
                       samples.shares, samples.bytes);
        report.seconds("memcpy_pieces", fmt::format("the same, {} threads, by the MiB", samples.threads),
                       samples.pieces, samples.bytes);
    }
    report.seconds("save", "save, blocked", samples.save, samples.bytes);
    report.seconds("copy", "  of it copy with checksum", samples.copy, samples.bytes);
    report.numbers("plan_us", "  of it plan and seal", "us", samples.plan);
    report.numbers("exchange_us", "  of it exchange, barriers", "us", samples.exchange);
    report.seconds("write", "write(2), new file in tmpfs", samples.write, samples.bytes);
    report.seconds("first_save", "first save", {samples.first}, samples.bytes);
    report.seconds("prepare", "prepare, before it", {samples.prepare});
    const auto memcpy = spread_of(samples.memcpy).median, save = spread_of(samples.save).median;
    // If several threads save, one thread's memcpy is no limit.
    if (samples.threads > 1)
        report.other_ratio("threads_ratio",
                           fmt::format("best memcpy by {} threads, seconds / blocked seconds", samples.threads),
                           std::min(spread_of(samples.shares).median, spread_of(samples.pieces).median) / save, 0.95);
    report.ratio("memcpy by one thread of each rank, seconds / blocked seconds", memcpy / save,
                 goal_of(crc32c_kernel(), ranks.size()), ratios_of(samples.memcpy, samples.save));
    report.print(options.json);
}

}  // namespace

Result<> bench_save(Ranks& ranks, const BenchOptions& options) {
    if (options.variables > 0) return bench_save_variables(ranks, options);
    FB_TRY_ASSIGN(place, BenchPlace::make(ranks, options));
    BenchTable table(options.bytes_per_rank / BenchTable::row_bytes, static_cast<std::uint32_t>(ranks.rank()));
    FB_TRY_ASSIGN(limit, MemcpyLimit::open(ranks, place.on_node("memcpy"), table));
    FB_TRY_ASSIGN(session, place.open(ranks));
    FB_TRY_ASSIGN(stream, session.stream(stream_name, BenchPlace::stream_options()));
    FB_TRY_ASSIGN(particles, BenchTable::describe(stream));
    FB_TRY_ASSIGN(samples, SaveBench(ranks, place, stream, particles, table, limit).run(options.repeats));
    FB_TRY(session.close());
    const auto numa_nodes = numa_nodes_of(ranks);
    if (ranks.rank() == 0) report(ranks, options, samples, numa_nodes);
    return {};
}

}  // namespace forebay::bench
