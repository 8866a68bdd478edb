#include "program/look/top_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/show_text.hpp"
#include "core/base/units.hpp"
#include "core/terminal/words.hpp"
#include "path/telemetry/words.hpp"
#include "program/snapshot_words.hpp"

namespace forebay::cli {

namespace {

using Phrases = std::vector<std::string>;

// East Asian characters and pictures take two terminal columns.
bool is_wide(std::uint32_t number) {
    constexpr std::pair<std::uint32_t, std::uint32_t> wide[] = {
        {0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe30, 0xfe6f},
        {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    return std::ranges::any_of(wide,
                               [&](const auto& range) { return number >= range.first && number <= range.second; });
}

using telemetry::RunState;

bool is_over(RunState state) { return state == RunState::ended || state == RunState::died || state == RunState::left; }

// "42 s ago"; for an ended run, which may be read much later, the date.
std::string when(const TopView& view, std::int64_t unix_ns) {
    if (is_over(view.state) || view.state == RunState::unknown) return show_utc(unix_ns);
    const auto ago = static_cast<double>(view.now_unix_ns) - static_cast<double>(unix_ns);
    return ago < 1e9 ? std::string("now") : show_seconds(ago * 1e-9) + " ago";
}

// For a table: the time of day is enough.
std::string when_shortly(const TopView& view, std::int64_t unix_ns) {
    const auto text = when(view, unix_ns);
    return text.ends_with(" UTC") ? text.substr(text.find(' ') + 1) : text;
}

std::string padded(std::string text, std::size_t columns, bool right = false) {
    text = clipped(text, columns);
    const auto room = std::string(columns - std::min(columns, columns_of(text)), ' ');
    return right ? room + text : text + room;
}

std::string bar(double share, std::size_t cells) {
    const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(cells));
    return "[" + std::string(full, '#') + std::string(cells - full, '.') + "]";
}

/// Phrases side by side with two blanks between, on as many lines as needed. Long phrases are clipped.
std::vector<std::string> flow(const Phrases& phrases, std::size_t columns) {
    std::vector<std::string> lines;
    for (const auto& phrase : phrases) {
        if (!lines.empty() && columns_of(lines.back()) + 2 + columns_of(phrase) <= columns)
            lines.back() += "  " + phrase;
        else lines.push_back(clipped(phrase, columns));
    }
    return lines;
}

// Breaks lines; further lines are indented.
void fold(std::vector<TopLine>& lines, std::size_t columns) {
    std::vector<TopLine> folded;
    for (const auto& line : lines) {
        std::string_view left = line.text;
        std::string row;
        while (!left.empty()) {
            const auto word = left.substr(0, left.find(' '));
            if (!row.empty() && columns_of(row) + 1 + columns_of(word) > columns) {
                folded.push_back({std::exchange(row, "   "), line.style});
                row += word;
            } else {
                row += row.empty() ? "" : " ";
                row += word;
            }
            left.remove_prefix(std::min(word.size() + 1, left.size()));
        }
        folded.push_back({row, line.style});
    }
    lines = std::move(folded);
}

// The end of a path is more useful than its beginning.
std::string title_of(const TopView& view, std::size_t columns) {
    const std::string state = name_of(view.state);
    auto run = show_text(view.run);
    const auto room = columns - std::min(columns, state.size() + 2);
    while (columns_of(run) > room && run.size() > 1) run = "~" + run.substr(2);
    return state + "  " + run;
}

Phrases head_of(const TopView& view) {
    Phrases phrases;
    if (view.session != 0) phrases.push_back(fmt::format("session {}", view.session));
    phrases.push_back(
        fmt::format("{} of {} nodes report", view.nodes_told, std::max<std::size_t>(view.nodes, view.nodes_told)));
    if (view.summary.newest_durable_step < 0) phrases.emplace_back("no step of this session is durable yet");
    else
        phrases.push_back(fmt::format(
            "durable: step {} of {}{}", view.summary.newest_durable_step, show_text(view.summary.newest_durable_stream),
            view.summary.newest_durable_unix_ns == 0 ? "" : ", " + when(view, view.summary.newest_durable_unix_ns)));
    for (const auto& snapshot : view.newest) {
        const bool is_shown = snapshot.stream == view.summary.newest_durable_stream
                                  ? snapshot.step <= view.summary.newest_durable_step
                                  : view.summary.newest_durable_step >= 0;
        if (!is_shown)
            phrases.push_back(fmt::format("newest of the run: {}@{}", show_text(snapshot.stream), snapshot.step));
    }
    if (view.job_ends_unix_ns != 0 && !is_over(view.state) && view.state != RunState::silent) {
        const double left = (static_cast<double>(view.job_ends_unix_ns) - static_cast<double>(view.now_unix_ns)) * 1e-9;
        phrases.push_back(left > 0 ? fmt::format("job ends in {}", show_seconds(left)) : "the job's time is over");
    }
    if (view.state == RunState::silent && view.newest_status_unix_ns != 0)
        phrases.push_back(fmt::format("no agent has reported since {}", show_utc(view.newest_status_unix_ns)));
    return phrases;
}

Phrases totals_of(const TopView& view) {
    Phrases phrases;
    if (view.nodes_shown.empty()) return phrases;
    const auto& summary = view.summary;
    if (view.rate_in > 0) phrases.push_back("saved " + show_rate(view.rate_in));
    if (!is_over(view.state)) phrases.push_back("drained " + show_rate(view.rate_out));
    phrases.push_back("backlog " + show_bytes(view.backlog_bytes));
    if (summary.slack_median > 0)
        phrases.push_back(fmt::format("slack {:.1f} x ({:.1f} x worst)", summary.slack_median, summary.slack_worst));
    if (summary.committed > 0)
        phrases.push_back(
            fmt::format("hidden {:.1f} % of {}", summary.hidden_ratio * 100, telemetry::period_text(summary)));
    if (summary.slowdown_steps > 0)
        phrases.push_back(fmt::format("slowdown {:.1f} % ({:.1f} to {:.1f})", view.slowdown_percent,
                                      summary.slowdown_low_percent, summary.slowdown_high_percent));
    else if (view.slowdown_percent != 0) phrases.push_back(fmt::format("slowdown {:.1f} %", view.slowdown_percent));
    if (!view.blocked_seconds.empty()) {
        std::string seconds;
        for (const double blocked : view.blocked_seconds)
            seconds += (seconds.empty() ? "" : ", ") + show_seconds(blocked);
        phrases.push_back("blocked " + seconds);
        phrases.push_back("in all: " + telemetry::short_parts_text(summary));
    }
    if (view.failures > 0) phrases.push_back(fmt::format("{} failures", view.failures));
    return phrases;
}

std::string line_of_slots(const TopSlots& slots, std::size_t columns) {
    const double share =
        slots.bytes == 0 ? 0 : static_cast<double>(slots.drained_bytes) / static_cast<double>(slots.bytes);
    std::string states;
    for (const auto& [state, nodes] : slots.states)
        states += fmt::format("{}{} {}", states.empty() ? "" : ", ", nodes, show_text(state));
    const bool is_narrow = columns < 60;
    const auto step = slots.step < 0 ? std::string("-") : fmt::format("{}", slots.step);
    return fmt::format("{} {} {} {:3.0f} %  {}", padded(show_text(slots.stream), is_narrow ? 8 : 14),
                       padded(step, is_narrow ? 6 : 9, true), bar(share, is_narrow ? 5 : 20), share * 100, states);
}

std::vector<TopLine> streams_of(const TopView& view, std::size_t columns) {
    std::vector<TopLine> lines;
    for (const auto& stream : view.streams) {
        if (stream.slots.empty())
            lines.push_back({fmt::format("{} nothing staged", padded(show_text(stream.name), columns < 60 ? 8 : 14))});
        for (const auto& slots : stream.slots) {
            const bool is_bad =
                std::ranges::any_of(slots.states, [](const auto& state) { return state.first == "failed"; });
            lines.push_back({line_of_slots(slots, columns), is_bad ? TopStyle::bad : TopStyle::plain});
        }
        if (stream.counts.deadlines_missed > 0)
            lines.push_back({fmt::format("{} missed {} deadlines", padded(show_text(stream.name), 14),
                                         stream.counts.deadlines_missed),
                             TopStyle::bad});
    }
    return lines;
}

std::vector<TopLine> slow_of(const TopView& view) {
    std::vector<TopLine> lines;
    const auto add = [&](const char* what, const std::vector<telemetry::Slow>& slow) {
        for (const auto& entry : slow)
            lines.push_back({fmt::format("slow {} {}: {:.2f} of the median, {} drains", what, show_text(entry.name),
                                         entry.ratio, entry.samples),
                             TopStyle::bad});
    };
    add("node", view.summary.slow_nodes);
    add("target", view.summary.slow_targets);
    return lines;
}

std::vector<TopLine> sentences_of(const TopView& view, const TopScreen& screen) {
    std::vector<TopLine> lines;
    const auto add = [&](const char* what, const std::vector<TopSentence>& sentences, TopStyle style) {
        for (const auto& sentence : sentences)
            lines.push_back(
                {fmt::format("{} ({}{}) {}", what, sentence.node.empty() ? "" : show_text(sentence.node) + ", ",
                             when(view, sentence.unix_ns), show_text(sentence.text)),
                 style});
    };
    add("error", view.errors, TopStyle::bad);
    for (const auto& problem : view.summary.problems) lines.push_back({"unread " + show_text(problem), TopStyle::bad});
    add("why", view.why, TopStyle::plain);
    if (screen.rows == 0) fold(lines, screen.columns);
    return lines;
}

std::string line_of_node(const TopNode& node, const TopView& view, std::size_t name_columns) {
    const auto known = [](double value, const std::string& text) { return value > 0 ? text : std::string("-"); };
    return fmt::format(
        "{} {} {} {} {} {} {} {} {}", padded(show_text(node.name), name_columns),
        padded(known(node.ratio, fmt::format("{:.2f}", node.ratio)), 5, true),
        padded(node.state.empty() ? "-" : show_text(node.state), 9),
        padded(node.step < 0 ? "-" : fmt::format("{}", node.step), 8, true),
        padded(
            node.slot_state == "draining" ? fmt::format("{:.0f} %", node.progress * 100) : show_text(node.slot_state),
            9),
        padded(known(node.rate, show_rate(node.rate)), 10, true),
        padded(known(node.drain_rate, show_rate(node.drain_rate)), 10, true),
        padded(show_bytes(node.backlog_bytes), 8, true),
        fmt::format("{:>6}  {}", node.failures, node.unix_ns == 0 ? "-" : when_shortly(view, node.unix_ns)));
}

std::vector<TopLine> nodes_of(const TopView& view, const TopScreen& screen, std::size_t most) {
    auto nodes = view.nodes_shown;
    sort(nodes, screen.order);
    std::size_t name_columns = 4;
    for (const auto& node : nodes) name_columns = std::max(name_columns, columns_of(show_text(node.name)));
    name_columns = std::min<std::size_t>(name_columns, screen.columns < 60 ? 12 : 24);
    const auto first = std::min(screen.first_node, nodes.size() - std::min(nodes.size(), most));
    const auto last = std::min(nodes.size(), first + most);
    std::vector<TopLine> lines{
        {fmt::format("{} {:>5} {:<9} {:>8} {:<9} {:>10} {:>10} {:>8} {:>6}  {}", padded("node", name_columns), "ratio",
                     "state", "step", "slot", "now", "median", "backlog", "errors", "told"),
         TopStyle::head}};
    for (std::size_t i = first; i < last; ++i)
        lines.push_back({line_of_node(nodes[i], view, name_columns),
                         nodes[i].state == "silent" || (nodes[i].ratio > 0 && nodes[i].ratio < 0.5) ? TopStyle::bad
                                                                                                    : TopStyle::plain});
    if (screen.rows == 0 && last - first < nodes.size())
        lines.push_back(
            {fmt::format("and {} more nodes; sorted by {}", nodes.size() - (last - first), name_of(screen.order))});
    return lines;
}

/// Rows for the parts of a screen: first the minimum of each part by importance, then the remaining rows.
std::vector<std::size_t> share_out(std::size_t rows, const std::vector<std::pair<std::size_t, std::size_t>>& wants) {
    std::vector<std::size_t> given(wants.size(), 0);
    for (std::size_t i = 0; i < wants.size(); ++i) {
        given[i] = std::min({wants[i].first, wants[i].second, rows});
        rows -= given[i];
    }
    for (std::size_t i = 0; i < wants.size(); ++i) {
        const auto more = std::min(wants[i].second - given[i], rows);
        given[i] += more;
        rows -= more;
    }
    return given;
}

std::vector<TopLine> styled(const std::vector<std::string>& texts) {
    std::vector<TopLine> lines;
    lines.reserve(texts.size());
    for (const auto& text : texts) lines.push_back({text});
    return lines;
}

}  // namespace

std::size_t columns_of(std::string_view text) {
    std::size_t columns = 0;
    while (!text.empty()) {
        const auto character = first_character(text);
        columns += character.bytes > 1 && is_wide(character.number) ? 2 : 1;
        text.remove_prefix(std::max<std::size_t>(character.bytes, 1));
    }
    return columns;
}

std::string clipped(const std::string& text, std::size_t columns) {
    if (columns_of(text) <= columns) return text;
    std::string out;
    std::size_t used = 0;
    for (std::string_view left = text; !left.empty();) {
        const auto bytes = std::max<std::size_t>(first_character(left).bytes, 1);
        const auto wide = columns_of(left.substr(0, bytes));
        if (used + wide + 1 > columns) break;
        out += left.substr(0, bytes);
        used += wide;
        left.remove_prefix(bytes);
    }
    return columns == 0 ? "" : out + "~";
}

std::vector<TopLine> lines_of(const TopView& view, const TopScreen& screen) {
    const auto columns = screen.columns;
    const auto title = title_of(view, columns);
    const std::vector<TopLine> parts[] = {{{title, TopStyle::title}},
                                          styled(flow(head_of(view), columns)),
                                          styled(flow(totals_of(view), columns)),
                                          streams_of(view, columns),
                                          slow_of(view),
                                          sentences_of(view, screen)};
    const auto nodes = view.nodes_shown.size();
    // Up to half of a screen goes to nodes.
    const auto rows =
        screen.rows == 0 ? SIZE_MAX : screen.rows - std::min<std::size_t>(screen.rows, screen.help ? 1 : 0);
    const auto least = screen.rows == 0 ? nodes_unasked + 1 : std::max<std::size_t>(rows / 2, 3);
    const auto some = [](const auto& part, std::size_t most) { return std::min(part.size(), most); };
    const bool all = screen.rows == 0;
    const auto given = share_out(rows, {{1, 1},
                                        {some(parts[1], 2), parts[1].size()},
                                        {some(parts[3], 2), parts[3].size()},
                                        {nodes == 0 ? 0 : 2, nodes == 0 ? 0 : 2},
                                        {some(parts[4], 1), some(parts[4], all ? 8 : 4)},
                                        {some(parts[5], 1), some(parts[5], all ? 16 : 4)},
                                        {some(parts[2], 1), parts[2].size()},
                                        {nodes == 0 ? 0 : least - 2, nodes == 0 ? 0
                                                                     : all      ? nodes_unasked - 1
                                                                                : nodes - 1}});
    std::vector<TopLine> lines;
    const std::size_t of_part[] = {given[0], given[1], given[6], given[2], given[4], given[5]};
    for (std::size_t i = 0; i < std::size(parts); ++i)
        lines.insert(lines.end(), parts[i].begin(), parts[i].begin() + static_cast<std::ptrdiff_t>(of_part[i]));
    if (given[3] == 2) {
        const auto table = nodes_of(view, screen, given[3] + given[7] - 1);
        lines.insert(lines.end(), table.begin(), table.end());
    }
    for (auto& line : lines) {
        line.text = clipped(line.text, columns);
        line.text.erase(line.text.find_last_not_of(' ') + 1);
    }
    return lines;
}

}  // namespace forebay::cli
