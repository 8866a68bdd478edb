#include "insight/advice/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/describe/durable_time.hpp"

namespace forebay::advice {

namespace {

using format::Advice;
using format::Finding;
using format::Measure;
using format::MeasureOrigin;
using format::Severity;

constexpr double progress_worth = 0.005;            // the least gain worth advice: 15 minutes of 50 hours
constexpr double noise_seconds = 0.01;              // of clocks and schedulers on a node
constexpr std::array every_factors{0.5, 1.0, 2.0};  // of the closed form's interval, tried in the simulator

std::string simulated_from() { return "simulated runs"; }

Measure closed(const char* name, double value) {
    return {.name = name, .value = value, .origin = MeasureOrigin::predicted, .from = "closed form"};
}

Measure simulated(const char* name, double SimulatedRun::*member, const SimulatedSpread& spread) {
    return {.name = name,
            .value = spread.middle.*member,
            .low = spread.low.*member,
            .high = spread.high.*member,
            .samples = simulated_runs,
            .origin = MeasureOrigin::predicted,
            .from = simulated_from()};
}

void add_simulated(const SimulatedSpread& spread, std::vector<Measure>& measures) {
    measures.push_back(simulated("forward_progress", &SimulatedRun::forward_progress, spread));
    measures.push_back(simulated("visible_seconds", &SimulatedRun::visible_seconds, spread));
    measures.push_back(simulated("drain_seconds", &SimulatedRun::drain_seconds, spread));
    measures.push_back(simulated("slack", &SimulatedRun::slack, spread));
    measures.push_back(simulated("lost_work_seconds", &SimulatedRun::lost_work_seconds, spread));
    measures.push_back(simulated("failures", &SimulatedRun::failures, spread));
    measures.push_back(simulated("wall_seconds", &SimulatedRun::wall_seconds, spread));
}

std::string percent(double share) { return fmt::format("{:.3g} %", share * 100); }

// Makes one plan.
class PlanMaker {
public:
    PlanMaker(PlanInputs inputs, const PlanWishes& wishes)
        : inputs_(std::move(inputs)), wishes_(wishes), model_(inputs_.model()) {}

    Result<Advice> plan() {
        advice_.kind = "plan";
        advice_.measures = inputs_.measures();
        if (!may_extrapolate()) return std::move(advice_);
        for (const auto& what_if : wishes_.what_ifs) settings_ += what_if.values.size();
        planned_ = simulate(model_);
        predict_all();
        advice_.rows.push_back({.setting = {}, .measures = {}, .remarks = {"as planned"}});
        add_simulated(planned_, advice_.rows.back().measures);
        FB_TRY(add_rows());
        choose();
        advise_on_nodes();
        advise_on_storage();
        // An ends_in of 0, a job that ends now, counts as given.
        if (inputs_.find("ends_in_seconds")->origin != MeasureOrigin::assumed) look_at_the_end();
        return std::move(advice_);
    }

private:
    SimulatedSpread simulate(const Model& model) {
        if (wishes_.progress) wishes_.progress(settings_done_, std::max(settings_, settings_done_ + 1));
        ++settings_done_;
        return simulator_.runs(model);
    }

    void find(const char* check, Severity severity, std::string text, double ratio = 0) {
        advice_.findings.push_back({.check = check, .severity = severity, .text = std::move(text), .ratio = ratio});
    }

    bool may_extrapolate() {
        bool may = true;
        for (const auto& [name, measured, what] : {std::tuple{"nodes", "measured_nodes", "nodes"},
                                                   {"node_bytes", "measured_node_bytes", "bytes of a node"}}) {
            const double from = inputs_.value(measured), to = inputs_.value(name);
            if (from <= 0 || to <= from * extrapolation_max) continue;
            may = may && wishes_.extrapolate;
            find("extrapolation", wishes_.extrapolate ? Severity::warn : Severity::fail,
                 fmt::format("{} are {:.0f} times the measured value ({:.6g}), more than {:.0f}{}", what, to / from,
                             from, extrapolation_max,
                             wishes_.extrapolate ? "" : ": for a prediction, give --extrapolate"),
                 to / from);
        }
        return may;
    }

    void predict_all() {
        const auto prediction = predict(model_);
        auto& measures = advice_.measures;
        measures.push_back(closed("save_seconds", prediction.save_seconds));
        add_simulated(planned_, measures);
        measures.push_back(closed("hidden_ratio", prediction.hidden_ratio));
        measures.push_back(closed("overhead_ratio", prediction.overhead_ratio));
        measures.push_back(closed("restart_seconds", prediction.restart_seconds));
        measures.push_back(closed("forward_progress_closed", prediction.forward_progress));
        measures.push_back(closed("visible_seconds_closed", prediction.visible_seconds));
        measures.push_back(closed("drain_seconds_closed", prediction.drain_seconds));
        measures.push_back(closed("young_seconds", prediction.young_seconds));
        measures.push_back(closed("daly_seconds", prediction.daly_seconds));
        const double all_bytes = model_.node_bytes * model_.nodes;
        measures.push_back(closed("kept_bytes", all_bytes * inputs_.value("kept_snapshots")));
        measures.push_back(closed("written_bytes", all_bytes * std::floor(model_.steps / model_.every)));
        if (model_.targets > 1) {
            measures.push_back(closed("placement_random_ratio", random_placement(model_.nodes, model_.targets)));
            measures.push_back(closed("placement_even_ratio", even_placement(model_.nodes, model_.targets)));
        }
        add_levels(prediction);
    }

    // The costs to the application: the copy, and the slowdown by drains.
    void add_levels(const Prediction& prediction) {
        if (model_.mtbf_seconds <= 0 || model_.slots < 1 || model_.local_restart_share <= 0) return;
        const double all = 1 / model_.mtbf_seconds, local = model_.local_restart_share;
        const std::array levels{
            ProtectionLevel{prediction.save_seconds, all * local},
            ProtectionLevel{std::max(prediction.save_seconds, prediction.drain_seconds * model_.agent_cost),
                            all * (1 - local)}};
        const auto best = best_levels(levels);
        advice_.measures.push_back(closed("staged_level_seconds", best.periods[0]));
        advice_.measures.push_back(closed("target_level_seconds", std::max(best.periods[1], prediction.drain_seconds)));
    }

    Result<> add_rows() {
        for (const auto& what_if : wishes_.what_ifs)
            for (const auto& value : what_if.values) {
                PlanInputs changed = unassumed();
                for (const auto& measure : value.measures) changed.take(measure);
                FB_TRY_ASSIGN(settled, changed.settled());
                format::AdviceRow row{.setting = {{what_if.key, value.text}}};
                add_simulated(simulate(settled.model()), row.measures);
                advice_.rows.push_back(std::move(row));
            }
        return {};
    }

    // Dependent values are assumed anew: twice as many nodes fail twice as often. The length of the run stays.
    PlanInputs unassumed() const {
        PlanInputs inputs;
        for (const auto& measure : inputs_.measures())
            if (measure.origin != MeasureOrigin::assumed || measure.name == "steps") inputs.take(measure);
        return inputs;
    }

    // Finds the interval with the best progress, by closed forms and then by the simulator; and the slots.
    void choose() {
        if (model_.mtbf_seconds > 0) choose_interval();
        choose_slots();
    }

    void choose_interval() {
        auto model = model_;
        const double least = std::max(1.0, std::ceil(model.steps / saves_max));
        double best_every = model.every, best = 0, every = least;
        while (every <= model.steps) {
            model.every = every;
            const double progress = predict(model).forward_progress;
            if (progress > best) best = progress, best_every = every;
            // Coarse steps: the simulator tries values around the best.
            every = std::ceil(every * 1.2);
        }
        // Uses the mean: runs that rarely fail have a median that says never to save.
        const double planned = planned_.mean.forward_progress;
        double chosen = model_.every, progress = planned;
        for (const double factor : every_factors) {
            model.every = std::clamp(std::round(best_every * factor), least, model.steps);
            if (model.every == chosen || model.every == model_.every) continue;
            const double tried = simulate(model).mean.forward_progress;
            if (tried > progress + progress_worth / 10) chosen = model.every, progress = tried;
        }
        advice_.chosen.emplace_back("every", fmt::format("{:.0f}", chosen));
        advice_.measures.push_back(closed("best_interval_seconds", chosen * model_.step_seconds));
        advice_.measures.back().from = simulated_from();
        if (progress - planned >= progress_worth)
            find("interval", Severity::warn,
                 fmt::format(
                     "a save every {:.0f} steps ({}) gives progress in {:.3f} of the time, every {:.0f} steps {:.3f}",
                     chosen, show_seconds(chosen * model_.step_seconds), progress, model_.every, planned),
                 progress / planned);
    }

    void choose_slots() {
        auto model = model_;
        double slots = model.slots;
        for (const double more : {1.0, 2.0}) {
            if (more <= model_.slots) continue;
            model.slots = more;
            const double gain = simulate(model).middle.forward_progress - planned_.middle.forward_progress;
            if (gain < progress_worth) continue;
            slots = more;
            find("slots", Severity::warn,
                 fmt::format(
                     "{:.0f} slot{} give{} progress in {:.3f} of the time instead of {:.3f}, for {} more memory a node",
                     more, more > 1 ? "s" : "", more > 1 ? "" : "s", gain + planned_.middle.forward_progress,
                     planned_.middle.forward_progress,
                     show_bytes(static_cast<std::uint64_t>((more - model_.slots) * model_.node_bytes))));
            break;
        }
        advice_.chosen.emplace_back("slots", fmt::format("{:.0f}", slots));
    }

    void advise_on_nodes() {
        if (model_.slow_node_share <= 0) return;
        auto model = model_;
        model.slow_node_share = 0;
        // The comparison runs on the remaining nodes.
        model.nodes = std::max(1.0, std::round(model_.nodes * (1 - model_.slow_node_share)));
        const auto without = simulate(model).middle;
        find("slow_nodes",
             without.forward_progress - planned_.middle.forward_progress >= progress_worth ? Severity::warn
                                                                                           : Severity::note,
             fmt::format("{} of the nodes at {:.2g} x cost {} a save and {:.3f} of the time: progress is {:.3f} "
                         "without them, {:.3f} with them",
                         percent(model_.slow_node_share), model_.slow_node_ratio,
                         show_seconds(std::max(0.0, planned_.middle.visible_seconds - without.visible_seconds)),
                         without.forward_progress - planned_.middle.forward_progress, without.forward_progress,
                         planned_.middle.forward_progress),
             model_.slow_node_ratio);
    }

    void advise_on_storage() {
        const auto prediction = predict(model_);
        if (prediction.slack < 1 && model_.slots >= 1)
            find(
                "slack", Severity::warn,
                fmt::format("a drain takes {}, but saves are {} apart: save every {:.0f} steps, or use a faster target",
                            show_seconds(prediction.drain_seconds), show_seconds(model_.interval_seconds()),
                            std::ceil(prediction.drain_seconds / (model_.step_seconds * (1 + model_.agent_cost)))),
                prediction.slack);
        if (inputs_.value("measured_nodes") > 0 && model_.target_rate <= 0 &&
            model_.nodes > inputs_.value("measured_nodes"))
            find("target_rate", Severity::warn,
                 fmt::format("the rate of the target for all nodes is unknown: {:.0f} nodes are assumed to drain as "
                             "fast as {:.0f} did. Set it with --target-rate or --preflight",
                             model_.nodes, inputs_.value("measured_nodes")));
        if (model_.rendezvous > 1 && model_.target_rate_cv > 0) {
            auto model = model_;
            model.rendezvous = 1;
            const double gain = target_seconds(model_) / target_seconds(model);
            advice_.measures.push_back(closed("one_rendezvous_gain_ratio", gain));
            find("rendezvous", Severity::note,
                 fmt::format("one rendezvous a save instead of {:.0f} makes writing {:.2f} x as fast",
                             model_.rendezvous, gain),
                 gain);
        }
        const double slow = std::round(model_.slow_target_share * model_.targets);
        if (slow < 1) return;
        auto without = model_;
        without.slow_target_share = 0;
        without.targets = model_.targets - slow;
        // Fewer targets have a smaller total rate.
        without.target_rate = model_.target_rate * without.targets / model_.targets;
        const double gain = target_seconds(model_) / target_seconds(without);
        find("slow_targets", gain > 1 + progress_worth ? Severity::warn : Severity::note,
             fmt::format("{:.0f} of {:.0f} targets at {:.2g} x: without them writing is {:.2f} x as fast", slow,
                         model_.targets, model_.slow_target_ratio, gain),
             model_.slow_target_ratio);
    }

    // The saves that can still become durable before the job ends.
    void look_at_the_end() {
        const auto prediction = predict(model_);
        const auto* drains = inputs_.find("drain_rate_bytes_per_second");
        const auto samples = drains != nullptr ? std::max<std::uint64_t>(drains->samples, 1) : 1;
        // The margin covers values measured only a few times. Inputs that were never measured have no margin.
        const double ends_in = inputs_.value("ends_in_seconds");
        const double needed = describe::seconds_to_durable({.durable = samples,
                                                            .save_seconds = prediction.save_seconds,
                                                            .durable_seconds = prediction.drain_seconds,
                                                            .ahead_seconds = inputs_.value("ahead_seconds")});
        const double last = ends_in - needed;
        const double period = model_.interval_seconds() + prediction.visible_seconds;
        const double fit = last < 0 ? 0 : 1 + std::floor(last / period);
        advice_.measures.push_back(closed("needed_seconds", needed));
        advice_.measures.push_back(closed("last_save_seconds", std::max(0.0, last)));
        advice_.measures.push_back(closed("saves_that_fit", fit));
        if (last < 0)
            find("end_of_job", Severity::fail,
                 fmt::format("a save that begins now needs up to {} to become durable, but the job ends {}: no further "
                             "save becomes durable. Staged copies stay, for forebay drain on these nodes",
                             show_seconds(needed), ends_in > 0 ? "in " + show_seconds(ends_in) : "now"));
        else
            find("end_of_job", Severity::note,
                 fmt::format("a save needs up to {}: the last durable save begins within {}, {:.0f} saves from now on "
                             "at this interval",
                             show_seconds(needed), show_seconds(last), fit));
    }

    PlanInputs inputs_;
    const PlanWishes& wishes_;
    Model model_;
    Simulator simulator_;
    SimulatedSpread planned_;
    Advice advice_;
    std::uint64_t settings_ = 5, settings_done_ = 0;
};

}  // namespace

Result<Advice> make_plan(const PlanInputs& inputs, const PlanWishes& wishes) {
    FB_TRY_ASSIGN(settled, inputs.settled());
    return PlanMaker(std::move(settled), wishes).plan();
}

std::vector<Compared> compare(const std::vector<Measure>& predicted, const std::vector<Measure>& happened) {
    std::vector<Compared> all;
    for (const auto& measure : happened) {
        const auto* forecast = format::find(predicted, measure.name);
        if (forecast == nullptr || measure.name.starts_with("measured_")) continue;
        Compared row{.name = measure.name, .predicted = forecast->value, .happened = measure.value};
        const double difference = std::abs(forecast->value - measure.value);
        row.off = measure.value != 0 ? forecast->value / measure.value - 1 : forecast->value != 0 ? INFINITY : 0;
        const bool is_input = std::ranges::find(input_kinds(), measure.name, &InputKind::name) != input_kinds().end();
        row.judged = !is_input && !(measure.name.ends_with("_seconds") && difference < noise_seconds);
        all.push_back(row);
    }
    return all;
}

}  // namespace forebay::advice
