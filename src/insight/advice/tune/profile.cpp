#include "insight/advice/tune/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

#include "core/base/units.hpp"
#include "insight/advice/tune/gain.hpp"
#include "path/telemetry/median.hpp"

namespace forebay::advice {

using format::Measure, format::MeasureOrigin;

namespace {

constexpr double worth_telling = 1.03;

Measure measure_of(const std::string& name, const std::vector<double>& samples, double value) {
    Measure measure{.name = name, .value = value, .samples = samples.size(), .origin = MeasureOrigin::measured};
    double sum = 0, squares = 0;
    for (const auto sample : samples) sum += sample;
    const double mean = samples.empty() ? 0 : sum / static_cast<double>(samples.size());
    for (const auto sample : samples) squares += (sample - mean) * (sample - mean);
    if (samples.size() > 1 && mean > 0)
        measure.cv = std::sqrt(squares / static_cast<double>(samples.size() - 1)) / mean;
    measure.low = telemetry::quantile_of(samples, 0.1);
    measure.high = telemetry::quantile_of(samples, 0.9);
    return measure;
}

// The median of each measure over a choice's learned trials, with all bytes if possible, else a quarter.
std::vector<Measure> measures_of(const Tuner& tuner, const Choice& choice) {
    const double share = tuner.cost_of(choice, 1) ? 1 : 0.25;
    std::vector<std::string> names;
    std::map<std::string, std::vector<double>> samples;
    for (const auto& observation : tuner.observations()) {
        if (!observation.learned || observation.trial.choice != choice || observation.trial.share != share) continue;
        for (const auto& measure : observation.outcome.measures) {
            if (measure.name == "after_seconds") continue;
            if (!samples.contains(measure.name)) names.push_back(measure.name);
            samples[measure.name].push_back(measure.value);
        }
    }
    std::vector<Measure> all;
    all.reserve(names.size());
    for (const auto& name : names) all.push_back(measure_of(name, samples[name], telemetry::median_of(samples[name])));
    return all;
}

Measure single(const char* name, double value) {
    return {.name = name, .value = value, .samples = 1, .origin = MeasureOrigin::measured};
}

// Amounts in the form of options. The lines to paste have bytes, as configurations do.
std::string shown_value(const std::string& knob, const std::string& value) {
    std::uint64_t bytes = 0;
    const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), bytes);
    const bool is_amount = knob.ends_with("_bytes") && failed == std::errc{} && end == value.data() + value.size();
    return is_amount ? option_bytes(bytes) : value;
}

}  // namespace

format::AdviceSetting setting_of(const std::vector<Knob>& knobs, const Choice& choice) {
    format::AdviceSetting setting;
    for (std::size_t knob = 0; knob < knobs.size(); ++knob)
        setting.emplace_back(knobs[knob].name, knobs[knob].values[choice[knob]]);
    return setting;
}

format::Advice profile_of(const Tuner& tuner) {
    format::Advice advice{.kind = "profile"};
    const auto best = tuner.best();
    advice.measures = measures_of(tuner, best);
    // A setting that never ran in full is shown at a quarter.
    const auto cost = tuner.cost_of(best, tuner.cost_of(best, 1) ? 1 : 0.25);
    if (cost) advice.measures.push_back(single("cost_seconds", *cost));
    if (const auto gain = gain_of(tuner)) {
        auto& measure = advice.measures.emplace_back(single("gain", gain->ratio));
        measure.samples = std::min(gain->best_runs, gain->defaults_runs);
        measure.cv = gain->scatter;
        if (gain->interval) std::tie(measure.low, measure.high) = *gain->interval;
    }
    advice.measures.push_back(single("runs_used", tuner.spent()));
    for (const auto& observation : tuner.observations()) {
        auto& row = advice.rows.emplace_back(format::AdviceRow{
            .setting = setting_of(tuner.knobs(), observation.trial.choice), .measures = observation.outcome.measures});
        row.measures.push_back(single("share_of_bytes", observation.trial.share));
        if (observation.outcome.error.empty()) row.measures.push_back(single("cost_seconds", observation.outcome.cost));
        if (observation.outcome.reference_seconds > 0)
            row.measures.push_back(single("reference_seconds", observation.outcome.reference_seconds));
        row.remarks.emplace_back(name_of(observation.trial.why));
        for (const auto& name : observation.outcome.not_applied) row.remarks.push_back(name + " was not applied");
        if (!observation.outcome.error.empty()) row.remarks.push_back(observation.outcome.error);
        // Neither failed nor unapplied: the storage changed, and the pair was repeated.
        else if (!observation.learned && observation.outcome.not_applied.empty())
            row.remarks.emplace_back("the storage changed during the search: repeated");
    }
    for (const auto& text : not_applied(tuner))
        advice.findings.push_back({.check = "applied",
                                   .subject = text.substr(0, text.find(' ')),
                                   .severity = format::Severity::warn,
                                   .text = text});
    for (const auto& worth : tuner.worths())
        advice.findings.push_back({.check = "worth",
                                   .subject = worth.knob,
                                   .severity = format::Severity::note,
                                   .text = fmt::format("{} -> {}", worth.from, worth.to),
                                   .ratio = worth.trials > 0 ? worth.ratio : 0,
                                   .samples = worth.trials});
    advice.chosen = setting_of(tuner.knobs(), best);
    return advice;
}

std::vector<std::string> explanation(const std::vector<KnobWorth>& worths) {
    std::vector<std::string> lines;
    std::string rest, unknown;
    const auto add = [](std::string& list, const std::string& name) { list += (list.empty() ? "" : ", ") + name; };
    for (const auto& worth : worths) {
        const auto to = shown_value(worth.knob, worth.to);
        // Three groups: not measured, too small to tell, and worth a line.
        if (worth.trials == 0) add(unknown, fmt::format("{} -> {}", worth.knob, to));
        else if (worth.ratio < worth_telling) add(rest, fmt::format("{} -> {}", worth.knob, to));
        else
            lines.push_back(
                fmt::format("{} {} -> {}: {:.2f}x", worth.knob, shown_value(worth.knob, worth.from), to, worth.ratio));
    }
    if (!rest.empty()) lines.push_back(fmt::format("no gain above the noise: {}", rest));
    if (!unknown.empty()) lines.push_back(fmt::format("not measured alone, as the budget was used: {}", unknown));
    return lines;
}

std::vector<std::string> not_applied(const Tuner& tuner) {
    std::vector<std::string> keys;
    std::map<std::string, std::size_t> counts;
    for (const auto& observation : tuner.observations())
        for (std::size_t knob = 0; knob < tuner.knobs().size(); ++knob) {
            const auto& [name, values, by_default, ordered] = tuner.knobs()[knob];
            if (std::ranges::find(observation.outcome.not_applied, name) == observation.outcome.not_applied.end())
                continue;
            const auto key = fmt::format("{} = {}", name, shown_value(name, values[observation.trial.choice[knob]]));
            // Listed in the order of their first trials.
            if (counts[key]++ == 0) keys.push_back(key);
        }
    std::vector<std::string> lines;
    lines.reserve(keys.size());
    for (const auto& key : keys) lines.push_back(fmt::format("{}: {}", key, show_count(counts[key], "trial")));
    return lines;
}

std::vector<std::string> toml_lines(const std::vector<Knob>& knobs, const Choice& choice) {
    constexpr std::string_view of_stream = "stream.", of_agent = "agent.";
    std::vector<std::string> session, agent, stream;
    for (std::size_t knob = 0; knob < knobs.size(); ++knob) {
        const auto& name = knobs[knob].name;
        if (choice[knob] == knobs[knob].by_default || name == "run" || name.starts_with("stripe_")) continue;
        const auto& value = knobs[knob].values[choice[knob]];
        // TOML quotes texts, but neither numbers nor flags.
        const bool is_bare =
            value == "true" || value == "false" || value.find_first_not_of("0123456789") == std::string::npos;
        const auto line = [&](std::size_t prefix) {
            return fmt::format("{} = {}{}{}", name.substr(prefix), is_bare ? "" : "\"", value, is_bare ? "" : "\"");
        };
        if (name.starts_with(of_stream)) stream.push_back(line(of_stream.size()));
        else if (name.starts_with(of_agent)) agent.push_back(line(of_agent.size()));
        else session.push_back(line(0));
    }
    if (!agent.empty()) session.emplace_back("[agent]");
    session.insert(session.end(), agent.begin(), agent.end());
    if (!stream.empty()) session.emplace_back("[streams.restart]");
    session.insert(session.end(), stream.begin(), stream.end());
    return session;
}

}  // namespace forebay::advice
