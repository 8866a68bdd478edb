// A plan: what a run will cost and which settings suit it, by closed forms (model.hpp) and by simulated runs
// (simulate.hpp), as advice. And what of an earlier one has come true.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "insight/advice/plan/inputs.hpp"
#include "insight/advice/plan/simulate.hpp"

namespace forebay::advice {

/// One input, with values to try in its place. Of slow nodes and slow targets a value is two measures.
struct WhatIf {
    std::string key;
    struct Value {
        std::string text;  // as it was given: "3h"
        std::vector<format::Measure> measures;
    };
    std::vector<Value> values;
};

struct PlanWishes {
    std::vector<WhatIf> what_ifs = {};
    bool extrapolate = false;
    /// Called between simulated settings: how many are done, of how many about.
    std::function<void(std::uint64_t done, std::uint64_t all)> progress = {};
};

/// Beyond this many times the nodes or bytes that were measured a plan needs the user's word: PlanWishes::extrapolate.
inline constexpr double extrapolation_max = 64;

/// Advice of kind "plan", without key and maker: measures are the settled inputs, then the predictions
/// (docs/formats/advice.md); rows are "as planned" and what if; chosen is what is advised. `refused` where inputs are
/// missing. Beyond extrapolation_max there is a finding "extrapolation", and without the user's word (severity `fail`)
/// nothing else.
Result<format::Advice> make_plan(const PlanInputs& inputs, const PlanWishes& wishes);

/// What was predicted beside what happened.
struct Compared {
    std::string name;
    double predicted = 0, happened = 0;
    double off = 0;       // predicted / happened - 1
    bool judged = false;  // one of what a plan promises, and not too short to be told from noise
    bool good() const { return !judged || (off <= comparison_off_max && off >= -comparison_off_max); }
    static constexpr double comparison_off_max = 0.15;
};
/// Inputs and predictions that both have; of `happened` as measures_of_run() tells, or what was published.
std::vector<Compared> compare(const std::vector<format::Measure>& predicted,
                              const std::vector<format::Measure>& happened);

}  // namespace forebay::advice
