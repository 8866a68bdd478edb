// forebay bench pace: the cost of drains for a loop on all cores, without a limit and with slowdown_percent_max, and
// the drain rates. The same loop without a drain shows the noise of the machine.

#include <algorithm>
#include <memory>
#include <vector>

#include "bench/bench.hpp"
#include "bench/load.hpp"
#include "bench/place.hpp"
#include "bench/report.hpp"
#include "bench/spread.hpp"
#include "bench/table.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"

namespace forebay::bench {

namespace {

constexpr std::chrono::minutes commit_max{10};
constexpr const char* stream_name = "pace";
// Long enough that the kernel's time slices of some milliseconds are part of every step.
constexpr std::chrono::milliseconds step_time{60};
// Steps before a save. The time of a step without a drain is measured beside each drain, because machines drift.
constexpr int steps_alone = 20;
// A paced drain may last this long. Then the benchmark waits for it, and the agent goes at full speed.
constexpr std::chrono::seconds drain_max{60};

struct Samples {
    std::vector<double> slowdown, counted_slowdown, rate, steps;  // percent, percent, bytes a second, number
};

class PaceBench {
public:
    PaceBench(Ranks& ranks, BenchPlace& place, BenchTable& table) : ranks_(ranks), place_(place), table_(table) {}

    Result<> open(double slowdown_percent_max) {
        session_.reset();
        FB_TRY_ASSIGN(session, place_.open(ranks_, 0, slowdown_percent_max));
        session_ = std::make_unique<Session>(std::move(session));
        FB_TRY_ASSIGN(stream, session_->stream(stream_name, BenchPlace::stream_options()));
        stream_ = std::make_unique<Stream>(stream);
        FB_TRY_ASSIGN(particles, BenchTable::describe(*stream_));
        FB_TRY(table_.bind(particles, table_.rows_in(0)));
        FB_TRY(stream_->prepare());
        double rounds = 0;
        const auto end = sys::Clock::now() + std::chrono::seconds(1);
        const auto rate = loop_.rate([&] { return ++rounds > 0 && sys::Clock::now() < end; });
        rounds_ = std::max(1, static_cast<int>(ranks_.min(rate) * std::chrono::duration<double>(step_time).count()));
        return {};
    }
    Result<> close() { return session_->close(); }

    /// The first drain is not counted: a pace must first find its rate.
    Result<> run(int repeats, bool drains, Samples& samples) {
        for (int turn = 0; turn <= repeats; ++turn) FB_TRY(once(drains, turn == 0 ? nullptr : &samples));
        return {};
    }

private:
    // Runs steps until `goes_on`, called on rank 0, returns false. Returns their seconds.
    template <class GoesOn>
    Result<std::vector<double>> steps(GoesOn&& goes_on) {
        std::vector<double> seconds;
        for (bool more = true; more;) {
            const auto begin = sys::Clock::now();
            int left = rounds_;
            loop_.rate([&] { return --left > 0; });
            FB_TRY(session_->job());
            seconds.push_back(std::chrono::duration<double>(sys::Clock::now() - begin).count());
            more = ranks_.max(ranks_.rank() == 0 && goes_on(static_cast<int>(seconds.size())) ? 1 : 0) > 0;
        }
        return seconds;
    }

    Result<> once(bool drains, Samples* samples) {
        FB_TRY(stream_->wait_committed(commit_max));
        FB_TRY(ranks_.agree(ranks_.rank() == 0 ? place_.remove_snapshots(stream_name) : Result<>()));
        FB_TRY_ASSIGN(alone, steps([](int count) { return count < steps_alone; }));
        const auto before = stream_->counters();
        if (drains) FB_TRY(stream_->save(++step_));
        const auto sealed = sys::Clock::now();
        FB_TRY_ASSIGN(during, steps([&](int count) {
                          if (!drains) return count < steps_alone;
                          return stream_->counters().newest_durable_step < step_ &&
                                 sys::Clock::now() - sealed < drain_max;
                      }));
        const auto took = std::chrono::duration<double>(sys::Clock::now() - sealed).count();
        FB_TRY(stream_->wait_committed(commit_max));
        if (samples == nullptr) return {};
        const auto after = stream_->counters();
        samples->slowdown.push_back((spread_of(during).median / spread_of(alone).median - 1) * 100);
        samples->counted_slowdown.push_back(after.slowdown_percent);
        samples->rate.push_back(static_cast<double>(after.bytes_drained - before.bytes_drained) / took);
        samples->steps.push_back(static_cast<double>(during.size()));
        return {};
    }

    Ranks& ranks_;
    BenchPlace& place_;
    BenchTable& table_;
    LoadLoop loop_{Load::memory};
    int rounds_ = 1;
    std::unique_ptr<Session> session_;
    std::unique_ptr<Stream> stream_;
    std::int64_t step_ = 0;
};

void report(Ranks& ranks, const BenchOptions& options, const Samples& none, const Samples& free, const Samples& paced) {
    BenchReport report("pace");
    report.setting("ranks", static_cast<std::uint64_t>(ranks.size()));
    report.setting("bytes_per_rank", options.bytes_per_rank);
    report.setting("slowdown_percent_max", std::to_string(options.slowdown_percent_max));
    report.numbers("slowdown_no_drain", "slowdown without a drain: the machine's noise", "%", none.slowdown);
    const auto rows = [&](const std::string& key, const std::string& what, const Samples& samples) {
        report.numbers("slowdown_" + key, "slowdown while draining, " + what, "%", samples.slowdown);
        report.numbers("told_" + key, "  as the counters tell it", "%", samples.counted_slowdown);
        report.numbers("rate_" + key, "  seal to commit", "MB/s", [&] {
            std::vector<double> rates;
            for (const auto rate : samples.rate) rates.push_back(rate / 1e6);
            return rates;
        }());
        report.numbers("steps_" + key, "  steps meanwhile", "steps", samples.steps);
    };
    rows("unpaced", "no limit", free);
    rows("paced", "with the limit", paced);
    // A step at the limit / the measured step: 1 or more if the limit was kept.
    const auto of_limit = [&](double slowdown) { return (100 + options.slowdown_percent_max) / (100 + slowdown); };
    std::vector<double> ratios;
    for (const auto slowdown : paced.slowdown) ratios.push_back(of_limit(slowdown));
    report.ratio("a step at the limit / a step with the limit", of_limit(spread_of(paced.slowdown).median), 1.0,
                 ratios);
    report.print(options.json);
}

}  // namespace

Result<> bench_pace(Ranks& ranks, const BenchOptions& options) {
    FB_TRY_ASSIGN(place, BenchPlace::make(ranks, options));
    BenchTable table(options.bytes_per_rank / BenchTable::row_bytes, static_cast<std::uint32_t>(ranks.rank()));
    PaceBench bench(ranks, place, table);
    Samples none, free, paced;
    FB_TRY(bench.open(0));
    FB_TRY(bench.run(options.repeats, false, none));
    FB_TRY(bench.run(options.repeats, true, free));
    FB_TRY(bench.close());
    FB_TRY(bench.open(options.slowdown_percent_max));
    FB_TRY(bench.run(options.repeats, true, paced));
    FB_TRY(bench.close());
    if (ranks.rank() == 0) report(ranks, options, none, free, paced);
    return {};
}

}  // namespace forebay::bench
