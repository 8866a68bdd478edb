// The words of a report: what it cost, whether data are safe, what was slow, what to do. They need no script.

#pragma once

#include <string>

#include "path/telemetry/summary.hpp"

namespace forebay::report {

std::string html_head_words(const telemetry::Summary& summary);
std::string html_cost(const telemetry::Summary& summary);
std::string html_safety(const telemetry::Summary& summary);
std::string html_slow(const telemetry::Summary& summary);
std::string html_advice(const telemetry::Summary& summary);
/// "" where everything could be read.
std::string html_problems(const telemetry::Summary& summary);

}  // namespace forebay::report
