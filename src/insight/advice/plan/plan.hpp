// Plans a run: its costs and the best settings, by closed forms (model.hpp) and by simulated runs (simulate.hpp), as
// advice. Also compares an earlier plan with the run.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "insight/advice/plan/inputs.hpp"
#include "insight/advice/plan/simulate.hpp"

namespace forebay::advice {

/// One input with values to try. For slow nodes and slow targets a value is two measures.
struct WhatIf {
    std::string key;
    struct Value {
        std::string text;  // as the user wrote it: "3h"
        std::vector<format::Measure> measures;
    };
    std::vector<Value> values;
};

struct PlanWishes {
    std::vector<WhatIf> what_ifs = {};
    bool extrapolate = false;
    /// Called between simulated settings, with the number done and about how many there are.
    std::function<void(std::uint64_t done, std::uint64_t all)> progress = {};
};

/// A plan for more than this many times the measured nodes or bytes needs the user's consent: PlanWishes::extrapolate.
inline constexpr double extrapolation_max = 64;

/// Advice of kind "plan", without key and maker. Measures are the settled inputs, then the predictions
/// (docs/formats/advice.md). Rows are "as planned" and the what-ifs. `chosen` is the advice. `refused` if inputs are
/// missing. Beyond extrapolation_max there is a finding "extrapolation"; without the user's consent it has severity
/// `fail` and is all there is.
Result<format::Advice> make_plan(const PlanInputs& inputs, const PlanWishes& wishes);

/// A prediction and its result.
struct Compared {
    std::string name;
    double predicted = 0, happened = 0;
    double off = 0;       // predicted / happened - 1
    bool judged = false;  // the plan promises it, and it is longer than noise
    bool good() const { return !judged || (off <= comparison_off_max && off >= -comparison_off_max); }
    static constexpr double comparison_off_max = 0.15;
};
/// Compares measures in both lists. `happened` comes from measures_of_run() or a publication.
std::vector<Compared> compare(const std::vector<format::Measure>& predicted,
                              const std::vector<format::Measure>& happened);

}  // namespace forebay::advice
