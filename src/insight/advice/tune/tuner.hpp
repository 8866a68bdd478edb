// The search for settings: asks for a trial, is told what came of it, and asks for the next. It knows neither what its
// knobs do nor where trials run, so that a job, an emulator in tests and a program of others are searched alike.
//
// The order is successive halving (Jamieson and Talwalkar, 2016): rows that are good by rule at a quarter of the bytes,
// the best six again, the best three in full. Then proposals, each a neighbour of the best in one knob, at a quarter.
// From 0.95 of the incumbent on a proposal races against it, still at a quarter, and the winner runs in full. At the
// end the best three run in full, and a trial for each knob that the best setting has changed. The cost of a setting is
// the median of its trials, those at a quarter brought to the full bytes. Deterministic: the same seed and the same
// outcomes give the same trials. Threads: one at a time.

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

/// What the search asks for. `share` of the bytes, a quarter or all, is also what the trial costs of the budget.
struct Trial {
    enum class Why : std::uint8_t { seed, again, proposal, race, confirm, ablation };
    Choice choice;
    double share = 1;
    Why why = Why::seed;
};
const char* name_of(Trial::Why why);

struct Outcome {
    double cost = 0;               // seconds, less is better
    double reference_seconds = 0;  // of a small write of always the same bytes just before the trial; 0: none was made
    std::vector<std::string> not_applied = {};   // knobs whose value, read back, is another one
    std::string error = {};                      // why there is no cost
    std::vector<format::Measure> measures = {};  // what the cost was made of, to be kept
};

struct Observation {
    Trial trial;
    Outcome outcome;
    /// False where the setting was not applied, the trial failed, or the storage changed meanwhile.
    bool learned = true;
};

/// What a knob of the best setting is worth: the cost with that knob at its default / the cost of the best, each the
/// median of its trials.
struct KnobWorth {
    std::string knob, from, to;
    double ratio = 1;
    std::size_t trials = 0;  // 0: the budget left none
};

struct TunerOptions {
    double budget = 25;  // in trials of all bytes
    std::uint64_t seed = 1;
    double quantile = 0.75;  // of the costs of a setting: which cost_of() tells
};

class Tuner {
public:
    /// The defaults are tried first, then `seeds` in their order, at most 12 in all, and random ones where they are
    /// fewer. Each choice has a valid index for each knob.
    Tuner(std::vector<Knob> knobs, const std::vector<Choice>& seeds, const TunerOptions& options);

    /// The next trial, the same until tell(); nothing when the search has ended.
    std::optional<Trial> ask();
    /// Of the trial that ask() gave.
    void tell(const Outcome& outcome);
    /// Of a trial that somebody else has chosen.
    void record(const Trial& trial, const Outcome& outcome);
    /// Ends the search where it is; `why` is what end() says then.
    void stop(const std::string& why);

    const std::vector<Knob>& knobs() const { return knobs_; }
    const std::vector<Observation>& observations() const { return observations_; }
    double spent() const { return spent_; }
    Choice defaults() const;
    /// The best so far: of those that ran in full the one of the least cost, else of all; the defaults before any has
    /// run.
    Choice best() const;
    /// The quantile of the costs of a choice's learned trials of this share; nothing without any.
    std::optional<double> cost_of(const Choice& choice, double share) const;
    /// A line for each knob that best() has changed, in the order of the knobs.
    std::vector<KnobWorth> worths() const;
    /// Why the search has ended: "the budget is used", ...; "" before.
    const std::string& end() const { return end_; }

private:
    enum class Stage : std::uint8_t { again, full, explore, confirm, ablation, done };
    /// Of two choices, pair after pair: incumbent, challenger, challenger, incumbent, ...
    struct Race {
        Choice incumbent, challenger;
        std::vector<double> ratios = {};  // cost of the incumbent / that of the challenger
        std::size_t pairs = 0, repeated = 0;
    };
    /// Plans the trials of the next stage, or the next of this one.
    void advance();
    void plan(const Choice& choice, double share, Trial::Why why);
    void explore();
    /// An untried choice that differs in one knob from the best choice that has such a neighbour.
    std::optional<Choice> neighbour();
    void plan_pair();
    void judge_pair();
    void plan_ablation();
    /// What the last stages need of the budget.
    double reserve() const;
    /// The costs in full of all choices that have run.
    std::map<Choice, double> full_costs() const;
    /// All that have run, by these. Best first.
    std::vector<Choice> ranked() const;
    bool may_try(const Choice& choice) const;

    std::vector<Knob> knobs_;
    TunerOptions options_;
    std::vector<Observation> observations_;
    std::map<Choice, std::vector<double>> quarter_, full_;  // costs that are learned
    std::deque<Trial> queue_;
    Stage stage_ = Stage::again;
    double spent_ = 0;
    std::string end_;
    std::optional<Race> race_;
    std::optional<Choice> challenger_;  // has run at a quarter, and is not judged yet
    std::size_t misses_ = 0;
    std::uint64_t turns_ = 0;
    std::vector<std::pair<std::size_t, std::size_t>> dead_;  // knob and value that cannot be applied
};

}  // namespace forebay::advice
