// The bounds fit a screen of 2,000 pixels. A long run shows its newest saves one by one; curves cover the whole run.

#include "insight/report/page_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "insight/report/heat_map.hpp"
#include "path/telemetry/standing.hpp"
#include "path/telemetry/words.hpp"

namespace forebay::report {

namespace {

using Tree = nlohmann::ordered_json;

constexpr std::size_t rows_max = 200;      // saves
constexpr std::size_t curve_bins = 240;    // of the rates
constexpr std::size_t kept_max = 200;      // snapshots of the retention
constexpr std::size_t named_max = 24;      // nodes and targets by name
constexpr std::size_t sentences_max = 20;  // reasons and errors
constexpr std::size_t events_max = 20;

double seconds(std::int64_t unix_ns) { return static_cast<double>(unix_ns) * 1e-9; }
/// Null if the time is unknown.
Tree moment(std::int64_t unix_ns) { return unix_ns > 0 ? Tree(seconds(unix_ns)) : Tree(nullptr); }

Tree spread_json(const telemetry::Spread& spread) {
    return {{"count", spread.count},
            {"median", spread.median},
            {"p95", spread.p95},
            {"max", spread.max},
            {"sum", spread.sum}};
}

/// The bytes moved in equal bins of time. Every move is spread evenly over its own time.
class Curve {
public:
    Curve(std::int64_t begin, std::int64_t end)
        : begin_(begin), bin_ns_(std::max<double>(1.0, static_cast<double>(end - begin) / curve_bins)) {}

    void add(std::int64_t from, std::int64_t to, std::uint64_t bytes) {
        if (from <= 0 || to < from || bytes == 0) return;
        const double first = static_cast<double>(from - begin_) / bin_ns_;
        // Never empty, so that a move without duration counts.
        const double last = std::max(static_cast<double>(to - begin_) / bin_ns_, first + 1e-6);
        const double per_bin = static_cast<double>(bytes) / (last - first);
        const auto begin = static_cast<std::size_t>(std::clamp(first, 0.0, curve_bins - 1.0));
        const auto end = static_cast<std::size_t>(std::clamp(last, 0.0, curve_bins - 1.0));
        for (auto bin = begin; bin <= end; ++bin) {
            const auto low = std::max(first, static_cast<double>(bin)),
                       high = std::min(last, static_cast<double>(bin) + 1);
            if (high > low) bytes_[bin] += per_bin * (high - low);
        }
    }
    double at(std::size_t bin) const { return seconds(begin_) + (static_cast<double>(bin) + 0.5) * bin_ns_ * 1e-9; }
    double rate(std::size_t bin) const { return bytes_[bin] / (bin_ns_ * 1e-9); }

private:
    std::int64_t begin_;
    double bin_ns_;
    std::array<double, curve_bins> bytes_{};
};

Tree rates_json(const PageFacts& facts) {
    Tree at = Tree::array(), saved = Tree::array(), drained = Tree::array();
    const auto begin = facts.summary.begin_unix_ns, end = facts.summary.end_unix_ns;
    if (begin > 0 && end > begin) {
        Curve in(begin, end), out(begin, end);
        for (const auto& batch : facts.chronicle.batches) {
            in.add(batch.saved_unix_ns, batch.sealed_unix_ns, batch.bytes);
            out.add(batch.drain_unix_ns, batch.drained_unix_ns, batch.stored_bytes);
        }
        for (std::size_t bin = 0; bin < curve_bins; ++bin) {
            at.push_back(in.at(bin));
            saved.push_back(in.rate(bin));
            drained.push_back(out.rate(bin));
        }
    }
    return {{"at", at}, {"saved", saved}, {"drained", drained}};
}

Tree parts_json(const format::BlockedParts& parts) {
    return {{"copy", parts.copy_seconds},
            {"layout", parts.layout_seconds},
            {"ranks", parts.ranks_seconds},
            {"slot", parts.slot_seconds}};
}

Tree saves_json(const telemetry::Summary& summary) {
    Tree saves = Tree::array();
    // Rows are in order of time, so the last are the newest.
    const auto count = std::min(rows_max, summary.rows.size());
    for (const auto& row : std::span(summary.rows).last(count))
        saves.push_back({{"stream", row.stream},
                         {"step", row.step},
                         {"outcome", row.outcome},
                         {"at", moment(row.saved_unix_ns)},
                         {"bytes", row.bytes},
                         {"stored_bytes", row.stored_bytes},
                         {"nodes", row.nodes},
                         {"nodes_told", row.nodes_told},
                         {"blocked", row.blocked_seconds},
                         {"parts", parts_json(row.blocked_parts)},
                         {"drain", row.drain_seconds},
                         {"durable", row.durable_seconds},
                         {"interval", row.interval_seconds},
                         {"slack", row.slack},
                         {"slowest_node", row.slowest_node},
                         {"straggler", row.straggler_ratio}});
    return saves;
}

Tree slow_json(const std::vector<telemetry::Slow>& slow) {
    Tree list = Tree::array();
    for (const auto& entry : std::span(slow).first(std::min(named_max, slow.size())))
        list.push_back({{"name", entry.name}, {"ratio", entry.ratio}, {"samples", entry.samples}});
    return list;
}

// Nodes with failures or retries, most failures first.
Tree failed_json(const telemetry::Summary& summary) {
    std::vector<const telemetry::NodeRow*> failed;
    for (const auto& row : summary.node_rows)
        if (row.failures + row.retries > 0) failed.push_back(&row);
    std::ranges::stable_sort(failed, [](const auto* a, const auto* b) {
        return std::pair(a->failures, a->retries) > std::pair(b->failures, b->retries);
    });
    Tree list = Tree::array();
    for (const auto* row : std::span(failed).first(std::min(named_max, failed.size())))
        list.push_back({{"name", row->name}, {"failures", row->failures}, {"retries", row->retries}});
    return list;
}

Tree why_json(const PageFacts& facts) {
    Tree list = Tree::array();
    // Newest first, because the list is cut.
    for (auto row = facts.summary.rows.rbegin(); row != facts.summary.rows.rend(); ++row)
        for (const auto& sentence : row->why)
            if (list.size() < sentences_max)
                list.push_back({{"stream", row->stream}, {"step", row->step}, {"text", sentence}});
    return list;
}

Tree errors_json(const std::vector<format::StatusLine>& statuses) {
    Tree list = Tree::array();
    for (const auto& status : statuses)
        if (!status.last_error.empty() && list.size() < sentences_max)
            list.push_back({{"node", telemetry::node_name(status)}, {"text", status.last_error}});
    return list;
}

Tree events_json(const std::vector<telemetry::EventLine>& events) {
    Tree list = Tree::array();
    for (const auto& event : std::span(events).last(std::min(events_max, events.size())))
        list.push_back({{"at", moment(event.unix_ns)},
                        {"event", event.event},
                        {"host", event.host},
                        {"stream", event.stream},
                        {"step", event.step},
                        {"text", event.text}});
    return list;
}

Tree kept_json(const std::vector<KeptSnapshot>& kept) {
    Tree list = Tree::array();
    for (const auto& entry : std::span(kept).first(std::min(kept_max, kept.size())))
        list.push_back({{"stream", entry.stream},
                        {"step", entry.step},
                        {"standing", entry.standing},
                        {"sealed", moment(entry.sealed_unix_ns)}});
    return {{"shown", list}, {"count", kept.size()}};
}

Tree heat_json(const std::vector<format::TimingBatch>& batches) {
    const auto map = heat_map_of(batches);
    Tree columns = Tree::array(), rows = Tree::array();
    for (const auto& column : map.columns) columns.push_back({{"stream", column.stream}, {"step", column.step}});
    for (const auto& row : map.rows) {
        Tree rates = Tree::array();
        // A rate of 0 is unknown.
        for (const auto rate : row.rates) rates.push_back(rate > 0 ? Tree(rate) : Tree(nullptr));
        rows.push_back({{"name", row.name}, {"nodes", row.nodes}, {"rates", rates}});
    }
    return {{"columns", columns}, {"rows", rows}};
}

// The current figures of all agents together.
Tree now_json(const PageFacts& facts) {
    std::uint64_t backlog = 0, drained = 0, failures = 0;
    double rate = 0, slowdown = 0;
    std::int64_t began = 0, job_ends = 0;
    std::uint32_t session = 0;
    // Only the newest session counts: status files of earlier sessions may remain.
    for (const auto& status : facts.chronicle.statuses) session = std::max(session, status.session);
    Tree slots = Tree::object();
    for (const auto& status : facts.chronicle.statuses) {
        if (status.session != session) continue;
        backlog += status.counts.backlog_bytes;
        drained += status.counts.bytes_drained;
        failures += status.counts.aborts;
        rate += status.counts.rate_bytes_per_second;
        slowdown = std::max(slowdown, status.counts.slowdown_percent);
        if (began == 0 || (status.began_unix_ns > 0 && status.began_unix_ns < began)) began = status.began_unix_ns;
        job_ends = std::max(job_ends, status.job_ends_unix_ns);
        for (const auto& stream : status.streams)
            for (const auto& slot : stream.slots) {
                auto& count = slots[stream.name][slot.state];
                count = count.is_null() ? 1 : count.get<int>() + 1;
            }
    }
    Tree samples = Tree::array();
    for (const auto& sample : facts.backlog)
        samples.push_back({seconds(sample.unix_ns), sample.bytes, sample.rate_bytes_per_second});
    return {{"backlog_bytes", backlog},
            {"bytes_drained", drained},
            {"failures", failures},
            {"rate", rate},
            {"slowdown_percent", slowdown},
            {"began", moment(began)},
            {"job_ends", moment(job_ends)},
            {"session", session},
            {"slots", slots},
            {"samples", samples}};
}

std::string words_of(const telemetry::RunStanding& standing) {
    using telemetry::RunState;
    const auto agents = [](std::size_t count) { return fmt::format("{} agent{}", count, count == 1 ? "" : "s"); };
    if (!standing.silent.empty())
        return fmt::format("{} of {} agents are silent: they were killed, or their hosts cannot reach the run.",
                           standing.silent.size(), standing.agents);
    switch (standing.state) {
        case RunState::unknown: return "No agent reports here. This page shows the records.";
        case RunState::running: return fmt::format("Live: {} serving.", agents(standing.at_work));
        case RunState::draining:
            return fmt::format("The application has ended or died. {} still serving its copies.",
                               agents(standing.at_work));
        case RunState::lingering:
            return "The application has died. Everything that it saved is committed. Staged copies wait for its "
                   "restart.";
        case RunState::left:
            return fmt::format("Ended, and {} left work: use forebay drain RUN on that node, or forebay recover.",
                               agents(standing.left));
        case RunState::died:
            return "The application has died without closing the run. Everything that it saved is committed.";
        case RunState::ended: return "Finished. Everything that was saved is committed.";
        case RunState::silent: break;
    }
    return "";
}

// Silent comes first: data on a silent node may not be durable.
std::string badge_of(const telemetry::RunStanding& standing) {
    if (!standing.silent.empty()) return "silent";
    return standing.state == telemetry::RunState::left ? "left" : name_of(standing.state);
}

}  // namespace

std::string page_state(const PageFacts& facts) {
    const auto& summary = facts.summary;
    const auto standing = telemetry::standing_of(facts.chronicle.statuses, facts.now_unix_ns);
    const auto cut = [](const auto& list, std::size_t most) {
        return std::vector<std::string>(list.begin(),
                                        list.begin() + static_cast<std::ptrdiff_t>(std::min(most, list.size())));
    };
    Tree state{{"run", facts.chronicle.run},
               {"state", badge_of(standing)},
               {"words", words_of(standing)},
               {"silent_nodes", cut(standing.silent, named_max)},
               {"silent_since", moment(standing.silent_since_unix_ns)},
               {"begin", moment(summary.begin_unix_ns)},
               {"end", moment(summary.end_unix_ns)},
               {"nodes", telemetry::nodes_text(summary)},
               {"ranks", telemetry::ranks_text(summary)},
               {"period", telemetry::period_text(summary)}};
    state["durable"] = {{"step", summary.newest_durable_step},
                        {"stream", summary.newest_durable_stream},
                        {"at", moment(summary.newest_durable_unix_ns)}};
    state["now"] = now_json(facts);
    state["totals"] = {{"saved_bytes", summary.bytes_saved},
                       {"drained_bytes", summary.bytes_drained},
                       {"stored_bytes", summary.bytes_stored},
                       {"snapshots", summary.snapshots},
                       {"committed", summary.committed},
                       {"superseded", summary.superseded},
                       {"failed", summary.failed},
                       {"retries", summary.retries},
                       {"visible_ratio", summary.visible_ratio},
                       {"hidden_ratio", summary.hidden_ratio},
                       {"slack_median", summary.slack_median},
                       {"slack_worst", summary.slack_worst},
                       {"jitter", summary.jitter},
                       {"rate_peak", summary.rate_peak},
                       {"rate_median", summary.rate_median},
                       {"slowdown_percent", summary.slowdown_percent},
                       {"slowdown_low", summary.slowdown_low_percent},
                       {"slowdown_high", summary.slowdown_high_percent},
                       {"slowdown_steps", summary.slowdown_steps}};
    state["blocked"] = spread_json(summary.blocked);
    state["blocked_parts"] = telemetry::parts_text(summary);
    state["drain"] = spread_json(summary.drained);
    state["durable_after"] = spread_json(summary.durable);
    state["rates"] = rates_json(facts);
    state["saves"] = saves_json(summary);
    state["slow_nodes"] = slow_json(summary.slow_nodes);
    state["slow_targets"] = slow_json(summary.slow_targets);
    state["failed_nodes"] = failed_json(summary);
    state["heat"] = heat_json(facts.chronicle.batches);
    state["kept"] = kept_json(facts.kept);
    state["why"] = why_json(facts);
    state["advice"] = cut(summary.advice, sentences_max);
    state["errors"] = errors_json(facts.chronicle.statuses);
    state["events"] = events_json(facts.chronicle.events);
    state["problems"] = cut(summary.problems, sentences_max);
    return state.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace forebay::report
