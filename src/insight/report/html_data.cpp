#include "insight/report/html_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "insight/report/html_text.hpp"

namespace forebay::report {

namespace {

using Tree = nlohmann::ordered_json;

constexpr double mega = 1e6;
constexpr int heat_levels = 7;  // and 0: no writes
constexpr std::size_t sentence_characters = 300;

// Rounds to four digits; whole numbers become integers.
Tree brief(double number) {
    if (!std::isfinite(number) || number == 0) return 0;
    const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::abs(number))));
    const double rounded = std::round(number * scale) / scale;
    if (std::abs(rounded) < 1e15 && rounded == std::floor(rounded)) return static_cast<std::int64_t>(rounded);
    return rounded;
}

double since(std::int64_t unix_ns, std::int64_t begin_unix_ns) {
    return (static_cast<double>(unix_ns) - static_cast<double>(begin_unix_ns)) * 1e-9;
}

Tree rate_tree(const HtmlRun& run, const HtmlDetail& detail) {
    const auto& summary = run.summary;
    const double seconds = since(summary.end_unix_ns, summary.begin_unix_ns);
    if (!(seconds > 0)) return nullptr;
    const auto bytes =
        telemetry::bytes_over_time(run.chronicle, summary.begin_unix_ns, summary.end_unix_ns, detail.rate_bins);
    const double width = seconds / static_cast<double>(detail.rate_bins);
    auto values = Tree::array(), saves = Tree::array();
    for (const double each : bytes) values.push_back(brief(each / width / mega));
    // Saves in the same bin share a mark.
    std::set<std::size_t> marked;
    for (const auto& row : summary.rows) {
        const double at = since(row.saved_unix_ns, summary.begin_unix_ns);
        if (row.saved_unix_ns > 0 && marked.insert(static_cast<std::size_t>(std::max(0.0, at / width))).second)
            saves.push_back(brief(at));
    }
    return {{"width", width}, {"values", values}, {"saves", saves}, {"peak", brief(summary.rate_peak / mega)}};
}

double ratio_of(const std::vector<telemetry::Slow>& slow, const std::string& name) {
    const auto match = std::ranges::find(slow, name, &telemetry::Slow::name);
    return match == slow.end() ? 0 : match->ratio;
}

// The `count` slowest rows by `rate`, in their old order.
template <class Row>
std::vector<const Row*> slowest(const std::vector<Row>& rows, std::size_t count) {
    std::vector<const Row*> chosen;
    chosen.reserve(rows.size());
    for (const auto& row : rows) chosen.push_back(&row);
    if (chosen.size() <= count) return chosen;
    // A row without a rate is never slow.
    std::ranges::stable_sort(chosen, {}, [](const Row* row) { return row->rate > 0 ? row->rate : HUGE_VAL; });
    chosen.resize(count);
    // Pointers into one array: sorting them restores the rows' order.
    std::ranges::sort(chosen);
    return chosen;
}

// "oss3" for "oss3/ost12" and "oss3:ost12"; "" if the name has no server.
std::string server_of(const std::string& name) {
    const auto end = name.find_first_of("/:");
    return end == std::string::npos ? "" : name.substr(0, end);
}

Tree targets_tree(const telemetry::Summary& summary, const HtmlDetail& detail) {
    auto rows = Tree::array();
    for (const auto* row : slowest(summary.target_rows, detail.targets))
        rows.push_back(
            Tree::array({name_in_page(row->name, 32), brief(static_cast<double>(row->bytes) / mega),
                         brief(row->last_write_seconds), brief(row->rate / mega), row->writes,
                         brief(ratio_of(summary.slow_targets, row->name)), name_in_page(server_of(row->name), 16)}));
    return {{"all", summary.target_rows.size()}, {"rows", rows}};
}

Tree nodes_tree(const telemetry::Summary& summary, const HtmlDetail& detail) {
    auto rows = Tree::array();
    auto chosen = slowest(summary.node_rows, detail.nodes);
    std::ranges::stable_sort(chosen, {}, &telemetry::NodeRow::rate);
    for (const auto* row : chosen)
        rows.push_back(
            Tree::array({name_in_page(row->name, 32), brief(row->rate / mega), row->drains, brief(row->drain_seconds),
                         row->failures, row->retries, brief(ratio_of(summary.slow_nodes, row->name))}));
    return {{"all", summary.node_rows.size()}, {"rows", rows}};
}

// Half of them are the newest, and half took the longest.
std::vector<const telemetry::SnapshotRow*> chosen_snapshots(const telemetry::Summary& summary, std::size_t count) {
    std::vector<const telemetry::SnapshotRow*> chosen;
    for (const auto& row : summary.rows) chosen.push_back(&row);
    if (chosen.size() <= count) return chosen;
    const auto newest = chosen.end() - static_cast<std::ptrdiff_t>(count / 2);
    std::stable_sort(chosen.begin(), newest, [](const auto* left, const auto* right) {
        return left->blocked_seconds + left->drain_seconds > right->blocked_seconds + right->drain_seconds;
    });
    chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(count - count / 2), newest);
    std::ranges::sort(chosen);
    return chosen;
}

Tree snapshots_tree(const telemetry::Summary& summary, const HtmlDetail& detail) {
    auto rows = Tree::array(), streams = Tree::array(), outcomes = Tree::array();
    std::map<std::string, std::size_t> stream_numbers, outcome_numbers;
    // A name is written once and rows hold its number, which keeps the page small.
    const auto number_in = [](auto& numbers, auto& names, const std::string& name) {
        const auto [place, is_new] = numbers.emplace(name, numbers.size());
        if (is_new) names.push_back(name_in_page(name, 32));
        return place->second;
    };
    for (const auto* row : chosen_snapshots(summary, detail.snapshots))
        rows.push_back(
            Tree::array({number_in(stream_numbers, streams, row->stream), row->step, brief(row->blocked_seconds),
                         brief(row->drain_seconds), brief(row->interval_seconds), brief(row->durable_seconds),
                         brief(static_cast<double>(row->bytes) / mega),
                         number_in(outcome_numbers, outcomes, row->outcome), brief(row->straggler_ratio)}));
    return {{"all", summary.rows.size()}, {"streams", streams}, {"outcomes", outcomes}, {"rows", rows}};
}

// The write rate over time of each storage target, or of each node if targets have no names, in the snapshot with the
// longest drain. A row is a text with one digit a bin: 0 without writes, 7 for the fastest.
Tree heat_tree(const HtmlRun& run, const HtmlDetail& detail) {
    const telemetry::SnapshotRow* row = nullptr;
    for (const auto& candidate : run.summary.rows)
        if (candidate.drain_seconds > 0 && (row == nullptr || candidate.drain_seconds > row->drain_seconds))
            row = &candidate;
    if (row == nullptr) return nullptr;
    std::int64_t begin = 0, end = 0;
    bool named = false;
    for (const auto& batch : run.chronicle.batches) {
        if (batch.stream != row->stream || batch.step != row->step || batch.snapshot_id != row->snapshot_id ||
            batch.session != row->session)
            continue;
        for (const auto& target : batch.targets) {
            named = named || !target.name.empty();
            if (target.first_unix_ns <= 0 || target.last_unix_ns < target.first_unix_ns) continue;
            begin = begin == 0 ? target.first_unix_ns : std::min(begin, target.first_unix_ns);
            end = std::max(end, target.last_unix_ns);
        }
    }
    if (begin == 0 || end <= begin) return nullptr;
    auto names = telemetry::bytes_over_time_by_name(run.chronicle, *row, begin, end, detail.heat_bins, !named);
    const auto all = names.size();
    std::vector<std::pair<double, std::string>> latest;  // the last writers made the rest wait
    double most = 0;
    for (const auto& [name, bins] : names) {
        double last = 0;
        for (std::size_t i = 0; i < bins.size(); ++i) {
            most = std::max(most, bins[i]);
            if (bins[i] > 0) last = static_cast<double>(i);
        }
        latest.emplace_back(-last, name);
    }
    std::ranges::sort(latest);
    for (std::size_t i = detail.heat_rows; i < latest.size(); ++i) names.erase(latest[i].second);
    auto rows = Tree::array();
    for (const auto& [name, bins] : names) {
        std::string levels;
        for (const double bytes : bins)
            levels += static_cast<char>(
                '0' +
                (bytes > 0 ? std::clamp(static_cast<int>(std::ceil(bytes / most * heat_levels)), 1, heat_levels) : 0));
        rows.push_back(Tree::array({name_in_page(name, 32), levels}));
    }
    const double seconds = since(end, begin);
    return {{"of", named ? "target" : "node"},
            {"stream", name_in_page(row->stream)},
            {"step", row->step},
            {"seconds", brief(seconds)},
            {"most", brief(most / (seconds / static_cast<double>(detail.heat_bins)) / mega)},
            {"all", all},
            {"rows", rows}};
}

Tree scaling_tree(std::span<const HtmlRun> runs, const HtmlDetail& detail) {
    auto rows = Tree::array();
    for (const auto& [chronicle, summary] : runs.subspan(0, std::min(runs.size(), detail.runs))) {
        std::vector<double> rates, seconds;
        for (const auto& row : summary.rows) {
            if (row.drain_seconds <= 0) continue;
            rates.push_back(static_cast<double>(row.stored_bytes) / row.drain_seconds / mega);
            seconds.push_back(row.drain_seconds);
        }
        if (rates.empty()) continue;
        const auto [least, most] = std::ranges::minmax(rates);
        std::ranges::sort(rates);
        const auto middle = rates.size() / 2;
        const double median = rates.size() % 2 == 1 ? rates[middle] : (rates[middle - 1] + rates[middle]) / 2;
        const auto name = summary.run.substr(summary.run.rfind('/') + 1);
        rows.push_back(Tree::array({name_in_page(name, 32), summary.ranks, summary.nodes,
                                    brief(static_cast<double>(summary.bytes_drained) / mega), rates.size(),
                                    brief(summary.drained.median), brief(std::ranges::max(seconds)), brief(median),
                                    brief(least), brief(most)}));
    }
    return {{"all", runs.size()}, {"rows", rows}};
}

Tree why_tree(const telemetry::Summary& summary, const HtmlDetail& detail) {
    auto rows = Tree::array();
    std::size_t all = 0;
    for (auto row = summary.rows.rbegin(); row != summary.rows.rend(); ++row)
        for (const auto& sentence : row->why)
            if (all++ < detail.sentences)
                rows.push_back(Tree::array(
                    {name_in_page(row->stream, 32), row->step, name_in_page(sentence, sentence_characters)}));
    return {{"all", all}, {"rows", rows}};
}

}  // namespace

std::string html_data(std::span<const HtmlRun> runs, const HtmlDetail& detail) {
    const auto& run = runs.front();
    Tree tree{{"rate", rate_tree(run, detail)},           {"targets", targets_tree(run.summary, detail)},
              {"nodes", nodes_tree(run.summary, detail)}, {"snapshots", snapshots_tree(run.summary, detail)},
              {"heat", heat_tree(run, detail)},           {"why", why_tree(run.summary, detail)}};
    if (runs.size() > 1) tree["scaling"] = scaling_tree(runs, detail);
    // Only ASCII, and invalid UTF-8 replaced: no name can break the page.
    return json_in_page(tree.dump(-1, ' ', true, Tree::error_handler_t::replace));
}

}  // namespace forebay::report
