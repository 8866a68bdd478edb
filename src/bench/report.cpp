#include "bench/report.hpp"

#include <fmt/format.h>

#include "bench/spread.hpp"
#include "core/base/show_text.hpp"
#include "core/base/units.hpp"
#include "core/terminal/print.hpp"

namespace forebay::bench {

namespace {

std::string show(double value, const std::string& unit) {
    if (unit == "s") return show_seconds(value);
    if (unit == "bytes") return show_bytes(static_cast<std::uint64_t>(value));
    if (unit == "x") return fmt::format("{:.2f} x", value);
    return fmt::format("{:.1f} {}", value, unit);
}

}  // namespace

BenchReport::BenchReport(const std::string& bench)
    : bench_(bench), table_({{""}, {"median", true}, {"min", true}, {"max", true}, {"rate", true}, {"runs", true}}) {
    object_.set("bench", bench);
}

void BenchReport::setting(const std::string& key, std::uint64_t value) {
    settings_.push_back(fmt::format("{} {}", key, value));
    object_.set(key, value);
}

void BenchReport::setting(const std::string& key, const std::string& value) {
    settings_.push_back(fmt::format("{} {}", key, value));
    object_.set(key, value);
}

void BenchReport::add(const std::string& key, const std::string& what, const std::string& unit,
                      const std::vector<double>& samples, std::uint64_t bytes) {
    const auto spread = spread_of(samples);
    const double rate = bytes > 0 && spread.median > 0 ? static_cast<double>(bytes) / spread.median : 0;
    table_.row({what, show(spread.median, unit), show(spread.min, unit), show(spread.max, unit),
                rate > 0 ? show_rate(rate) : "", fmt::format("{}", spread.count)});
    auto entry = cli::Json::object();
    entry.set("unit", unit).set("median", spread.median).set("min", spread.min).set("max", spread.max);
    entry.set("lower_quartile", spread.lower_quartile).set("upper_quartile", spread.upper_quartile);
    if (rate > 0) entry.set("bytes", bytes).set("bytes_per_second", rate);
    auto all = cli::Json::array();
    for (const auto sample : samples) all.push(sample);
    entry.set("samples", all);
    measured_.set(key, entry);
}

void BenchReport::seconds(const std::string& key, const std::string& what, const std::vector<double>& samples,
                          std::uint64_t bytes) {
    add(key, what, "s", samples, bytes);
}

void BenchReport::numbers(const std::string& key, const std::string& what, const std::string& unit,
                          const std::vector<double>& samples) {
    add(key, what, unit, samples, 0);
}

void BenchReport::ratio(const std::string& what, double value, double goal, const std::vector<double>& spread) {
    object_.set("ratio", value).set("goal", goal).set("ratio_is", what);
    auto line = fmt::format("ratio {:.3f}  (goal {:.2f}): {}", value, goal, what);
    if (!spread.empty()) {
        const auto turns = spread_of(spread);
        object_.set("ratio_lower_quartile", turns.lower_quartile).set("ratio_upper_quartile", turns.upper_quartile);
        line += fmt::format("; quartiles of the turns {:.3f} to {:.3f}", turns.lower_quartile, turns.upper_quartile);
    }
    ratios_.push_back(line);
}

void BenchReport::other_ratio(const std::string& key, const std::string& what, double value, double goal) {
    object_.set(key, value).set(key + "_goal", goal).set(key + "_is", what);
    ratios_.push_back(fmt::format("{} {:.3f}  (goal {:.2f}): {}", key, value, goal, what));
}

void BenchReport::print(bool json) const {
    if (json) {
        auto object = object_;
        object.set("measured", measured_).print();
        return;
    }
    const auto settings = fmt::format("{}", fmt::join(settings_, ", "));
    cli::say({fmt::format("forebay bench {}: {}\n", bench_, show_text(settings))});
    cli::say(table_.text());
    for (const auto& line : ratios_) cli::say({show_text(line) + "\n"});
}

}  // namespace forebay::bench
