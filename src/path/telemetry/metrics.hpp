// The numbers of a run, or of a node of it, as text for the Prometheus server and for the textfile collector of
// node-exporter. docs/reference/figures.md lists the metrics.

#pragma once

#include <string>
#include <vector>

#include "core/format/status_line.hpp"
#include "path/telemetry/summary.hpp"

namespace forebay::telemetry {

/// The textfile collector takes Prometheus' own text, version 0.0.4. OpenMetrics 1.0 differs in the names of counters
/// above their values, and in its last line.
enum class MetricsForm { prometheus, openmetrics };

/// The Content-Type for serving this form.
const char* content_type(MetricsForm form);

/// The most targets with labels of their own; the remaining targets are counted together, as "other".
inline constexpr std::size_t metric_targets_max = 1000;

/// Metrics of the run if `summary` has snapshots, and metrics of each node that has a status. Names are escaped. If two
/// nodes have the same name, the second is left out.
std::string metrics_text(const Summary& summary, const std::vector<format::StatusLine>& statuses,
                         MetricsForm form = MetricsForm::prometheus);

}  // namespace forebay::telemetry
