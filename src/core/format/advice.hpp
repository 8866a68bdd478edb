// The results of a measurement and the advice from them, as JSON. `forebay preflight`, `bench run`, `tune` and `plan`
// write and read this file, so one program can use a number of another, with its origin.
//
// All have one schema: docs/formats/advice.md and advice.schema.json. Threads: any.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::format {

/// The source of a number. Readers show it beside the number.
enum class MeasureOrigin : std::uint8_t {
    measured,   // by the program that wrote it, `samples` times
    kept,       // computed from the records that a run keeps
    given,      // by the user
    assumed,    // by Forebay, because no user gave it and nobody measured it
    predicted,  // by a plan: computed, or simulated `samples` times
};
const char* name_of(MeasureOrigin origin);

/// A number with its spread. Names have units and are listed in docs/formats/advice.md: "drain_rate_bytes_per_second"
/// is 1.2e9 with cv 0.08 over 20 samples.
struct Measure {
    std::string name;
    double value = 0;
    double low = 0, high = 0;  // p10 and p90; both 0 without a spread
    double cv = 0;             // standard deviation / mean
    std::uint64_t samples = 0;
    MeasureOrigin origin = MeasureOrigin::assumed;
    std::string from;  // a file, an option, a run: the place where a person can check the number
};

enum class Severity : std::uint8_t { note, warn, fail };
const char* name_of(Severity severity);

/// One problem of a node, of a target, or of the whole.
struct Finding {
    std::string check;    // "memory"
    std::string subject;  // "nid00123", "OST0014", a directory; "": the whole
    Severity severity = Severity::note;
    std::string text;  // one clause
    double ratio = 0;  // to the median of the rest; 0: does not apply
    double z = 0;      // by the median absolute deviation; 0: does not apply
    std::uint64_t samples = 0;
};

using AdviceSetting =
    std::vector<std::pair<std::string, std::string>>;  // option and value, in the order of the program

/// A setting and its results: a trial of a tuner, a row of a bench, a case of a plan.
struct AdviceRow {
    AdviceSetting setting;
    std::vector<Measure> measures = {};
    std::vector<std::string> remarks = {};  // "hint striping_factor was not applied"
};

struct Advice {
    std::string kind;  // "preflight", "bench", "profile", "plan"
    std::int64_t made_unix_ns = 0;
    std::string made_by;  // the version of Forebay and the host
    AdviceSetting key;    // the system that it is valid for: cluster, file system, number of targets, MPI, nodes, ...
    std::vector<Measure> measures = {};
    std::vector<Finding> findings = {};
    std::vector<AdviceRow> rows = {};
    AdviceSetting chosen = {};  // profile: the best setting; plan: the advised setting
    std::vector<std::string> excluded_nodes = {}, excluded_targets = {};
    std::vector<std::string> lines = {};  // to paste
};

std::string encode(const Advice& advice);
/// `corrupt` if the text is not advice, `unsupported` if its version is later. `path` goes into the error.
Result<Advice> decode_advice(std::string_view text, const std::string& path);

/// Returns nullptr if there is no measure of this name.
const Measure* find(const std::vector<Measure>& measures, std::string_view name);

}  // namespace forebay::format
