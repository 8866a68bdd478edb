#include "program/look/top_view.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "core/base/try.hpp"
#include "core/format/packed.hpp"
#include "path/node/control.hpp"

namespace forebay::cli {

namespace {

using format::StatusLine;
using telemetry::node_name;

// A screen has no room for more. At most half are sentences about ways of bytes. On a busy machine each save may have a
// sentence of its own, and those would push the ways out.
constexpr std::size_t sentences_shown_max = 20, ways_shown_max = 10, saves_shown = 8;

/// The place of a state in a slot's life; unknown states come last.
std::size_t place_of(const std::string& state) {
    constexpr auto last = static_cast<std::uint32_t>(node::SlotState::failed);
    for (std::uint32_t i = 0; i <= last; ++i)
        if (state == name_of(static_cast<node::SlotState>(i))) return i;
    return last + 1;
}

class StreamRows {
public:
    void add(const StatusLine& status) {
        for (const auto& stream : status.streams) {
            auto& into = streams_[stream.name];
            describe::each_stream_count([&](const describe::Count&, auto, auto get) {
                get(into.row.counts) = std::max(get(into.row.counts), get(stream.counts));
            });
            for (const auto& slot : stream.slots) {
                if (slot.state == "empty") continue;
                auto& slots = into.steps[slot.step];
                slots.bytes += slot.bytes;
                slots.drained_bytes += std::min(slot.bytes, slot.drained_bytes);
                ++slots.states[{place_of(slot.state), slot.state}];
            }
        }
    }
    std::vector<TopStream> take() {
        std::vector<TopStream> rows;
        for (auto& [name, stream] : streams_) {
            stream.row.name = name;
            for (auto step = stream.steps.rbegin(); step != stream.steps.rend(); ++step) {
                TopSlots slots{name, step->first, step->second.bytes, step->second.drained_bytes, {}};
                for (const auto& [state, nodes] : step->second.states) slots.states.emplace_back(state.second, nodes);
                stream.row.slots.push_back(std::move(slots));
            }
            rows.push_back(std::move(stream.row));
        }
        return rows;
    }

private:
    struct Step {
        std::uint64_t bytes = 0, drained_bytes = 0;
        std::map<std::pair<std::size_t, std::string>, std::uint64_t> states;
    };
    struct Stream {
        TopStream row;
        std::map<std::int64_t, Step> steps;
    };
    std::map<std::string, Stream> streams_;
};

void take_newest_slot(TopNode& node, const StatusLine& status) {
    for (const auto& stream : status.streams)
        for (const auto& slot : stream.slots) {
            if (slot.state == "empty" || (slot.step < node.step && slot.state != "draining")) continue;
            if (node.slot_state == "draining" && slot.state != "draining") continue;
            node.step = slot.step;
            node.slot_state = slot.state;
            node.progress = slot.bytes == 0 ? 0
                                            : static_cast<double>(std::min(slot.drained_bytes, slot.bytes)) /
                                                  static_cast<double>(slot.bytes);
        }
}

void add_nodes(TopView& view, const std::vector<StatusLine>& statuses) {
    std::map<std::string, TopNode> nodes;
    for (const auto& status : statuses) {
        auto& node = nodes[node_name(status)];
        node.state = telemetry::is_stale(status, view.now_unix_ns) ? "silent" : status.state;
        node.rate = node.state == "serving" ? status.counts.rate_bytes_per_second : 0;
        node.backlog_bytes = status.counts.backlog_bytes;
        node.failures = status.counts.aborts;
        node.unix_ns = status.unix_ns;
        take_newest_slot(node, status);
        if (node.state != "silent" && status.session == view.session) ++view.nodes_told;
    }
    std::vector<double> rates;
    for (const auto& row : view.summary.node_rows) {
        auto& node = nodes[row.name];
        node.drain_rate = row.rate;
        if (node.state.empty()) node.failures = row.failures;
        if (row.rate > 0) rates.push_back(row.rate);
    }
    if (!rates.empty()) std::ranges::nth_element(rates, rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2));
    const double median = rates.empty() ? 0 : rates[rates.size() / 2];
    for (auto& [name, node] : nodes) {
        node.name = name;
        if (median > 0) node.ratio = node.drain_rate / median;
        view.nodes_shown.push_back(std::move(node));
    }
}

/// Newest first, each text once.
void put_in_order(std::vector<TopSentence>& sentences) {
    std::ranges::stable_sort(sentences, std::ranges::greater(), &TopSentence::unix_ns);
    std::set<std::string> seen;
    std::erase_if(sentences, [&](const TopSentence& sentence) { return !seen.insert(sentence.text).second; });
    const auto ways = static_cast<std::size_t>(std::ranges::count(sentences, true, &TopSentence::is_way));
    std::size_t ways_left = std::min(ways, ways_shown_max), others_left = sentences_shown_max - ways_left;
    std::erase_if(sentences, [&](const TopSentence& sentence) {
        auto& left = sentence.is_way ? ways_left : others_left;
        if (left == 0) return true;
        --left;
        return false;
    });
}

// Events about bytes that go another way than the file system's own choice.
constexpr std::string_view other_ways[] = {"avoids",    "uses_again", "unplaced",    "detours",
                                           "no_detour", "helps_not",  "writes_again"};

void add_sentences(TopView& view, const telemetry::Chronicle& chronicle, const std::vector<StatusLine>& statuses) {
    for (const auto& event : chronicle.events) {
        const bool is_way = std::ranges::find(other_ways, event.event) != std::end(other_ways);
        const TopSentence sentence{event.unix_ns, event.host, event.text, is_way};
        if (event.event == "failed" || event.event == "set_aside") view.errors.push_back(sentence);
        if (is_way || event.event == "slow") view.why.push_back(sentence);
    }
    for (const auto& row : view.summary.rows)
        for (const auto& text : row.why)
            view.why.push_back({std::max(row.durable_unix_ns, row.saved_unix_ns), row.slowest_node, text});
    // A status has the time of its writing, not of its error. So it only counts if the run's events lack the error.
    for (const auto& status : statuses) {
        if (!status.last_error.empty() && view.errors.empty())
            view.errors.push_back({status.unix_ns, node_name(status), status.last_error});
        if (!status.why.empty() && view.why.empty())
            view.why.push_back({status.unix_ns, node_name(status), status.why});
    }
    put_in_order(view.errors);
    put_in_order(view.why);
}

void add_rates(TopView& view, const std::vector<StatusLine>& statuses) {
    double slowdown = 0;
    for (const auto& status : statuses) {
        view.nodes = std::max(view.nodes, status.nodes);
        view.newest_status_unix_ns = std::max(view.newest_status_unix_ns, status.unix_ns);
        view.job_ends_unix_ns = std::max(view.job_ends_unix_ns, status.job_ends_unix_ns);
        view.backlog_bytes += status.counts.backlog_bytes;
        view.failures += status.counts.aborts;
        if (status.counts.steps_counted > 0) slowdown = std::max(slowdown, status.counts.slowdown_percent);
        if (status.state == "serving" && !telemetry::is_stale(status, view.now_unix_ns))
            view.rate_out += status.counts.rate_bytes_per_second;
    }
    view.slowdown_percent = view.summary.slowdown_steps > 0 ? view.summary.slowdown_percent : slowdown;
    if (view.nodes == 0) view.nodes = view.summary.nodes;
    const auto& rows = view.summary.rows;
    for (std::size_t i = rows.size() - std::min(rows.size(), saves_shown); i < rows.size(); ++i)
        view.blocked_seconds.push_back(rows[i].blocked_seconds);
    if (!rows.empty() && rows.back().interval_seconds > 0)
        view.rate_in = static_cast<double>(rows.back().bytes) / rows.back().interval_seconds;
}

}  // namespace

Result<std::vector<catalog::Snapshot>> newest_snapshots(sys::Store& store, const std::string& run) {
    std::vector<catalog::Snapshot> newest;
    FB_TRY_ASSIGN(streams, catalog::streams(store, run));
    for (const auto& stream : streams) {
        // Results of analyses have steps of the state's stream. Packed files have no step.
        if (format::is_packed_stream(stream) || stream.find('.') != std::string::npos) continue;
        FB_TRY_ASSIGN(snapshots, catalog::snapshots(store, run, stream));
        if (!snapshots.empty()) newest.push_back(std::move(snapshots.front()));
    }
    return newest;
}

TopView top_view(telemetry::Chronicle chronicle, std::int64_t now_unix_ns, bool all,
                 std::vector<catalog::Snapshot> newest) {
    TopView view{.run = chronicle.run, .now_unix_ns = now_unix_ns};
    view.newest = std::move(newest);
    for (const auto& status : chronicle.statuses) view.session = std::max(view.session, status.session);
    for (const auto& batch : chronicle.batches) view.session = std::max(view.session, batch.session);
    // Files of hosts that left the job stay in the run.
    const auto is_old = [&](const auto& entry) { return !all && entry.session != view.session; };
    std::erase_if(chronicle.statuses, is_old);
    std::erase_if(chronicle.batches, is_old);
    const auto& statuses = chronicle.statuses;
    view.summary = telemetry::summarize(chronicle);
    view.state = telemetry::standing_of(statuses, now_unix_ns).state;
    add_rates(view, statuses);
    StreamRows rows;
    for (const auto& status : statuses) rows.add(status);
    view.streams = rows.take();
    add_nodes(view, statuses);
    add_sentences(view, chronicle, statuses);
    return view;
}

const char* name_of(NodeOrder order) {
    switch (order) {
        case NodeOrder::slowest: return "slowest";
        case NodeOrder::backlog: return "backlog";
        case NodeOrder::failures: return "failures";
        case NodeOrder::name: break;
    }
    return "name";
}

void sort(std::vector<TopNode>& nodes, NodeOrder order) {
    const auto key = [&](const TopNode& node) {
        const bool is_known = node.ratio > 0;
        const auto first = order == NodeOrder::backlog    ? -static_cast<double>(node.backlog_bytes)
                           : order == NodeOrder::failures ? -static_cast<double>(node.failures)
                           : order == NodeOrder::slowest  ? (is_known ? node.ratio : 1e300)
                                                          : 0.0;
        return std::tuple<double, const std::string&>(first, node.name);
    };
    std::ranges::stable_sort(nodes, [&](const TopNode& node, const TopNode& other) { return key(node) < key(other); });
}

}  // namespace forebay::cli
