#include "insight/advice/plan/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace forebay::advice {

namespace {

constexpr double gumbel_mean = 0.5772156649015329;  // Euler's constant

double horner(std::span<const double> factors, double x) {
    double sum = 0;
    for (const double factor : factors) sum = sum * x + factor;
    return sum;
}

}  // namespace

double normal_quantile(double p) {
    static constexpr std::array a{-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                                  1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
    static constexpr std::array b{-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                                  6.680131188771972e+01,  -1.328068155288572e+01, 1.0};
    static constexpr std::array c{-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                                  -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
    static constexpr std::array d{7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                  3.754408661907416e+00, 1.0};
    constexpr double tail = 0.02425;
    if (p < tail) {
        const double q = std::sqrt(-2 * std::log(p));
        return horner(c, q) / horner(d, q);
    }
    if (p > 1 - tail) return -normal_quantile(1 - p);
    const double q = p - 0.5, r = q * q;
    return horner(a, r) * q / horner(b, r);
}

double slowest_of(double count, double cv) {
    if (count < 2 || cv <= 0) return 1;
    return std::exp(cv * (normal_quantile(1 - 1 / count) + gumbel_mean / std::sqrt(2 * std::log(count))));
}

double random_placement(double files, double targets, double stripes) {
    if (files <= 0 || targets < 2) return 1;
    stripes = std::min(stripes, targets);
    // A target has Poisson(mean) pieces; E[max] is the sum over k of P(max > k). The stripes of a file go to different
    // targets, so the variance is smaller by the factor (T - c) / (T - 1).
    const double mean = files * stripes / targets;
    const double narrower = std::sqrt((targets - stripes) / (targets - 1));
    double below = 0, expected = 0, term = std::exp(-mean);
    if (term <= 0 || mean > 500) {  // nearly normal, and the exponential would underflow
        const double z = normal_quantile(1 - 1 / targets) + gumbel_mean / std::sqrt(2 * std::log(targets));
        return 1 + narrower * z / std::sqrt(mean);
    }
    // So far above the mean the remaining terms are below rounding.
    const int counts = static_cast<int>(mean + 100 * std::sqrt(mean) + 100);
    for (int k = 0; k < counts; ++k) {
        below += term;
        const double above = 1 - std::pow(std::min(below, 1.0), targets);
        if (above <= 0) break;
        expected += above;
        term *= mean / (k + 1);
    }
    return 1 + narrower * (expected / mean - 1);
}

double even_placement(double files, double targets) { return std::ceil(files / targets) * targets / files; }

double young_interval(double cost, double mtbf) { return std::sqrt(2 * cost * mtbf); }

double daly_interval(double cost, double mtbf) {
    if (cost >= 2 * mtbf) return mtbf;
    const double half = cost / (2 * mtbf);
    return std::sqrt(2 * cost * mtbf) * (1 + std::sqrt(half) / 3 + half / 9) - cost;
}

double daly_efficiency(double interval, double cost, double restart, double mtbf) {
    if (mtbf <= 0) return interval / (interval + cost);
    return interval / (mtbf * std::exp(restart / mtbf) * std::expm1((interval + cost) / mtbf));
}

double target_seconds(const Model& model) {
    if (model.target_rate <= 0) return 0;
    const double cv = model.target_rate_cv * std::sqrt(model.rendezvous / model.variables);
    const double slow = std::round(model.slow_target_share * model.targets);
    double factor = slowest_of(model.targets - slow, cv);
    // Slow targets are a group of their own: their slowest counts too.
    if (slow >= 1) factor = std::max(factor, slowest_of(slow, cv) / model.slow_target_ratio);
    return model.node_bytes * model.nodes / model.target_rate * factor;
}

namespace {

double node_drain_seconds(const Model& model) {
    if (model.drain_rate <= 0) return 0;
    const double cv = std::hypot(model.node_bytes_cv, model.drain_rate_cv);
    const double slow = std::round(model.slow_node_share * model.nodes);
    double factor = slow < model.nodes ? slowest_of(model.nodes - slow, cv) : 0;
    if (slow >= 1) factor = std::max(factor, slowest_of(slow, cv) / model.slow_node_ratio);
    return model.node_bytes / model.drain_rate * factor;
}

double visible_seconds(const Model& model, double save, double drain) {
    if (model.slots < 1) return drain;
    if (model.supersedes) return save;
    const double interval = model.interval_seconds();
    if (model.slots < 2) return save + std::max(0.0, drain - interval);
    // After a failure the second slot is empty, and absorbs a drain before saves wait.
    const double filled = model.mtbf_seconds > 0 ? drain * std::min(1.0, drain / model.mtbf_seconds) : 0;
    return std::max(save, drain - interval - filled);
}

// The time between two snapshots that become durable, at least the time between two saves.
double durable_period(const Model& model, double period, double drain) {
    if (!model.supersedes || model.slots < 1 || drain <= period) return period;
    // With one slot the next drain begins at a later save; with two it follows at once.
    return model.slots < 2 ? std::ceil(drain / period) * period : drain;
}

}  // namespace

Prediction predict(const Model& model) {
    Prediction prediction;
    const double interval = model.interval_seconds();
    const bool staged = model.slots >= 1;
    if (staged && model.save_rate > 0)
        prediction.save_seconds = model.node_bytes / model.save_rate *
                                  slowest_of(model.nodes, std::hypot(model.node_bytes_cv, model.save_rate_cv));
    prediction.drain_seconds = std::max(node_drain_seconds(model), target_seconds(model)) + model.commit_seconds;
    const double drain = prediction.drain_seconds;
    prediction.visible_seconds = visible_seconds(model, prediction.save_seconds, drain);
    if (prediction.save_seconds + drain > 0)
        prediction.hidden_ratio = std::max(0.0, 1 - prediction.visible_seconds / (prediction.save_seconds + drain));
    if (drain > 0) prediction.slack = interval / drain;
    prediction.overhead_ratio = prediction.visible_seconds / interval;

    const double reading = model.read_rate > 0 ? model.node_bytes / model.read_rate : 0;
    const double from_staged = model.save_rate > 0 ? model.node_bytes / model.save_rate : 0;
    const double local = staged ? model.local_restart_share : 0;
    prediction.restart_seconds = model.restart_seconds + local * from_staged + (1 - local) * reading;
    const double period = interval + prediction.visible_seconds;
    const double behind = (durable_period(model, period, drain) - period) / 2 + (staged ? drain : 0);
    const double protected_by_partner =
        staged && model.partner_rate > 0 ? std::min(behind, model.node_bytes / model.partner_rate) : behind;
    // After a local restart the staged copy is still there.
    const double late = (1 - local) * protected_by_partner;
    prediction.lost_work_seconds = period / 2 + late;
    const double useful = model.every * model.step_seconds;
    prediction.forward_progress =
        daly_efficiency(useful, period - useful, prediction.restart_seconds + late, model.mtbf_seconds);
    // A staged save costs the application only the copy, so the best interval uses that cost.
    const double cost = staged ? prediction.save_seconds : drain;
    if (model.mtbf_seconds > 0 && cost > 0) {
        prediction.young_seconds = young_interval(cost, model.mtbf_seconds);
        prediction.daly_seconds = daly_interval(cost, model.mtbf_seconds);
    }
    return prediction;
}

BestLevels best_levels(std::span<const ProtectionLevel> levels) {
    BestLevels best;
    if (levels.empty()) return best;
    const auto last = levels.size() - 1;
    // Tries all sets of kept levels. A dropped level passes its failures to the next kept level.
    for (std::uint64_t kept = 0; kept < std::uint64_t{1} << last; ++kept) {
        BestLevels tried{.periods = std::vector<double>(levels.size(), 0.0)};
        double rate = 0;
        for (std::size_t level = 0; level <= last; ++level) {
            rate += levels[level].rate;
            if (level < last && (kept >> level & 1) == 0) continue;
            if (rate > 0) tried.periods[level] = std::sqrt(2 * levels[level].cost / rate);
            tried.overhead += std::sqrt(2 * rate * levels[level].cost);
            rate = 0;
        }
        if (best.periods.empty() || tried.overhead < best.overhead) best = std::move(tried);
    }
    return best;
}

}  // namespace forebay::advice
