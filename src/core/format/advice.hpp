// What a probe has found and what follows from it, as JSON: written by `forebay preflight`, `bench run`, `tune` and
// `plan`, and read by each of them, so that a number measured by one is an input of the next with its origin.
//
// One schema for all: docs/formats/advice.md and advice.schema.json. Threads: any.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::format {

/// Where a number comes from; a reader of advice shows it beside the number.
enum class MeasureOrigin : std::uint8_t {
    measured,   // by the program that wrote it, `samples` times
    kept,       // worked out of what a run has kept of itself
    given,      // by the user
    assumed,    // by us, because nobody has said or measured it
    predicted,  // by a plan: worked out, or simulated `samples` times
};
const char* name_of(MeasureOrigin origin);

/// A number with its spread. Names have units and are listed in docs/formats/advice.md:
/// "drain_rate_bytes_per_second" is 1.2e9 with cv 0.08 over 20 samples.
struct Measure {
    std::string name;
    double value = 0;
    double low = 0, high = 0;  // p10 and p90; both 0 where there is no spread
    double cv = 0;             // standard deviation / mean
    std::uint64_t samples = 0;
    MeasureOrigin origin = MeasureOrigin::assumed;
    std::string from;  // a file, an option, a run: whatever a person would look at
};

enum class Severity : std::uint8_t { note, warn, fail };
const char* name_of(Severity severity);

/// One thing that is bad, of one node, target or of all.
struct Finding {
    std::string check;    // "memory"
    std::string subject;  // "nid00123", "OST0014", a directory; "" of the whole
    Severity severity = Severity::note;
    std::string text;  // one clause
    double ratio = 0;  // to the median of the others; 0: does not apply
    double z = 0;      // by MAD
    std::uint64_t samples = 0;
};

using AdviceSetting =
    std::vector<std::pair<std::string, std::string>>;  // option and value, in the order of the program

/// A trial of a tuner, a row of a bench, a case of a plan: a setting and what came of it.
struct AdviceRow {
    AdviceSetting setting;
    std::vector<Measure> measures = {};
    std::vector<std::string> remarks = {};  // "hint striping_factor was not applied"
};

struct Advice {
    std::string kind;  // "preflight", "bench", "profile", "plan"
    std::int64_t made_unix_ns = 0;
    std::string made_by;  // the version of Forebay, and the host
    AdviceSetting key;    // what it holds for: cluster, file system, number of targets, MPI, nodes, ...
    std::vector<Measure> measures = {};
    std::vector<Finding> findings = {};
    std::vector<AdviceRow> rows = {};
    AdviceSetting chosen = {};  // of a profile: the best setting; of a plan: what it advises
    std::vector<std::string> excluded_nodes = {}, excluded_targets = {};
    std::vector<std::string> lines = {};  // to paste
};

std::string encode(const Advice& advice);
/// `corrupt` where it is no advice, `unsupported` where it is of a later version. `path` stands in the error.
Result<Advice> decode_advice(std::string_view text, const std::string& path);

/// Null where there is none of that name.
const Measure* find(const std::vector<Measure>& measures, std::string_view name);

}  // namespace forebay::format
