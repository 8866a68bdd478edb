#include "path/telemetry/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/show_text.hpp"

namespace forebay::telemetry {

namespace {

using Labels = std::vector<std::pair<const char*, std::string>>;

std::string number_of(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
    return fmt::format("{}", value);
}
std::string number_of(std::uint64_t value) { return fmt::format("{}", value); }
std::string number_of(std::int64_t value) { return fmt::format("{}", value); }

// Control characters of terminals and bytes that are no UTF-8 are spelled out first: people read these texts too.
std::string label_text(const std::string& value) {
    std::string text;
    for (const char c : show_text(value)) {
        if (c == '"' || c == '\\') text += '\\';
        text += c;
    }
    return text;
}

std::string labels_text(const Labels& labels) {
    std::string text;
    for (const auto& [name, value] : labels)
        text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, label_text(value));
    return "{" + text + "}";
}

enum class MetricKind { counter, gauge, histogram };

/// Writes families of metrics one after the other: a head, then its values.
class MetricsText {
public:
    explicit MetricsText(MetricsForm form, const std::string& run) : form_(form), run_{{"run", run}} {}

    void family(MetricKind kind, const std::string& name, const char* help) {
        kind_ = kind;
        name_ = "forebay_" + name;
        constexpr std::array words{"counter", "gauge", "histogram"};
        const auto head = kind == MetricKind::counter && form_ == MetricsForm::prometheus ? name_ + "_total" : name_;
        out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", head, help, head, words[static_cast<std::size_t>(kind)]);
    }
    template <class T>
    void value(T number, const Labels& labels = {}) {
        line(kind_ == MetricKind::counter ? "_total" : "", number_of(number), labels);
    }
    /// For a histogram: counts all values in buckets of powers of two. The smallest bucket ends at 61 us, the time of
    /// the fastest saves.
    void seen(const std::vector<double>& values) {
        double sum = 0;
        for (const double value : values) sum += value;
        for (int power = -14; power <= 13; ++power) {
            const double most = std::ldexp(1.0, power);
            const auto count = std::ranges::count_if(values, [&](double value) { return value <= most; });
            line("_bucket", number_of(static_cast<std::uint64_t>(count)), {{"le", number_of(most)}});
        }
        const auto all = number_of(static_cast<std::uint64_t>(values.size()));
        line("_bucket", all, {{"le", "+Inf"}});
        line("_sum", number_of(sum), {});
        line("_count", all, {});
    }
    template <class T>
    void one(MetricKind kind, const std::string& name, const char* help, T number, const Labels& labels = {}) {
        family(kind, name, help);
        value(number, labels);
    }
    std::string text() { return out_ + (form_ == MetricsForm::openmetrics ? "# EOF\n" : ""); }

private:
    void line(const char* ending, const std::string& number, Labels labels) {
        labels.insert(labels.begin(), run_.begin(), run_.end());
        out_ += fmt::format("{}{}{} {}\n", name_, ending, labels_text(labels), number);
    }

    const MetricsForm form_;
    const Labels run_;
    MetricKind kind_ = MetricKind::gauge;
    std::string name_, out_;
};

template <class Member>
std::vector<double> seconds_of(const Summary& summary, Member member) {
    std::vector<double> seconds;
    for (const auto& row : summary.rows)
        if (row.*member > 0) seconds.push_back(row.*member);
    return seconds;
}

double seconds_since_1970(std::int64_t unix_ns) { return static_cast<double>(unix_ns) * 1e-9; }

void put_targets(MetricsText& text, const Summary& summary) {
    text.family(MetricKind::counter, "drain_bytes", "Bytes that agents have written, by storage target.");
    auto targets = summary.target_rows;
    // The targets with the most bytes keep labels of their own.
    std::ranges::stable_sort(targets, std::ranges::greater(), &TargetRow::bytes);
    std::map<std::string, std::uint64_t> bytes;
    for (std::size_t i = 0; i < targets.size(); ++i)
        bytes[i >= metric_targets_max   ? "other"
              : targets[i].name.empty() ? "unknown"
                                        : show_text(targets[i].name)] += targets[i].bytes;
    for (const auto& [name, sum] : bytes) text.value(sum, {{"target", name}});
}

void put_newest_durable(MetricsText& text, const Summary& summary) {
    std::map<std::string, const SnapshotRow*> newest;  // by stream
    for (const auto& row : summary.rows) {
        if (row.outcome != "committed" || row.durable_unix_ns == 0) continue;
        auto& known = newest[show_text(row.stream)];
        // The session comes first: between two sessions a clock may have been set back.
        if (known == nullptr ||
            std::tie(known->session, known->durable_unix_ns) <= std::tie(row.session, row.durable_unix_ns))
            known = &row;
    }
    text.family(MetricKind::gauge, "last_durable_step", "Step of the newest committed snapshot.");
    for (const auto& [stream, row] : newest) text.value(row->step, {{"stream", stream}});
    text.family(MetricKind::gauge, "last_durable_timestamp_seconds", "Time of its commit, in seconds since 1970.");
    for (const auto& [stream, row] : newest) text.value(seconds_since_1970(row->durable_unix_ns), {{"stream", stream}});
}

void put_run(MetricsText& text, const Summary& summary) {
    const auto histogram = [&](const std::string& name, const char* help, double SnapshotRow::*member) {
        text.family(MetricKind::histogram, name, help);
        text.seen(seconds_of(summary, member));
    };
    text.one(MetricKind::counter, "stage_bytes", "Bytes that ranks have saved.", summary.bytes_saved);
    histogram("stage_seconds", "Copying and checksumming of a snapshot, on the slowest node.",
              &SnapshotRow::copy_seconds);
    histogram("visible_seconds", "Time of a save in which the application could not compute, on the slowest node.",
              &SnapshotRow::blocked_seconds);
    text.family(MetricKind::counter, "visible_part_seconds",
                "Parts of that time: copying, the layout, waiting for ranks, waiting for a slot.");
    text.value(summary.parts.copy.sum, {{"part", "copy"}});
    text.value(summary.parts.layout.sum, {{"part", "layout"}});
    text.value(summary.parts.ranks.sum, {{"part", "ranks"}});
    text.value(summary.parts.slot.sum, {{"part", "slot"}});
    text.one(MetricKind::counter, "wait_seconds", "Waiting of the slowest rank, by reason.", summary.waited.sum,
             {{"reason", "slot"}});
    text.one(MetricKind::counter, "missing_records", "Records of saves that ranks did not write in time.",
             summary.missing_records);
    put_targets(text, summary);
    histogram("drain_seconds", "From the first write of a node file to its rename, on the slowest node.",
              &SnapshotRow::drain_seconds);
    text.one(MetricKind::gauge, "drain_slack_ratio", "Time from save to save over the drain: median of all snapshots.",
             summary.slack_median);
    text.one(MetricKind::gauge, "hidden_ratio", "1 - visible / (visible + drain).", summary.hidden_ratio);
    const auto newest = std::ranges::find_if(summary.rows.rbegin(), summary.rows.rend(),
                                             [](const SnapshotRow& row) { return row.straggler_ratio > 0; });
    text.one(MetricKind::gauge, "straggler_ratio", "Slowest drain over the median drain, of the newest snapshot.",
             newest == summary.rows.rend() ? 0.0 : newest->straggler_ratio);
    text.one(MetricKind::counter, "checksum_bytes", "Bytes that were checksummed during saves and drains.",
             summary.bytes_saved + summary.bytes_drained);
    text.one(MetricKind::counter, "snapshots", "Snapshots that agents have committed.", summary.committed);
    text.one(MetricKind::counter, "retries", "Drains that were tried again.", summary.retries);
    put_newest_durable(text, summary);
}

/// Nodes with distinct names, as monitors need them.
std::vector<const format::StatusLine*> nodes_of(const std::vector<format::StatusLine>& statuses) {
    std::vector<const format::StatusLine*> nodes;
    std::set<std::string> names;
    for (const auto& status : statuses)
        if (names.insert(label_text(node_name(status))).second) nodes.push_back(&status);
    return nodes;
}

using Nodes = std::vector<const format::StatusLine*>;

/// A metric that agents count, with its value on each node.
struct NodeMetric {
    describe::CountMetric metric;
    std::vector<double> values;
};

std::vector<NodeMetric> counted_metrics(const Nodes& nodes) {
    std::vector<NodeMetric> all;
    describe::each_node_count([&](const describe::Count& count, auto, auto get) {
        if (count.metric.place == 0) return;
        auto& values = all.emplace_back(NodeMetric{count.metric, {}}).values;
        for (const auto* node : nodes) values.push_back(static_cast<double>(get(node->counts)) / count.metric.divisor);
    });
    std::ranges::stable_sort(all, {}, [](const NodeMetric& metric) { return metric.metric.place; });
    return all;
}

void put_nodes(MetricsText& text, const Nodes& nodes) {
    text.family(MetricKind::gauge, "node_status_timestamp_seconds",
                "When the agent reported this, in seconds since 1970.");
    for (const auto* node : nodes) text.value(seconds_since_1970(node->unix_ns), {{"node", node_name(*node)}});
    for (const auto& [metric, values] : counted_metrics(nodes)) {
        text.family(metric.grows ? MetricKind::counter : MetricKind::gauge, metric.name, metric.help);
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            Labels labels{{"node", node_name(*nodes[i])}};
            if (*metric.op != '\0') labels.emplace_back("op", metric.op);
            text.value(values[i], labels);
        }
    }
    text.family(MetricKind::gauge, "node_last_durable_step", "Newest committed step, as the node knows it.");
    for (const auto* node : nodes) {
        std::set<std::string> streams;
        for (const auto& stream : node->streams)
            if (streams.insert(label_text(stream.name)).second)
                text.value(stream.counts.newest_durable_step, {{"node", node_name(*node)}, {"stream", stream.name}});
    }
}

}  // namespace

const char* content_type(MetricsForm form) {
    return form == MetricsForm::openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                            : "text/plain; version=0.0.4; charset=utf-8";
}

std::string metrics_text(const Summary& summary, const std::vector<format::StatusLine>& statuses, MetricsForm form) {
    MetricsText text(form, summary.run);
    text.one(MetricKind::gauge, "build_info", "The version that computed these figures.", std::uint64_t{1},
             {{"version", FOREBAY_VERSION}});
    if (!summary.rows.empty()) put_run(text, summary);
    const auto nodes = nodes_of(statuses);
    if (nodes.empty()) return text.text();
    std::uint64_t backlog = 0;
    for (const auto* node : nodes) backlog += node->counts.backlog_bytes;
    text.one(MetricKind::gauge, "drain_backlog_bytes",
             "Bytes of node files that are sealed and not drained, of all nodes.", backlog);
    put_nodes(text, nodes);
    return text.text();
}

}  // namespace forebay::telemetry
