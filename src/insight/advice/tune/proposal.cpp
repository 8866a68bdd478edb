#include "insight/advice/tune/proposal.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/base/splitmix.hpp"

namespace forebay::advice {

namespace {

// For each knob the share of each value: of the choices, and of what lies beside them, over one that all values have.
using Density = std::vector<std::vector<double>>;

Density density_of(const std::vector<Knob>& knobs, std::span<const Choice> choices) {
    constexpr double prior = 1;        // choices that all values of a knob share
    constexpr double neighbour = 0.4;  // what the next value of an ordered knob gets of a choice, the one after it less
    Density density;
    for (std::size_t knob = 0; knob < knobs.size(); ++knob) {
        const auto count = knobs[knob].values.size();
        auto& shares = density.emplace_back(count, prior / static_cast<double>(count));
        for (const auto& choice : choices)
            for (std::size_t value = 0; value < count; ++value) {
                const auto apart = value > choice[knob] ? value - choice[knob] : choice[knob] - value;
                if (apart == 0) shares[value] += 1;
                else if (knobs[knob].ordered) shares[value] += std::pow(neighbour, static_cast<double>(apart));
            }
        double sum = 0;
        for (const auto share : shares) sum += share;
        for (auto& share : shares) share /= sum;
    }
    return density;
}

double score(const Choice& choice, const Density& good, const Density& bad) {
    double sum = 0;
    for (std::size_t knob = 0; knob < choice.size(); ++knob)
        sum += std::log(good[knob][choice[knob]] / bad[knob][choice[knob]]);
    return sum;
}

// 0 to 1, without 0.
double part(std::uint64_t number) { return (static_cast<double>(number >> 11) + 0.5) / 9007199254740992.0; }

std::vector<Choice> neighbours(const std::vector<Knob>& knobs, const Choice& of) {
    std::vector<Choice> all;
    for (std::size_t knob = 0; knob < knobs.size(); ++knob)
        for (std::size_t value = 0; value < knobs[knob].values.size(); ++value) {
            const auto apart = value > of[knob] ? value - of[knob] : of[knob] - value;
            if (apart == 0 || (knobs[knob].ordered && apart > 1)) continue;
            all.push_back(of);
            all.back()[knob] = value;
        }
    return all;
}

}  // namespace

std::optional<Choice> propose(const std::vector<Knob>& knobs, const std::vector<Choice>& ranked,
                              const std::function<bool(const Choice&)>& may_try, std::uint64_t seed,
                              std::uint64_t turn) {
    if (ranked.empty()) return {};
    const auto good_count = std::min(ranked.size(), std::max<std::size_t>(2, (ranked.size() + 3) / 4));
    const auto good = density_of(knobs, std::span(ranked).first(good_count));
    const auto bad = density_of(knobs, std::span(ranked).subspan(good_count));
    const auto row = splitmix(seed, turn);
    std::uint64_t drawn = 0;
    std::vector<Choice> candidates;
    if (turn % 2 == 0) candidates = neighbours(knobs, ranked.front());
    std::erase_if(candidates, [&](const Choice& choice) { return !may_try(choice); });
    constexpr int samples = 48;
    for (int sample = 0; candidates.size() < samples && sample < 4 * samples && (turn % 2 == 1 || candidates.empty());
         ++sample) {
        Choice choice(knobs.size());
        for (std::size_t knob = 0; knob < knobs.size(); ++knob) {
            auto left = part(splitmix(row, drawn++));
            while (choice[knob] + 1 < knobs[knob].values.size() && (left -= good[knob][choice[knob]]) > 0)
                ++choice[knob];
        }
        if (may_try(choice)) candidates.push_back(choice);
    }
    // Of candidates that are alike, not always the first: a Gumbel variate draws in proportion to exp(score).
    std::optional<Choice> best;
    double best_score = 0;
    for (const auto& choice : candidates) {
        const auto drawn_score = score(choice, good, bad) - 0.3 * std::log(-std::log(part(splitmix(row, drawn++))));
        if (best && drawn_score <= best_score) continue;
        best = choice;
        best_score = drawn_score;
    }
    return best;
}

}  // namespace forebay::advice
