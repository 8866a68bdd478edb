// What a plan is made from: each number with where it comes from, and what is assumed where nobody knows it.
//
// Names of measures: docs/formats/advice.md. Threads: any; an object is used by one at a time.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/format/advice.hpp"
#include "forebay/result.hpp"
#include "insight/advice/plan/model.hpp"

namespace forebay::advice {

enum class Unit { number, bytes, rate, seconds, share, policy };

/// What the simulator can do in seconds.
inline constexpr double nodes_max = 1e6, saves_max = 20'000;
/// No input is larger: bytes of the largest file systems, and the age of the world. Rates that differ a thousandfold
/// have a cv of 10.
inline constexpr double input_max = 1e18, cv_max = 10;

/// One input: an option of `forebay plan`, a key of --what-if, a measure, a member of the model.
struct InputKind {
    const char* key;   // "drain_rate", the option --drain-rate; "": no option, files alone tell it
    const char* name;  // of the measure
    Unit unit;
    double Model::*member;  // null: none, or none of this type
    double Model::*cv;      // that the measure's cv becomes; null: none
    double least;           // smaller values are refused
    const char* help;
};
std::span<const InputKind> input_kinds();
/// Null where there is none.
const InputKind* input_of_key(std::string_view key);

class PlanInputs {
public:
    /// Takes the place of what was known under that name. Measures that are no input are passed over.
    void take(const format::Measure& measure);
    /// What a preflight, bench, tuner or plan has written to `path`. Of several files that tell `nodes`, the largest
    /// counts: a bench of one node is no plan for one. Of a plan the assumed are left: they may follow from others. The
    /// key of a profile has the nodes and bytes it was measured at; they are the run's where nothing else tells.
    void take(const format::Advice& advice, const std::string& path);
    /// All inputs in the order of input_kinds(), those that nobody has told as assumed. `refused` where one is missing
    /// that cannot be assumed, or where values contradict.
    Result<PlanInputs> settled() const;
    /// Of settled inputs.
    Model model() const;

    const std::vector<format::Measure>& measures() const { return measures_; }
    const format::Measure* find(std::string_view name) const { return format::find(measures_, name); }
    /// 0 where it is not known.
    double value(std::string_view name) const;

private:
    std::vector<format::Measure> measures_;
};

/// Median, p10, p90 and cv of samples.
format::Measure measure_of(const std::string& name, const std::vector<double>& samples, format::MeasureOrigin origin,
                           const std::string& from);

}  // namespace forebay::advice
