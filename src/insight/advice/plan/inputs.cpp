#include "insight/advice/plan/inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "path/telemetry/median.hpp"

namespace forebay::advice {

namespace {

using format::Measure;
using format::MeasureOrigin;

using M = Model;
constexpr std::array kinds{
    InputKind{"nodes", "nodes", Unit::number, &M::nodes, nullptr, 1, "Nodes of the run"},
    InputKind{"bytes_per_node", "node_bytes", Unit::bytes, &M::node_bytes, &M::node_bytes_cv, 1,
              "Bytes that a node saves at a time"},
    InputKind{"save_rate", "save_rate_bytes_per_second", Unit::rate, &M::save_rate, &M::save_rate_cv, 1,
              "Rate at which a node copies into its slot"},
    InputKind{"drain_rate", "drain_rate_bytes_per_second", Unit::rate, &M::drain_rate, &M::drain_rate_cv, 0,
              "Rate at which one node drains"},
    InputKind{"target_rate", "target_rate_bytes_per_second", Unit::rate, &M::target_rate, &M::target_rate_cv, 0,
              "Rate of the target for all nodes together; 0: only the nodes limit it"},
    InputKind{"read_rate", "read_rate_bytes_per_second", Unit::rate, &M::read_rate, nullptr, 0,
              "Rate at which a node reads its part at a restart"},
    InputKind{"commit", "commit_seconds", Unit::seconds, &M::commit_seconds, nullptr, 0,
              "Time from the last drain to the commit"},
    InputKind{"targets", "targets", Unit::number, &M::targets, nullptr, 1,
              "Storage targets, such as OSTs, for each save"},
    InputKind{"variables", "variables", Unit::number, &M::variables, nullptr, 1,
              "Variables of a save. The rate of the target varies from variable to variable"},
    InputKind{"rendezvous", "rendezvous", Unit::number, &M::rendezvous, nullptr, 1,
              "Number of variables at which all writers wait for each other"},
    InputKind{"", "slow_node_share", Unit::share, &M::slow_node_share, nullptr, 0, ""},
    InputKind{"", "slow_node_ratio", Unit::share, &M::slow_node_ratio, nullptr, 1e-6, ""},
    InputKind{"", "slow_target_share", Unit::share, &M::slow_target_share, nullptr, 0, ""},
    InputKind{"", "slow_target_ratio", Unit::share, &M::slow_target_ratio, nullptr, 1e-6, ""},
    InputKind{"step_seconds", "step_seconds", Unit::seconds, &M::step_seconds, nullptr, 1e-9,
              "Time to compute one step, without saves"},
    InputKind{"every", "save_every_steps", Unit::number, &M::every, nullptr, 1, "Steps from save to save"},
    InputKind{"steps", "steps", Unit::number, &M::steps, nullptr, 1, "Steps of the whole run"},
    InputKind{"slots", "slots", Unit::number, &M::slots, nullptr, 0,
              "Slots of the stream, 1 or 2; 0: without staging, a save lasts until it is durable"},
    InputKind{"policy", "policy_supersedes", Unit::policy, nullptr, nullptr, 0,
              "If no slot is free: wait, or supersede a waiting snapshot"},
    InputKind{"keep", "kept_snapshots", Unit::number, nullptr, nullptr, 1, "Snapshots that stay at the target"},
    InputKind{"agent_cost", "agent_cost_ratio", Unit::share, &M::agent_cost, nullptr, 0,
              "Share by which drains make steps longer"},
    InputKind{"mtbf", "mtbf_seconds", Unit::seconds, &M::mtbf_seconds, nullptr, 0,
              "Time between failures of all nodes together; 0: nothing fails"},
    InputKind{"restart_seconds", "restart_fixed_seconds", Unit::seconds, &M::restart_seconds, nullptr, 0,
              "Time of a restart without the read"},
    InputKind{"local_restarts", "local_restart_share", Unit::share, &M::local_restart_share, nullptr, 0,
              "Share of failures that keep the staged copies, such as the crash of a process"},
    InputKind{"target_losses", "target_loss_share", Unit::share, &M::target_loss_share, nullptr, 0,
              "Share of failures that lose the target"},
    InputKind{"partner_rate", "partner_rate_bytes_per_second", Unit::rate, &M::partner_rate, nullptr, 0,
              "Rate at which a node copies to another node; 0: no such copy"},
    InputKind{"copy_rate", "copy_rate_bytes_per_second", Unit::rate, &M::copy_rate, nullptr, 0,
              "Rate of the copy to a second target; 0: no such copy"},
    InputKind{"copy_every", "copy_every_saves", Unit::number, &M::copy_every, nullptr, 1,
              "Saves between two such copies"},
    InputKind{"ends_in", "ends_in_seconds", Unit::seconds, nullptr, nullptr, 0,
              "Time until the job ends. The plan shows the saves that can still become durable"},
    InputKind{"", "ahead_seconds", Unit::seconds, nullptr, nullptr, 0, ""},
    InputKind{"", "measured_nodes", Unit::number, nullptr, nullptr, 0, ""},
    InputKind{"", "measured_node_bytes", Unit::bytes, nullptr, nullptr, 0, ""},
};

// The values if no source gives them.
struct Assumed {
    const char* name;
    double value;
    const char* from;
};
constexpr std::array assumptions{
    Assumed{"nodes", 1, "one node"},
    Assumed{"save_rate_bytes_per_second", 10e9, "memory of a node of two sockets"},
    Assumed{"targets", 1, "targets are not distinguished"},
    Assumed{"variables", 1, "all in one"},
    Assumed{"rendezvous", 1, "one a save"},
    Assumed{"slow_node_share", 0, "none"},
    Assumed{"slow_node_ratio", 1, "none"},
    Assumed{"slow_target_share", 0, "none"},
    Assumed{"slow_target_ratio", 1, "none"},
    Assumed{"save_every_steps", 1, "each step"},
    Assumed{"slots", 1, "the default of a stream"},
    Assumed{"policy_supersedes", 0, "the default of a stream: wait"},
    Assumed{"kept_snapshots", 3, "the default of a stream"},
    Assumed{"restart_fixed_seconds", 300, "five minutes to start again"},
    Assumed{"copy_every_saves", 1, "each save"},
};
constexpr double node_mtbf_seconds = 10 * 365.25 * 86400;  // each node fails once in ten years
constexpr double read_to_drain = 2;  // measured at 8,100 nodes (2.02) and on one (2.04): requirements H19, P10

Measure assumed(const PlanInputs& known, const InputKind& kind) {
    Measure measure{.name = kind.name, .origin = MeasureOrigin::assumed, .from = "none"};
    const auto fixed = std::ranges::find(assumptions, std::string_view(kind.name), &Assumed::name);
    if (fixed != assumptions.end()) {
        measure.value = fixed->value;
        measure.from = fixed->from;
    } else if (measure.name == "mtbf_seconds") {
        measure.value = node_mtbf_seconds / std::max(1.0, known.value("nodes"));
        measure.from = "ten years a node";
    } else if (measure.name == "steps") {
        measure.value = 500 * known.value("save_every_steps");
        measure.from = "500 saves";
    } else if (measure.name == "read_rate_bytes_per_second") {
        // A node's share of the target's rate.
        const double each = known.value("target_rate_bytes_per_second") / std::max(1.0, known.value("nodes"));
        const double drain = known.value("drain_rate_bytes_per_second");
        measure.value = read_to_drain * (drain > 0 && each > 0 ? std::min(drain, each) : std::max(drain, each));
        measure.from = "twice the drain";
    }
    return measure;
}

// Reads a number from a profile's key; 0 if it is missing.
double number_in(const format::AdviceSetting& key, std::string_view name) {
    for (const auto& [label, text] : key) {
        double number = 0;
        const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (label == name && failed == std::errc() && end == text.data() + text.size()) return number;
    }
    return 0;
}

Error not_known(const char* what, const char* option) {
    return {ErrorKind::refused, fmt::format("there is no value for {}", what), "",
            fmt::format("give {}, or --run RUN, or a file of forebay preflight or forebay bench run", option)};
}

}  // namespace

std::span<const InputKind> input_kinds() { return kinds; }

const InputKind* input_of_key(std::string_view key) {
    const auto kind = std::ranges::find(kinds, key, &InputKind::key);
    return kind == kinds.end() || key.empty() ? nullptr : &*kind;
}

double PlanInputs::value(std::string_view name) const {
    const auto* measure = find(name);
    return measure != nullptr ? measure->value : 0;
}

void PlanInputs::take(const Measure& measure) {
    if (std::ranges::find(kinds, measure.name, &InputKind::name) == kinds.end()) return;
    if (!std::isfinite(measure.value)) return;
    if (measure.value == 0 && measure.name.starts_with("slow_") && measure.name.ends_with("_ratio")) return;  // none
    const auto known = std::ranges::find(measures_, measure.name, &Measure::name);
    if (known == measures_.end()) measures_.push_back(measure);
    else *known = measure;
}

void PlanInputs::take(const format::Advice& advice, const std::string& path) {
    const bool plans = advice.kind == "plan";
    auto measures = advice.measures;
    if (advice.kind == "profile") {
        const double nodes = number_in(advice.key, "nodes");
        const double node_bytes = number_in(advice.key, "ranks_per_node") * number_in(advice.key, "bytes_per_rank");
        for (const auto& [name, value] : {std::pair{"nodes", nodes}, {"node_bytes", node_bytes}})
            if (value > 0)
                measures.push_back(
                    {.name = name, .value = value, .samples = 1, .origin = MeasureOrigin::measured, .from = path});
    }
    for (auto measure : measures) {
        if (measure.origin == MeasureOrigin::assumed || measure.origin == MeasureOrigin::predicted) continue;
        if (measure.name == "ends_in_seconds" || measure.name == "ahead_seconds") continue;  // relative to then
        // Later readers must see which file and row a number came from.
        if (!plans) measure.from = measure.from.starts_with("row ") ? path + ", " + measure.from : path;
        // Several files may give `nodes`: the largest counts.
        if (!plans && measure.name == "nodes" && measure.value <= value("nodes")) continue;
        if (advice.kind == "profile" && measure.name == "node_bytes" && value("node_bytes") > 0) continue;
        take(measure);
    }
    // A plan has these among its own measures.
    if (plans) return;
    const auto* rate = format::find(measures, "drain_rate_bytes_per_second");
    for (const auto& [name, of] : {std::pair{"measured_nodes", "nodes"}, {"measured_node_bytes", "node_bytes"}})
        if (const auto* measure = format::find(measures, of); measure != nullptr && rate != nullptr)
            take({.name = name, .value = measure->value, .samples = 1, .origin = measure->origin, .from = path});
}

Result<PlanInputs> PlanInputs::settled() const {
    if (value("node_bytes") <= 0) return not_known("the bytes of a node", "--bytes-per-node 64G");
    if (value("step_seconds") <= 0) return not_known("the time of a step", "--step-seconds 60");
    if (value("drain_rate_bytes_per_second") <= 0 && value("target_rate_bytes_per_second") <= 0)
        return not_known("the drain rate of a node", "--drain-rate 500M or --target-rate 100G");
    PlanInputs all;
    for (const auto& kind : kinds) {
        const auto* known = find(kind.name);
        if (known != nullptr && known->value < kind.least)
            return Error{ErrorKind::refused, fmt::format("{} is {}: at least {} is needed ({})", kind.name,
                                                         known->value, kind.least, known->from)};
        if (known != nullptr && (known->value > input_max || !(known->cv >= 0 && known->cv <= cv_max)))
            return Error{ErrorKind::refused,
                         fmt::format("{} is {} with a cv of {}: the limits are {:g} and {} ({})", kind.name,
                                     known->value, known->cv, input_max, cv_max, known->from)};
        if (known != nullptr && kind.unit == Unit::share && known->value > 1)
            return Error{ErrorKind::refused,
                         fmt::format("{} is {}: a share is at most 1 ({})", kind.name, known->value, known->from)};
        if (known != nullptr) all.take(*known);
    }
    // Assumed values may depend on known values, so they come second.
    for (const auto& kind : kinds)
        if (all.find(kind.name) == nullptr) all.take(assumed(all, kind));
    if (all.value("nodes") > nodes_max)
        return Error{ErrorKind::refused,
                     fmt::format("{} nodes are too many: the limit is {}", all.value("nodes"), nodes_max)};
    if (all.value("steps") / all.value("save_every_steps") > saves_max)
        return Error{ErrorKind::refused,
                     fmt::format("a run of {} steps that saves every {} steps has more than {} saves",
                                 all.value("steps"), all.value("save_every_steps"), saves_max),
                     "", "plan a part of it with --steps, or fewer saves with --every"};
    if (all.value("rendezvous") > all.value("variables"))
        return Error{ErrorKind::refused, "there are more rendezvous than variables", "", "--variables"};
    if (all.value("local_restart_share") + all.value("target_loss_share") > 1)
        return Error{ErrorKind::refused, "local restarts and losses of the target are more than all failures"};
    // In the order of the kinds, whatever the order of the sources.
    std::ranges::sort(all.measures_, {}, [](const Measure& measure) {
        return std::ranges::find(kinds, measure.name, &InputKind::name) - kinds.begin();
    });
    return all;
}

Model PlanInputs::model() const {
    Model model;
    for (const auto& kind : kinds) {
        const auto* measure = find(kind.name);
        if (measure == nullptr) continue;
        if (kind.member != nullptr) model.*kind.member = measure->value;
        if (kind.cv != nullptr) model.*kind.cv = measure->cv;
    }
    model.supersedes = value("policy_supersedes") > 0;
    return model;
}

Measure measure_of(const std::string& name, const std::vector<double>& samples, MeasureOrigin origin,
                   const std::string& from) {
    Measure measure{.name = name,
                    .value = telemetry::median_of(samples),
                    .low = telemetry::quantile_of(samples, 0.1),
                    .high = telemetry::quantile_of(samples, 0.9),
                    .samples = samples.size(),
                    .origin = origin,
                    .from = from};
    double sum = 0, squares = 0;
    for (const double sample : samples) sum += sample;
    const double mean = sum / std::max(1.0, static_cast<double>(samples.size()));
    for (const double sample : samples) squares += (sample - mean) * (sample - mean);
    if (samples.size() > 1 && mean > 0)
        measure.cv = std::sqrt(squares / static_cast<double>(samples.size() - 1)) / mean;
    return measure;
}

}  // namespace forebay::advice
