// The search for settings: asks for a trial, gets its outcome, and asks for the next. It knows neither the meaning of
// knobs nor the place of trials, so it can search a job, an emulator in tests or a foreign program.
//
// The order is successive halving (Jamieson and Talwalkar, 2016): rows that are good by rule at a quarter of the bytes,
// the best six again, the best three in full. Then come proposals at a quarter, each a neighbour of the best setting in
// one knob. A proposal with at least 0.95 of the incumbent's rate races against it, still at a quarter, and a winner
// runs in full. At the end the best three run in full, and one trial for each knob that the best setting changed. The
// cost of a setting is the median of its trials, with trials at a quarter scaled to the full bytes. Deterministic: the
// same seed and the same outcomes give the same trials. Threads: one at a time.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/format/advice.hpp"
#include "insight/advice/tune/knob.hpp"

namespace forebay::advice {

/// A trial of the search. `share` is the part of the bytes, a quarter or all, and also its cost in the budget.
struct Trial {
    enum class Why : std::uint8_t { seed, again, proposal, race, confirm, ablation };
    Choice choice;
    double share = 1;
    Why why = Why::seed;
};
const char* name_of(Trial::Why why);

struct Outcome {
    double cost = 0;               // seconds, less is better
    double reference_seconds = 0;  // of a small write of fixed size just before the trial; 0: no such write
    std::vector<std::string> not_applied = {};   // knobs that read back as another value
    std::string error = {};                      // why there is no cost
    std::vector<format::Measure> measures = {};  // the parts of the cost, to be kept
};

struct Observation {
    Trial trial;
    Outcome outcome;
    /// False if the setting was not applied, the trial failed, or the storage changed meanwhile.
    bool learned = true;
};

/// The worth of a knob in the best setting: the cost with this knob at its default / the cost of the best setting, each
/// the median of its trials.
struct KnobWorth {
    std::string knob, from, to;
    double ratio = 1;
    std::size_t trials = 0;  // 0: no budget was left
};

struct TunerOptions {
    double budget = 25;  // in trials of all bytes
    std::uint64_t seed = 1;
    double quantile = 0.75;  // of a setting's costs, for cost_of()
};

class Tuner {
public:
    /// Tries the defaults first, then `seeds` in order, at most 12 in all, filled up with random choices. Each choice
    /// must have a valid index for each knob.
    Tuner(std::vector<Knob> knobs, const std::vector<Choice>& seeds, const TunerOptions& options);

    /// The next trial; the same until tell(). Nothing when the search has ended.
    std::optional<Trial> ask();
    /// The outcome of the trial from ask().
    void tell(const Outcome& outcome);
    /// The outcome of a trial chosen elsewhere.
    void record(const Trial& trial, const Outcome& outcome);
    /// Ends the search now; end() then returns `why`.
    void stop(const std::string& why);

    const std::vector<Knob>& knobs() const { return knobs_; }
    const std::vector<Observation>& observations() const { return observations_; }
    double spent() const { return spent_; }
    Choice defaults() const;
    /// The best so far: the cheapest choice that ran in full, else the cheapest of all; the defaults before any run.
    Choice best() const;
    /// The quantile of the costs of a choice's learned trials of this share; nothing without trials.
    std::optional<double> cost_of(const Choice& choice, double share) const;
    /// One entry for each knob that best() changes, in the order of the knobs.
    std::vector<KnobWorth> worths() const;
    /// Why the search has ended: "the budget is used", ...; "" before that.
    const std::string& end() const { return end_; }

private:
    enum class Stage : std::uint8_t { again, full, explore, confirm, ablation, done };
    /// Two choices, pair after pair: incumbent, challenger, challenger, incumbent, ...
    struct Race {
        Choice incumbent, challenger;
        std::vector<double> ratios = {};  // cost of the incumbent / cost of the challenger
        std::size_t pairs = 0, repeated = 0;
    };
    /// Plans the trials of the next stage, or the next trial of this stage.
    void advance();
    void plan(const Choice& choice, double share, Trial::Why why);
    void explore();
    /// An untried choice that differs in one knob from the best choice that has such a neighbour.
    std::optional<Choice> neighbour();
    void plan_pair();
    void judge_pair();
    void plan_ablation();
    /// The budget that the last stages need.
    double reserve() const;
    /// The full costs of all choices that have run.
    std::map<Choice, double> full_costs() const;
    /// All choices that have run, by full cost, best first.
    std::vector<Choice> ranked() const;
    bool may_try(const Choice& choice) const;

    std::vector<Knob> knobs_;
    TunerOptions options_;
    std::vector<Observation> observations_;
    std::map<Choice, std::vector<double>> quarter_, full_;  // learned costs
    std::deque<Trial> queue_;
    Stage stage_ = Stage::again;
    double spent_ = 0;
    std::string end_;
    std::optional<Race> race_;
    std::optional<Choice> challenger_;  // has run at a quarter, and is not judged yet
    std::size_t misses_ = 0;
    std::uint64_t turns_ = 0;
    std::vector<std::pair<std::size_t, std::size_t>> dead_;  // knob and value that could not be applied
};

}  // namespace forebay::advice
