// The inputs of a plan: each number with its source, and assumed values for unknown numbers.
//
// Names of measures: docs/formats/advice.md. Threads: any; use each object from one thread at a time.

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

/// The largest plan that takes the simulator only seconds.
inline constexpr double nodes_max = 1e6, saves_max = 20'000;
/// The largest inputs: bytes of the largest file systems, and the age of the world. Rates that differ a thousandfold
/// have a cv of 10.
inline constexpr double input_max = 1e18, cv_max = 10;

/// One input: an option of `forebay plan`, a key of --what-if, a measure, and a member of the model.
struct InputKind {
    const char* key;   // "drain_rate", the option --drain-rate; "": only files give it
    const char* name;  // the measure's name
    Unit unit;
    double Model::*member;  // null: no member, or not of this type
    double Model::*cv;      // member for the measure's cv; null: none
    double least;           // smaller values are refused
    const char* help;
};
std::span<const InputKind> input_kinds();
/// Null if there is none.
const InputKind* input_of_key(std::string_view key);

class PlanInputs {
public:
    /// Replaces an earlier measure of that name. Ignores measures that are not inputs.
    void take(const format::Measure& measure);
    /// Takes the measures that a preflight, bench, tuner or plan wrote to `path`. If several files give `nodes`, the
    /// largest counts: a bench of one node is no plan for one node. A plan's assumed values are ignored, because they
    /// may follow from other values. A profile's key has its nodes and bytes; they count if no other source gives them.
    void take(const format::Advice& advice, const std::string& path);
    /// All inputs in the order of input_kinds(); unknown inputs get assumed values. `refused` if an input is missing
    /// that cannot be assumed, or if values contradict each other.
    Result<PlanInputs> settled() const;
    /// Call it on settled inputs.
    Model model() const;

    const std::vector<format::Measure>& measures() const { return measures_; }
    const format::Measure* find(std::string_view name) const { return format::find(measures_, name); }
    /// 0 if it is unknown.
    double value(std::string_view name) const;

private:
    std::vector<format::Measure> measures_;
};

/// Median, p10, p90 and cv of the samples.
format::Measure measure_of(const std::string& name, const std::vector<double>& samples, format::MeasureOrigin origin,
                           const std::string& from);

}  // namespace forebay::advice
