// forebay bench save --variables N: the cost of planning and sealing for many variables, beside the copy.

#include <fmt/format.h>

#include "bench/bench.hpp"
#include "bench/place.hpp"
#include "bench/report.hpp"
#include "bench/spread.hpp"
#include "core/base/try.hpp"

namespace forebay::bench {

namespace {

constexpr std::chrono::minutes commit_max{10};
constexpr std::uint64_t rows = 1000;
constexpr double goal_us = 50;

struct Samples {
    std::vector<double> unchanged, changed, blocked_unchanged, blocked_changed;
};

// Half are columns of one table, half one-dimensional arrays.
class Variables {
public:
    Variables(Ranks& ranks, int count)
        : columns_(static_cast<std::size_t>(count + 1) / 2),
          arrays_(static_cast<std::size_t>(count) / 2),
          memory_(2 * rows),
          rank_(static_cast<std::uint64_t>(ranks.rank())),
          ranks_(static_cast<std::uint64_t>(ranks.size())) {}

    Result<Particles> describe(Stream& stream) {
        std::vector<Column> columns;
        for (std::size_t c = 0; c < columns_; ++c) columns.push_back({.name = fmt::format("c{:04}", c), .type = f32});
        const Box own{.lo = {rank_ * rows}, .size = {rows}};
        for (std::size_t a = 0; a < arrays_; ++a)
            FB_TRY(stream.array(fmt::format("fields/a{:04}", a), f32, {ranks_ * rows}, {packed(own, memory_.data())}));
        return stream.particles("table", columns);
    }

    // All variables share one piece of memory, because the measured work does not read values.
    Result<> bind(Particles& table, std::uint64_t own_rows) {
        return table.bind(own_rows, std::vector<ColumnData>(columns_, ColumnData(memory_.data())));
    }

private:
    std::size_t columns_, arrays_;
    std::vector<float> memory_;
    std::uint64_t rank_, ranks_;
};

void report(Ranks& ranks, const BenchOptions& options, const Samples& samples) {
    BenchReport report("save");
    report.setting("ranks", static_cast<std::uint64_t>(ranks.size()));
    report.setting("variables", static_cast<std::uint64_t>(options.variables));
    report.setting("rows_per_rank", rows);
    report.numbers("plan_us_unchanged", "plan and seal, counts unchanged", "us", samples.unchanged);
    report.numbers("plan_us_changed", "plan and seal, counts changed", "us", samples.changed);
    report.numbers("blocked_us_unchanged", "whole save, counts unchanged", "us", samples.blocked_unchanged);
    report.numbers("blocked_us_changed", "whole save, counts changed", "us", samples.blocked_changed);
    report.ratio(fmt::format("{:.0f} us / plan and seal with changed counts", goal_us),
                 goal_us / spread_of(samples.changed).median, 1);
    report.print(options.json);
}

}  // namespace

Result<> bench_save_variables(Ranks& ranks, const BenchOptions& options) {
    FB_TRY_ASSIGN(place, BenchPlace::make(ranks, options));
    FB_TRY_ASSIGN(session, place.open(ranks));
    FB_TRY_ASSIGN(stream, session.stream("variables", BenchPlace::stream_options()));
    Variables variables(ranks, options.variables);
    FB_TRY_ASSIGN(table, variables.describe(stream));
    FB_TRY(variables.bind(table, rows));
    FB_TRY(stream.prepare());
    Samples samples;
    const auto save = [&](int step, std::vector<double>* plan, std::vector<double>* blocked) -> Result<> {
        FB_TRY(stream.wait_committed(commit_max));
        ranks.rest();
        Saved saved;
        FB_TRY_ASSIGN(seconds, ranks.timed([&]() -> Result<> {
            FB_TRY_ASSIGN(done, stream.save(step));
            saved = done;
            return {};
        }));
        if (plan != nullptr) plan->push_back(ranks.max(saved.plan_seconds) * 1e6);
        if (blocked != nullptr) blocked->push_back(seconds * 1e6);
        return {};
    };
    FB_TRY(save(0, nullptr, nullptr));
    for (int turn = 1; turn <= options.repeats; ++turn) {
        FB_TRY(variables.bind(table, rows + static_cast<std::uint64_t>((turn * 7 + ranks.rank() * 3) % 11) + 1));
        FB_TRY(save(2 * turn - 1, &samples.changed, &samples.blocked_changed));
        FB_TRY(save(2 * turn, &samples.unchanged, &samples.blocked_unchanged));
    }
    FB_TRY(session.close());
    if (ranks.rank() == 0) report(ranks, options, samples);
    return {};
}

}  // namespace forebay::bench
