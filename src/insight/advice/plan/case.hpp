// A case: a published run with its inputs, its published results and values to vary, as TOML: bench/cases.
//
//   title = "HACC on Aurora"
//   what_if = ["mtbf=3h,6h", "slow_nodes=0.01:0.3"]
//   [inputs]                     # by the names of measures; seconds, bytes, bytes a second
//   nodes = { value = 8100, from = "8,100 nodes x 12 ranks" }
//   drain_rate_bytes_per_second = { value = 463e6, cv = 0.1, from = "..." }
//   [published]                  # the same form; compared with the prediction
//   visible_seconds = { value = 1.76, from = "..." }

#pragma once

#include <string>
#include <vector>

#include "core/format/advice.hpp"
#include "forebay/result.hpp"

namespace forebay::advice {

struct PlanCase {
    std::string title;
    std::vector<format::Measure> inputs, published;  // of origin `given`
    std::vector<std::string> what_ifs;
};

/// `refused`, with the line, if the text is not a case or names an unknown input.
Result<PlanCase> read_case(const std::string& text, const std::string& path);

}  // namespace forebay::advice
