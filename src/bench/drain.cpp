// forebay bench drain: the time from seal to commit, compared with raw synced writes of the same bytes, and the cost of
// the drain for computing ranks.

#include <algorithm>
#include <memory>

#include "bench/bench.hpp"
#include "bench/load.hpp"
#include "bench/memory.hpp"
#include "bench/place.hpp"
#include "bench/raw.hpp"
#include "bench/report.hpp"
#include "bench/spread.hpp"
#include "core/base/bytes.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/process.hpp"

namespace forebay::bench {

namespace {

constexpr std::chrono::minutes commit_max{10};
constexpr const char* stream_name = "particles";
// With pacing a drain may take this many times longer than without.
constexpr double pacing = 4;

struct Slowdown {
    std::vector<double> percent, drain_seconds, cpu_percent;  // of all CPUs of the machine
};

struct Samples {
    RawSamples raw{write_ways()}, raw_cpu{write_ways()};
    std::vector<double> durable, agent, best_raw;
    std::vector<double> agent_cpu, dd, dd_cpu;
    std::uint64_t bytes = 0;  // of a node, as the agent counts
    std::uint64_t paced_rate = 0;
    Slowdown compute, memory, compute_paced, memory_paced;
};

class DrainBench {
public:
    DrainBench(Ranks& ranks, BenchPlace& place, BenchTable& table, MemcpyLimit& limit)
        : ranks_(ranks), place_(place), table_(table), limit_(limit) {}

    Result<Samples> run(int repeats) {
        FB_TRY(open(0));
        FB_TRY(drain(nullptr));
        // All ways write the agent's bytes from memory of the same kind.
        limit_.place(ranks_, table_.rows_in(0));
        limit_.copy_in(table_);
        for (int turn = 0; turn < repeats; ++turn) {
            FB_TRY(drain(&samples_));
            FB_TRY(raw_turn(static_cast<std::size_t>(turn)));
        }
        for (std::size_t i = 0; i < samples_.durable.size(); ++i)
            samples_.best_raw.push_back(samples_.raw.of(samples_.raw.best())[i]);
        FB_TRY(slow_down(repeats, samples_.compute, samples_.memory));
        FB_TRY(session_->close());
        samples_.paced_rate = static_cast<std::uint64_t>(static_cast<double>(samples_.bytes) /
                                                         spread_of(samples_.best_raw).median / pacing);
        FB_TRY(open(samples_.paced_rate));
        FB_TRY(slow_down(repeats, samples_.compute_paced, samples_.memory_paced));
        FB_TRY(session_->close());
        return samples_;
    }

private:
    Result<> open(std::uint64_t rate_bytes_per_second) {
        session_.reset();
        FB_TRY_ASSIGN(session, place_.open(ranks_, rate_bytes_per_second));
        session_ = std::make_unique<Session>(std::move(session));
        FB_TRY_ASSIGN(stream, session_->stream(stream_name, BenchPlace::stream_options()));
        stream_ = std::make_unique<Stream>(stream);
        FB_TRY_ASSIGN(particles, BenchTable::describe(*stream_));
        FB_TRY(table_.bind(particles, table_.rows_in(0)));
        return stream_->prepare();
    }

    Result<> settle() {
        FB_TRY(stream_->wait_committed(commit_max));
        FB_TRY(ranks_.agree(ranks_.rank() == 0 ? place_.remove_snapshots(stream_name) : Result<>()));
        ranks_.rest();
        return {};
    }

    // Measures from the seal to the commit, while the ranks sleep.
    Result<> drain(Samples* samples) {
        FB_TRY(settle());
        const auto before = stream_->counters();
        FB_TRY(stream_->save(++step_));
        const auto sealed = sys::Clock::now();
        FB_TRY(stream_->wait_committed(commit_max));
        const auto seconds = std::chrono::duration<double>(sys::Clock::now() - sealed).count();
        const auto after = stream_->counters();
        const auto durable = ranks_.max(seconds), agent = ranks_.max(after.drain_seconds - before.drain_seconds);
        const auto agent_cpu = ranks_.max(after.drain_cpu_seconds - before.drain_cpu_seconds);
        samples_.bytes = after.bytes_drained - before.bytes_drained;
        if (samples == nullptr) return {};
        samples->durable.push_back(durable);
        samples->agent.push_back(agent);
        samples->agent_cpu.push_back(agent_cpu);
        return {};
    }

    // Each turn begins with another way, so that no way always comes first after the drain.
    Result<> raw_turn(std::size_t turn) {
        FB_TRY(settle());
        const auto ways = samples_.raw.ways();
        const RawSource source{place_.on_node("memory"),
                               limit_.bytes().first(std::min<std::uint64_t>(
                                   round_up(samples_.bytes, limits::page_bytes), limit_.bytes().size()))};
        for (std::size_t i = 0; i < ways.size(); ++i) {
            const auto way = (i + turn) % ways.size();
            FB_TRY_ASSIGN(cost, timed_raw_write(ranks_, place_.at_target("raw"), source, ways[way]));
            samples_.raw.add(way, cost.seconds);
            samples_.raw_cpu.add(way, cost.cpu_seconds);
        }
        FB_TRY_ASSIGN(cost, timed_raw_write(ranks_, place_.at_target("raw"), source, way_of_dd()));
        samples_.dd.push_back(cost.seconds);
        samples_.dd_cpu.push_back(cost.cpu_seconds);
        return {};
    }

    Result<> slow_down(int repeats, Slowdown& compute, Slowdown& memory) {
        for (const auto load : {Load::compute, Load::memory}) {
            LoadLoop loop(load);
            for (int turn = 0; turn < repeats; ++turn)
                FB_TRY(slow_down_once(loop, load == Load::compute ? compute : memory));
        }
        return {};
    }

    // Runs the same loop during a drain and for an equal time without it. The slowest rank counts, as in codes whose
    // ranks synchronize after every step.
    Result<> slow_down_once(LoadLoop& loop, Slowdown& slowdown) {
        FB_TRY(settle());
        const auto cpu_before = stream_->counters().drain_cpu_seconds;
        FB_TRY(stream_->save(++step_));
        const auto sealed = sys::Clock::now();
        const auto during = loop.rate([&] { return stream_->counters().newest_durable_step < step_; });
        const auto took = sys::Clock::now() - sealed;
        const auto cpu_seconds = stream_->counters().drain_cpu_seconds - cpu_before;
        FB_TRY(settle());
        ranks_.group().barrier();
        const auto end = sys::Clock::now() + took;
        const auto alone = loop.rate([&] { return sys::Clock::now() < end; });
        slowdown.drain_seconds.push_back(ranks_.max(std::chrono::duration<double>(took).count()));
        slowdown.cpu_percent.push_back(ranks_.max(cpu_seconds / std::chrono::duration<double>(took).count() /
                                                  static_cast<double>(sys::cpus_online())) *
                                       100);
        slowdown.percent.push_back((ranks_.min(alone) / ranks_.min(during) - 1) * 100);
        return {};
    }

    Ranks& ranks_;
    BenchPlace& place_;
    BenchTable& table_;
    MemcpyLimit& limit_;
    std::unique_ptr<Session> session_;
    std::unique_ptr<Stream> stream_;
    Samples samples_;
    std::int64_t step_ = 0;
};

void report(Ranks& ranks, const BenchOptions& options, const Samples& samples) {
    BenchReport report("drain");
    report.setting("ranks", static_cast<std::uint64_t>(ranks.size()));
    report.setting("bytes_per_rank", options.bytes_per_rank);
    report.seconds("durable", "seal to commit", samples.durable, samples.bytes);
    report.seconds("agent", "  of it the agent, writing and syncing", samples.agent, samples.bytes);
    for (std::size_t way = 0; way < samples.raw.ways().size(); ++way)
        report.seconds(samples.raw.ways()[way].key, samples.raw.ways()[way].what, samples.raw.of(way), samples.bytes);
    report.seconds(way_of_dd().key, way_of_dd().what, samples.dd, samples.bytes);
    const auto cpu = [&](const char* key, const std::string& of, const std::vector<double>& seconds) {
        auto each_gb = seconds;
        for (auto& value : each_gb) value *= 1e9 / static_cast<double>(samples.bytes);
        report.numbers(key, "CPU time a GB, " + of, "s", each_gb);
    };
    cpu("agent_cpu", "agent", samples.agent_cpu);
    cpu("dd_cpu", way_of_dd().what, samples.dd_cpu);
    cpu("raw_cpu", samples.raw.ways()[0].what, samples.raw_cpu.of(0));
    const auto slowdown = [&](const char* key, const char* what, const Slowdown& measured) {
        report.numbers(std::string("slowdown_") + key, std::string("slowdown of a ") + what, "%", measured.percent);
        report.numbers(std::string("agent_share_") + key, "  the agent's share of all CPUs meanwhile", "%",
                       measured.cpu_percent);
        report.seconds(std::string("durable_during_") + key, "  seal to commit meanwhile", measured.drain_seconds,
                       samples.bytes);
    };
    const auto paced = " loop, paced to " + show_rate(static_cast<double>(samples.paced_rate));
    slowdown("compute", "compute-bound loop", samples.compute);
    slowdown("memory", "memory-bound loop", samples.memory);
    slowdown("compute_paced", ("compute-bound" + paced).c_str(), samples.compute_paced);
    slowdown("memory_paced", ("memory-bound" + paced).c_str(), samples.memory_paced);
    const auto& best = samples.raw.ways()[samples.raw.best()];
    report.ratio(std::string(best.what) + " seconds / seal to commit",
                 spread_of(samples.best_raw).median / spread_of(samples.durable).median, 0.92,
                 ratios_of(samples.best_raw, samples.durable));
    report.other_ratio("cpu_ratio", std::string("CPU time of the agent / ") + way_of_dd().what + ", at most",
                       spread_of(samples.agent_cpu).median / spread_of(samples.dd_cpu).median, 1.3);
    const auto slowdown_percent = spread_of(samples.compute.percent).median;
    report.other_ratio("slowdown_ratio", "what a compute-bound loop lost / the agent's share of all CPUs, at most",
                       slowdown_percent / (1 + slowdown_percent / 100) / spread_of(samples.compute.cpu_percent).median,
                       1.0);
    report.print(options.json);
}

}  // namespace

Result<> bench_drain(Ranks& ranks, const BenchOptions& options) {
    FB_TRY_ASSIGN(place, BenchPlace::make(ranks, options));
    BenchTable table(options.bytes_per_rank / BenchTable::row_bytes, static_cast<std::uint32_t>(ranks.rank()));
    FB_TRY_ASSIGN(limit, MemcpyLimit::open(ranks, place.on_node("memory"), table));
    FB_TRY_ASSIGN(samples, DrainBench(ranks, place, table, limit).run(options.repeats));
    if (ranks.rank() == 0) report(ranks, options, samples);
    return {};
}

}  // namespace forebay::bench
