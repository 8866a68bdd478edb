#include "insight/advice/tune/race.hpp"

#include "core/base/splitmix.hpp"
#include "path/telemetry/median.hpp"

namespace forebay::advice {

using telemetry::median_of, telemetry::quantile_of;

Interval bootstrap_median(const std::vector<double>& samples, std::uint64_t seed) {
    if (samples.empty()) return {};
    constexpr std::size_t draws = 1000;
    std::vector<double> medians(draws), drawn(samples.size());
    std::uint64_t turn = 0;
    for (auto& median : medians) {
        for (auto& sample : drawn) sample = samples[splitmix(seed, turn++) % samples.size()];
        median = median_of(drawn);
    }
    return {quantile_of(medians, 0.05), median_of(samples), quantile_of(medians, 0.95)};
}

}  // namespace forebay::advice
