// The text of a report: cost, safety of the data, slow parts, advice. It needs no script.

#pragma once

#include <string>

#include "path/telemetry/summary.hpp"

namespace forebay::report {

std::string html_head_words(const telemetry::Summary& summary);
std::string html_cost(const telemetry::Summary& summary);
std::string html_safety(const telemetry::Summary& summary);
std::string html_slow(const telemetry::Summary& summary);
std::string html_advice(const telemetry::Summary& summary);
/// "" if everything could be read.
std::string html_problems(const telemetry::Summary& summary);

}  // namespace forebay::report
