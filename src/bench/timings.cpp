// forebay bench timings: what keeping timings costs a save and a drain. Two sessions, one that keeps them and one that
// does not, save and drain the same bytes in turns.

#include <chrono>
#include <optional>
#include <utility>

#include "base/try.hpp"
#include "bench/bench.hpp"
#include "bench/place.hpp"
#include "bench/report.hpp"
#include "bench/spread.hpp"
#include "bench/table.hpp"
#include "sys/machine.hpp"

namespace forebay::bench {

namespace {

constexpr std::chrono::minutes drained_max{10};
constexpr const char* timed_stream_name = "particles";
constexpr double goal = 0.995;

struct Costs {
    std::vector<double> save, durable, agent, agent_cpu;
    std::uint64_t bytes = 0;
};

class TimedSession {
public:
    static Result<TimedSession> open(Ranks& ranks, BenchOptions options, bool timings) {
        options.timings = timings;
        FB_TRY_ASSIGN(place, BenchPlace::make(ranks, options));
        FB_TRY_ASSIGN(session, place.open(ranks));
        FB_TRY_ASSIGN(stream, session.stream(timed_stream_name, BenchPlace::stream_options()));
        FB_TRY_ASSIGN(particles, BenchTable::describe(stream));
        return TimedSession(ranks, std::move(place), std::move(session), std::move(stream), std::move(particles));
    }

    Result<> prepare(BenchTable& table) {
        FB_TRY(table.bind(*particles_, table.rows_in(0)));
        return stream_->prepare();
    }

    /// `turn` 0 warms up.
    Result<> run(BenchTable& table, int turn) {
        FB_TRY(table.bind(*particles_, table.rows_in(0)));
        const auto before = stream_->counters();
        FB_TRY_ASSIGN(saved, ranks_.timed([&]() -> Result<> {
            FB_TRY(stream_->save(turn));
            return {};
        }));
        FB_TRY_ASSIGN(committed, ranks_.timed([&]() -> Result<> { return stream_->wait_committed(drained_max); }));
        const auto after = stream_->counters();
        const auto agent = ranks_.max(after.drain_seconds - before.drain_seconds);
        const auto cpu = ranks_.max(after.drain_cpu_seconds - before.drain_cpu_seconds);
        costs_.bytes = after.bytes_drained - before.bytes_drained;
        FB_TRY(ranks_.agree(ranks_.rank() == 0 ? place_.remove_snapshots(timed_stream_name) : Result<>()));
        ranks_.rest();
        if (turn == 0) return {};
        costs_.save.push_back(saved);
        costs_.durable.push_back(committed);
        costs_.agent.push_back(agent);
        costs_.agent_cpu.push_back(cpu);
        return {};
    }

    Result<> close() { return session_->close(); }
    const Costs& costs() const { return costs_; }

private:
    TimedSession(Ranks& ranks, BenchPlace place, Session session, Stream stream, Particles particles)
        : ranks_(ranks),
          place_(std::move(place)),
          session_(std::move(session)),
          stream_(std::move(stream)),
          particles_(std::move(particles)) {}

    Ranks& ranks_;
    BenchPlace place_;
    std::optional<Session> session_;
    std::optional<Stream> stream_;
    std::optional<Particles> particles_;
    Costs costs_;
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
    BenchTable table(options.bytes_per_rank / BenchTable::row_bytes, static_cast<std::uint32_t>(ranks.rank()));
    FB_TRY_ASSIGN(with, TimedSession::open(ranks, options, true));
    FB_TRY_ASSIGN(without, TimedSession::open(ranks, options, false));
    FB_TRY(with.prepare(table));
    FB_TRY(without.prepare(table));
    // Neither always comes first after the other's drain.
    for (int turn = 0; turn <= options.repeats; ++turn)
        for (const bool first : {true, false}) FB_TRY((first == (turn % 2 == 0) ? with : without).run(table, turn));
    FB_TRY(with.close());
    FB_TRY(without.close());
    if (ranks.rank() == 0) report(ranks, options, with.costs(), without.costs());
    return {};
}

}  // namespace forebay::bench
