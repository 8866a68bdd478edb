#include "insight/advice/tune/tuner.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/check.hpp"
#include "core/base/splitmix.hpp"
#include "insight/advice/tune/race.hpp"
#include "path/telemetry/median.hpp"

namespace forebay::advice {

using telemetry::median_of;

namespace {

// Parameters of the method. docs/explanation/how-good-is-the-advice.md has its results on an emulator.
constexpr double quarter = 0.25;
constexpr std::size_t seeds_max = 12, again_count = 6, full_count = 3, confirm_trials = 4;
constexpr double gate = 0.95;      // of the incumbent's rate at a quarter; slower proposals do not race
constexpr double accepted = 1.03;  // a smaller gain is not worth a change
constexpr std::size_t pairs_least = 2, pairs_most = 3, pair_repeats_max = 2, misses_max = 12;
constexpr double confirm_share = 0.16, ablation_share = 0.06;  // the most, as a share of the budget
constexpr double reference_moved = 1.2;

}  // namespace

const char* name_of(Trial::Why why) {
    constexpr const char* names[] = {"seed", "again", "proposal", "race", "confirm", "ablation"};
    return names[static_cast<std::size_t>(why)];
}

Tuner::Tuner(std::vector<Knob> knobs, const std::vector<Choice>& seeds, const TunerOptions& options)
    : knobs_(std::move(knobs)), options_(options) {
    const auto add = [&](const Choice& choice) {
        const bool known = std::ranges::find(queue_, choice, &Trial::choice) != queue_.end();
        if (!known && queue_.size() < seeds_max) plan(choice, quarter, Trial::Why::seed);
    };
    add(defaults());
    for (const auto& seed : seeds) add(seed);
    // With few first rows, a search has too few to choose its best from. On the emulator it did worse than random.
    for (std::uint64_t turn = 0; turn < seeds_max * seeds_max; ++turn) {
        Choice choice;
        for (std::size_t knob = 0; knob < knobs_.size(); ++knob)
            choice.push_back(splitmix(splitmix(options_.seed, turn), knob) % knobs_[knob].values.size());
        add(choice);
    }
}

void Tuner::plan(const Choice& choice, double share, Trial::Why why) { queue_.push_back({choice, share, why}); }

Choice Tuner::defaults() const {
    Choice choice;
    for (const auto& knob : knobs_) choice.push_back(knob.by_default);
    return choice;
}

double Tuner::reserve() const {
    const auto chosen = best();
    double changed = 1;
    for (std::size_t knob = 0; knob < knobs_.size(); ++knob) changed += chosen[knob] != knobs_[knob].by_default;
    // The confirming runs, and two runs for each changed knob and for the best setting.
    return std::clamp<double>(options_.budget * confirm_share, 1, confirm_trials) +
           std::min(changed * 2 * quarter, options_.budget * ablation_share);
}

std::optional<Trial> Tuner::ask() {
    while (stage_ != Stage::done) {
        if (queue_.empty()) {
            advance();
            continue;
        }
        const auto& next = queue_.front();
        // An earlier trial may have shown that a value cannot be applied.
        if (next.why == Trial::Why::seed && !observations_.empty() && !may_try(next.choice)) {
            queue_.pop_front();
            continue;
        }
        const bool searches = stage_ < Stage::confirm;
        // A search leaves a reserve for the last stages.
        const double limit = options_.budget - (searches ? reserve() : 0);
        // The first trial runs on any budget.
        if (observations_.empty() || spent_ + next.share <= limit + 1e-9) return next;
        queue_.clear();
        race_.reset();
        if (!searches) continue;
        end_ = "the budget is used";
        stage_ = Stage::explore;
    }
    return {};
}

void Tuner::tell(const Outcome& outcome) {
    FB_CHECK(!queue_.empty(), "there is no trial for this outcome");
    const auto trial = queue_.front();
    queue_.pop_front();
    record(trial, outcome);
}

void Tuner::stop(const std::string& why) {
    stage_ = Stage::done;
    end_ = why;
}

void Tuner::record(const Trial& trial, const Outcome& outcome) {
    spent_ += trial.share;
    const bool learned = outcome.error.empty() && outcome.not_applied.empty() && outcome.cost > 0;
    observations_.push_back({trial, outcome, learned});
    for (std::size_t knob = 0; knob < knobs_.size(); ++knob)
        if (std::ranges::find(outcome.not_applied, knobs_[knob].name) != outcome.not_applied.end() &&
            trial.choice[knob] != knobs_[knob].by_default)
            dead_.emplace_back(knob, trial.choice[knob]);
    // A pair of a race counts as a whole, or not at all.
    if (learned && trial.why != Trial::Why::race)
        (trial.share < 1 ? quarter_ : full_)[trial.choice].push_back(outcome.cost);
}

void Tuner::advance() {
    const auto plan_best = [&](std::size_t count, double share, Trial::Why why) {
        auto all = ranked();
        all.resize(std::min(all.size(), count));
        for (const auto& choice : all) plan(choice, share, why);
    };
    switch (stage_) {
        case Stage::again:
            plan_best(again_count, quarter, Trial::Why::again);
            stage_ = Stage::full;
            break;
        case Stage::full:
            plan_best(full_count, 1, Trial::Why::again);
            stage_ = Stage::explore;
            break;
        case Stage::explore:
            if (end_.empty()) explore();
            if (end_.empty()) break;
            plan_best(full_count, 1, Trial::Why::confirm);
            // The rest of the confirming runs repeats these settings.
            while (!queue_.empty() && queue_.size() < confirm_trials)
                plan(queue_[queue_.size() % full_count % queue_.size()].choice, 1, Trial::Why::confirm);
            stage_ = Stage::confirm;
            break;
        case Stage::confirm:
            plan_ablation();
            stage_ = Stage::ablation;
            break;
        case Stage::ablation:
        case Stage::done: stage_ = Stage::done; break;
    }
}

void Tuner::explore() {
    if (race_) {
        judge_pair();
        if (race_) return;
    }
    const auto incumbent = best();
    if (challenger_) {
        const auto challenger = *challenger_;
        const auto cost = quarter_.find(challenger), own = quarter_.find(incumbent);
        const bool passes =
            cost != quarter_.end() && own != quarter_.end() && median_of(own->second) / median_of(cost->second) >= gate;
        // A second run at a quarter costs less than a race after one lucky run.
        if (passes && cost->second.size() < 2) return plan(challenger, quarter, Trial::Why::proposal);
        challenger_.reset();
        if (passes) {
            race_ = Race{incumbent, challenger};
            return plan_pair();
        }
        ++misses_;
    }
    if (misses_ >= misses_max) {
        end_ = "12 tries found nothing better";
        return;
    }
    challenger_ = neighbour();
    if (challenger_) return plan(*challenger_, quarter, Trial::Why::proposal);
    end_ = quarter_.empty() && full_.empty() ? "no trial succeeded" : "nothing is left to try";
}

std::optional<Choice> Tuner::neighbour() {
    for (const auto& choice : ranked()) {
        std::vector<Choice> untried;
        for (std::size_t knob = 0; knob < knobs_.size(); ++knob)
            for (std::size_t value = 0; value < knobs_[knob].values.size(); ++value) {
                const auto apart = value > choice[knob] ? value - choice[knob] : choice[knob] - value;
                // An ordered knob moves by one value.
                if (apart == 0 || (knobs_[knob].ordered && apart > 1)) continue;
                auto candidate = choice;
                candidate[knob] = value;
                if (may_try(candidate)) untried.push_back(std::move(candidate));
            }
        // At random: knobs early in the list are not worth more.
        if (!untried.empty()) return untried[splitmix(options_.seed, turns_++) % untried.size()];
    }
    return {};
}

void Tuner::plan_pair() {
    const bool turned = race_->pairs % 2 == 1;
    plan(turned ? race_->challenger : race_->incumbent, quarter, Trial::Why::race);
    plan(turned ? race_->incumbent : race_->challenger, quarter, Trial::Why::race);
}

void Tuner::judge_pair() {
    auto& first = observations_[observations_.size() - 2];
    auto& second = observations_.back();
    if (!first.learned || !second.learned) {
        ++misses_;
        race_.reset();
        return;
    }
    const auto before = first.outcome.reference_seconds, after = second.outcome.reference_seconds;
    // A storage that changed between the two runs makes their ratio worthless, so the pair is repeated.
    if (before > 0 && after > 0 && std::max(before / after, after / before) > reference_moved &&
        race_->repeated < pair_repeats_max) {
        first.learned = second.learned = false;
        ++race_->repeated;
        return plan_pair();
    }
    const bool turned = race_->pairs++ % 2 == 1;
    race_->ratios.push_back(turned ? second.outcome.cost / first.outcome.cost
                                   : first.outcome.cost / second.outcome.cost);
    for (const auto* observation : {&first, &second})
        quarter_[observation->trial.choice].push_back(observation->outcome.cost);
    const auto median = bootstrap_median(race_->ratios, splitmix(options_.seed, observations_.size()));
    // A single pair can end the race only if the challenger is slower in it.
    const bool lost = race_->pairs < pairs_least ? median.median < 1 : median.high <= accepted || median.median < 1;
    const bool won = race_->pairs >= pairs_least && median.low > accepted;
    if (!lost && !won && race_->pairs < pairs_most) return plan_pair();
    // A challenger that may still be better is no miss.
    misses_ = median.high > accepted ? 0 : misses_ + 1;
    if (won) plan(race_->challenger, 1, Trial::Why::again);
    race_.reset();
}

void Tuner::plan_ablation() {
    const auto chosen = best();
    std::vector<Choice> trials;
    for (std::size_t knob = 0; knob < knobs_.size(); ++knob) {
        if (chosen[knob] == knobs_[knob].by_default) continue;
        trials.push_back(chosen);
        trials.back()[knob] = knobs_[knob].by_default;
    }
    if (trials.empty()) return;
    trials.push_back(chosen);
    for (int turn = 0; turn < 2; ++turn)
        for (const auto& trial : trials) plan(trial, quarter, Trial::Why::ablation);
}

std::map<Choice, double> Tuner::full_costs() const {
    std::vector<double> to_full;
    for (const auto& [choice, costs] : full_)
        if (const auto match = quarter_.find(choice); match != quarter_.end())
            to_full.push_back(median_of(costs) / median_of(match->second));
    // Scales costs at a quarter to all bytes, by the settings that ran at both.
    const double ratio = to_full.empty() ? 1 / quarter : median_of(to_full);
    auto brought = full_;
    for (const auto& [choice, costs] : quarter_)
        for (const auto cost : costs) brought[choice].push_back(cost * ratio);
    std::map<Choice, double> costs;
    for (const auto& [choice, all] : brought) costs.emplace(choice, median_of(all));
    return costs;
}

std::vector<Choice> Tuner::ranked() const {
    const auto costs = full_costs();
    std::vector<Choice> all;
    all.reserve(costs.size());
    for (const auto& [choice, cost] : costs) all.push_back(choice);
    std::ranges::stable_sort(all, {}, [&](const Choice& choice) { return costs.at(choice); });
    return all;
}

Choice Tuner::best() const {
    for (auto& choice : ranked())
        if (full_.empty() || full_.contains(choice)) return std::move(choice);
    return defaults();
}

std::optional<double> Tuner::cost_of(const Choice& choice, double share) const {
    const auto& costs = share < 1 ? quarter_ : full_;
    const auto cost = costs.find(choice);
    if (cost == costs.end()) return {};
    return telemetry::quantile_of(cost->second, options_.quantile);
}

std::vector<KnobWorth> Tuner::worths() const {
    const auto chosen = best();
    const auto costs = full_costs();
    std::vector<KnobWorth> all;
    for (std::size_t knob = 0; knob < knobs_.size(); ++knob) {
        const auto& values = knobs_[knob].values;
        const auto from = knobs_[knob].by_default;
        if (chosen[knob] == from) continue;
        auto& worth = all.emplace_back(KnobWorth{knobs_[knob].name, values[from], values[chosen[knob]]});
        auto without = chosen;
        without[knob] = from;
        const auto match = quarter_.find(without);
        if (match == quarter_.end()) continue;
        worth.ratio = costs.at(without) / costs.at(chosen);
        worth.trials = match->second.size();
    }
    return all;
}

bool Tuner::may_try(const Choice& choice) const {
    for (const auto& [knob, value] : dead_)
        if (choice[knob] == value) return false;
    return std::ranges::find(observations_, choice, [](const auto& observation) { return observation.trial.choice; }) ==
           observations_.end();
}

}  // namespace forebay::advice
