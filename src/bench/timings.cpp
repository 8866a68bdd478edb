// forebay bench timings: the cost of recorded timings for a save and a drain. Sessions with and without timings save
// and drain the same bytes in turns.

#include <chrono>
#include <optional>
#include <utility>

#include "bench/bench.hpp"
#include "bench/place.hpp"
#include "bench/report.hpp"
#include "bench/spread.hpp"
#include "bench/table.hpp"
#include "core/base/try.hpp"
#include "core/sys/machine.hpp"

namespace forebay::bench {

namespace {

constexpr std::chrono::minutes drained_max{10};
constexpr const char* timed_stream_name = "particles";
constexpr double goal = 0.995;
constexpr int saves_a_session = 3;

struct Costs {
    std::vector<double> save, durable, agent, agent_cpu;
    std::uint64_t bytes = 0;
};

// Both use one place, so that they write the same memory to the same disk: the place of a run made more difference than
// anything else.
class TimingsBench {
public:
    TimingsBench(Ranks& ranks, BenchPlace& place, BenchTable& table) : ranks_(ranks), place_(place), table_(table) {}

    /// A session with a few saves and drains. The first warms up.
    Result<> run(bool timings, Costs& costs) {
        FB_TRY_ASSIGN(session, place_.open(ranks_, 0, 0, timings));
        FB_TRY_ASSIGN(stream, session.stream(timed_stream_name, BenchPlace::stream_options()));
        FB_TRY_ASSIGN(particles, BenchTable::describe(stream));
        FB_TRY(table_.bind(particles, table_.rows_in(0)));
        FB_TRY(stream.prepare());
        for (int turn = 0; turn <= saves_a_session; ++turn) FB_TRY(save(stream, turn == 0 ? nullptr : &costs));
        return session.close();
    }

private:
    Result<> save(Stream& stream, Costs* costs) {
        const auto before = stream.counters();
        FB_TRY_ASSIGN(saved, ranks_.timed([&]() -> Result<> {
            FB_TRY(stream.save(++step_));
            return {};
        }));
        FB_TRY_ASSIGN(committed, ranks_.timed([&]() -> Result<> { return stream.wait_committed(drained_max); }));
        const auto after = stream.counters();
        const auto agent = ranks_.max(after.drain_seconds - before.drain_seconds);
        const auto cpu = ranks_.max(after.drain_cpu_seconds - before.drain_cpu_seconds);
        const auto bytes = after.bytes_drained - before.bytes_drained;
        FB_TRY(ranks_.agree(ranks_.rank() == 0 ? place_.remove_snapshots(timed_stream_name) : Result<>()));
        ranks_.rest();
        if (costs == nullptr) return {};
        costs->bytes = bytes;
        costs->save.push_back(saved);
        costs->durable.push_back(committed);
        costs->agent.push_back(agent);
        costs->agent_cpu.push_back(cpu);
        return {};
    }

    Ranks& ranks_;
    BenchPlace& place_;
    BenchTable& table_;
    std::int64_t step_ = 0;
};

void report(Ranks& ranks, const BenchOptions& options, const Costs& with, const Costs& without) {
    BenchReport report("timings");
    report.setting("ranks", static_cast<std::uint64_t>(ranks.size()));
    report.setting("bytes_per_rank", options.bytes_per_rank);
    report.setting("processor", sys::processor_name());
    report.seconds("save_without", "save, blocked, without timings", without.save, without.bytes);
    report.seconds("save_with", "save, blocked, with timings", with.save, with.bytes);
    report.seconds("drain_without", "agent's drain, without", without.agent, without.bytes);
    report.seconds("drain_with", "agent's drain, with", with.agent, with.bytes);
    report.seconds("cpu_without", "  of it CPU, without", without.agent_cpu);
    report.seconds("cpu_with", "  of it CPU, with", with.agent_cpu);
    report.seconds("commit_without", "from the save to the commit, without", without.durable);
    report.seconds("commit_with", "from the save to the commit, with", with.durable);
    const auto saves = ratios_of(without.save, with.save), drains = ratios_of(without.agent, with.agent);
    report.ratio("save without timings, seconds / with them", spread_of(saves).median, goal, saves);
    report.other_ratio("drain_ratio", "drain without timings, seconds / with them", spread_of(drains).median, goal);
    report.print(options.json);
}

}  // namespace

Result<> bench_timings(Ranks& ranks, const BenchOptions& options) {
    FB_TRY_ASSIGN(place, BenchPlace::make(ranks, options));
    BenchTable table(options.bytes_per_rank / BenchTable::row_bytes, static_cast<std::uint32_t>(ranks.rank()));
    TimingsBench bench(ranks, place, table);
    Costs with, without;
    // The order alternates.
    for (int turn = 0; turn < options.repeats; ++turn)
        for (const bool first : {true, false}) {
            const bool timings = first == (turn % 2 == 0);
            FB_TRY(bench.run(timings, timings ? with : without));
        }
    if (ranks.rank() == 0) report(ranks, options, with, without);
    return {};
}

}  // namespace forebay::bench
