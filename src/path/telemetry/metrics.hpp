// The numbers of a run, or of one node of it, as text for Prometheus: what its server, and node-exporter's textfile
// collector, read. docs/reference/figures.md lists the metrics.

#pragma once

#include <string>
#include <vector>

#include "core/format/status_line.hpp"
#include "path/telemetry/summary.hpp"

namespace forebay::telemetry {

/// Prometheus' own text, version 0.0.4, is what the textfile collector takes. OpenMetrics 1.0 differs in the names of
/// counters above their values, and in its last line.
enum class MetricsForm { prometheus, openmetrics };

/// What is told as Content-Type where it is served.
const char* content_type(MetricsForm form);

/// Of targets as a label: more than these are counted together, as "other".
inline constexpr std::size_t metric_targets_max = 1000;

/// Metrics of the run where `summary` has snapshots, metrics of each node that has a status. Names are escaped; of two
/// nodes with one name the second is left out.
std::string metrics_text(const Summary& summary, const std::vector<format::StatusLine>& statuses,
                         MetricsForm form = MetricsForm::prometheus);

}  // namespace forebay::telemetry
