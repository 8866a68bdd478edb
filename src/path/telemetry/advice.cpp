#include "path/telemetry/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "core/base/show_text.hpp"
#include "core/base/units.hpp"
#include "path/telemetry/median.hpp"
#include "path/telemetry/snapshot_rows.hpp"
#include "path/telemetry/why.hpp"

namespace forebay::telemetry {

namespace {

constexpr std::size_t names_to_tell = 8, names_to_paste = 500, name_bytes_max = 64;
constexpr double sync_share_high = 0.5;
constexpr double ranks_share_high = 0.5;        // of the visible time
constexpr double ranks_time_share_high = 0.01;  // of the run; less is not worth a change
constexpr double slowdown_percent_high = 5;     // below this, a limit of the agent costs more than it brings
constexpr double save_less_often_below = 1;     // slack

// Names that somebody will paste into a shell. Names with unusual characters are left out of the line.
bool is_plain(std::string_view name) {
    return !name.empty() && name.size() <= name_bytes_max && name.front() != '-' &&
           std::ranges::all_of(name, [](char letter) {
               return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                      (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-';
           });
}

// Returns "restart", or the name in quotes if TOML needs them; nothing if it cannot be pasted from a terminal.
std::optional<std::string> toml_key(const std::string& name) {
    if (is_plain(name) && name.find('.') == std::string::npos) return name;
    if (name.find_first_of("\"\\\n") != std::string::npos || !is_showable(name)) return {};
    return '"' + name + '"';
}

// Names of hostile runs may be longer than the advice about them.
std::string shown(const std::string& name) {
    auto text = show_text(name);
    if (text.size() <= name_bytes_max) return text;
    text.resize(name_bytes_max);
    while (!is_showable(text)) text.pop_back();  // it ended within a character
    return text + "...";
}

std::string told(const std::vector<Slow>& slow, const char* of) {
    std::string text;
    for (std::size_t i = 0; i < std::min(slow.size(), names_to_tell); ++i)
        text += fmt::format("{}{} at {:.2f} x ({} {})", i == 0 ? "" : ", ", shown(slow[i].name), slow[i].ratio,
                            slow[i].samples, of);
    if (slow.size() > names_to_tell) text += fmt::format(" and {} more", slow.size() - names_to_tell);
    return text;
}

// The extra time of drains because of their slowest node: the sum over snapshots.
double seconds_of_stragglers(const Summary& summary) {
    double seconds = 0;
    for (const auto& row : summary.rows)
        if (row.straggler_ratio > 1) seconds += row.drain_seconds * (1 - 1 / row.straggler_ratio);
    return seconds;
}

std::string exclude_line(const std::vector<Slow>& slow) {
    std::set<std::string> hosts;
    for (const auto& entry : slow) {
        // Slurm excludes whole hosts; "nid1/3" is one of several nodes of a host.
        const auto host = entry.name.substr(0, entry.name.find('/'));
        if (is_plain(host) && hosts.size() < names_to_paste) hosts.insert(host);
    }
    return hosts.empty() ? "" : fmt::format("\n  #SBATCH --exclude={}", fmt::join(hosts, ","));
}

// Returns 20 for "OST0014": Lustre writes indices in names with four hexadecimal digits.
std::optional<unsigned> ost_index(std::string_view name) {
    constexpr std::string_view prefix = "OST", digits = "0123456789abcdef";
    if (!name.starts_with(prefix) || name.size() != prefix.size() + 4) return {};
    unsigned index = 0;
    for (const char letter : name.substr(prefix.size())) {
        const auto digit = digits.find(letter);
        if (digit == std::string_view::npos) return {};
        index = index * 16 + static_cast<unsigned>(digit);
    }
    return index;
}

// "0-13,15-23"
std::string ranges_of(const std::set<unsigned>& numbers) {
    std::string text;
    for (auto at = numbers.begin(); at != numbers.end();) {
        const unsigned first = *at;
        unsigned last = first;
        while (++at != numbers.end() && *at == last + 1) last = *at;
        text += fmt::format("{}{}", text.empty() ? "" : ",", first);
        if (last > first) text += fmt::format("-{}", last);
    }
    return text;
}

std::string shell_word(const std::string& path) {
    if (!is_showable(path)) return "RUN";
    std::string quoted = "'";
    for (const char letter : path) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return std::ranges::all_of(path, [](char c) { return c == '/' || is_plain(std::string_view(&c, 1)) || c == '-'; })
               ? path
               : quoted + "'";
}

std::string stripe_line(const Summary& summary) {
    std::set<unsigned> left;
    for (const auto& row : summary.target_rows) {
        const auto index = ost_index(row.name);
        // `lfs` only knows OSTs.
        if (!index && !row.name.empty()) return "";
        if (index && std::ranges::find(summary.slow_targets, row.name, &Slow::name) == summary.slow_targets.end())
            left.insert(*index);
    }
    if (left.empty()) return "";
    return fmt::format("\n  lfs setstripe -c {} -o {} {}", left.size(), ranges_of(left), shell_word(summary.run));
}

void add_slow(const Summary& summary, std::vector<std::string>& advice) {
    const auto leave_out = [](std::size_t count, const char* of, const std::string& line) {
        return fmt::format(" Exclude {} from {}{}{}", count == 1 ? "it" : "them", of, line.empty() ? "." : ":", line);
    };
    if (const auto count = summary.slow_nodes.size(); count > 0)
        advice.push_back(fmt::format("{} of {} nodes drain{} slowly: {}. Slowest nodes made drains {} longer in all.{}",
                                     count, summary.node_rows.size(), count == 1 ? "s" : "",
                                     told(summary.slow_nodes, "drains"), show_seconds(seconds_of_stragglers(summary)),
                                     leave_out(count, "the next job", exclude_line(summary.slow_nodes))));
    if (const auto count = summary.slow_targets.size(); count > 0)
        advice.push_back(fmt::format("{} of {} storage targets {} slow: {}.{}", count, summary.target_rows.size(),
                                     count == 1 ? "is" : "are", told(summary.slow_targets, "samples"),
                                     leave_out(count, "new files", stripe_line(summary))));
}

// The history of one stream.
struct StreamLineage {
    std::uint64_t saves = 0, waits = 0;
    double waited_seconds = 0;
    std::vector<double> intervals, drains, sync_shares;
};

bool cannot_follow(const StreamLineage& lineage) {
    const double drain = median_of(lineage.drains);
    return drain > 0 && !lineage.intervals.empty() && median_of(lineage.intervals) / drain < save_less_often_below;
}

// Returns a text if our own limit makes the drains slow.
std::string held_back(const StreamNeeds& needs) {
    if (needs.limited_drains * 2 <= needs.drains) return "";
    return fmt::format(" at the limit of {}/s that you have set (rate_bytes_per_second, or slowdown_percent_max)",
                       show_bytes(needs.limit_bytes_per_second));
}

void add_slots(const std::string& stream, const StreamLineage& lineage, const StreamNeeds& needs,
               std::vector<std::string>& advice) {
    if (lineage.waits == 0) return;
    auto text = fmt::format("{} of {} saves of stream {} waited {} in all for a slot that was still draining",
                            lineage.waits, lineage.saves, shown(stream), show_seconds(lineage.waited_seconds));
    if (cannot_follow(lineage)) {
        text += ": drains take longer than the time between saves, and more slots would not change that.";
    } else if (needs.slots == 1) {
        text += fmt::format(". A second slot needs {} more memory on each node:", show_bytes(needs.node_bytes_most));
        if (const auto key = toml_key(stream)) text += fmt::format("\n  [streams.{}]\n  slots = 2", *key);
        else text += "\n  slots = 2";
    } else {
        text += fmt::format(", with {} slots. Drain faster, or save less often.", needs.slots);
    }
    advice.push_back(text);
}

void add_slack(const std::string& stream, const StreamLineage& lineage, const StreamNeeds& needs,
               std::vector<std::string>& advice) {
    const double interval = median_of(lineage.intervals), drain = median_of(lineage.drains);
    if (drain <= 0 || lineage.intervals.empty() || interval / drain >= save_less_often_below) return;
    const double every = std::clamp(std::ceil(drain / std::max(interval, drain / 1000)), 2.0, 1000.0);
    advice.push_back(fmt::format(
        "Drains of stream {} take {}, and saves begin {} apart without their waits (slack {:.2f}): storage is too "
        "slow{}. Save less often: every {:.0f}{} of these saves.",
        shown(stream), show_seconds(drain), show_seconds(interval), interval / drain, held_back(needs), every,
        every == 2   ? "nd"
        : every == 3 ? "rd"
                     : "th"));
}

// Fewer files only help a stream of several nodes with a file for each.
void add_sync(const std::string& stream, const StreamLineage& lineage, const StreamNeeds& needs,
              std::vector<std::string>& advice) {
    if (needs.nodes < 2 || (needs.file != "own" && !needs.file.empty())) return;
    const double share = median_of(lineage.sync_shares);
    if (share <= sync_share_high) return;
    auto text = fmt::format(
        "{:.0f} % of the time of drains of stream {} is sync: storage accepts bytes fast and makes them durable "
        "slowly. Fewer, larger files may help:",
        share * 100, shown(stream));
    if (const auto key = toml_key(stream)) text += fmt::format("\n  [streams.{}]", *key);
    advice.push_back(text + "\n  file = \"combined:16\"");
}

// Forebay cannot make a save end before the last rank comes.
void add_late_ranks(const Summary& summary, std::vector<std::string>& advice) {
    const double waited = summary.parts.ranks.sum, visible = summary.blocked.sum;
    if (waited <= 0 || waited < ranks_share_high * visible || waited < ranks_time_share_high * summary.time_seconds)
        return;
    advice.push_back(
        fmt::format("{:.0f} % of the visible time, {}, is ranks that wait for slower ranks. No option of Forebay "
                    "changes that. Balance their work, and give each rank its own core.",
                    waited / visible * 100, show_seconds(waited)));
}

void add_slowdown(const Summary& summary, std::vector<std::string>& advice) {
    // If the interval contains 0, the slowdown may be noise.
    if (summary.slowdown_steps == 0 || summary.slowdown_percent < slowdown_percent_high ||
        summary.slowdown_low_percent <= 0)
        return;
    advice.push_back(
        fmt::format("Computing is {:.1f} % slower during drains (90 % confidence: {:.1f} to {:.1f} %, {} steps). Slow "
                    "the agent down:\n  [agent]\n  slowdown_percent_max = {:.0f}",
                    summary.slowdown_percent, summary.slowdown_low_percent, summary.slowdown_high_percent,
                    summary.slowdown_steps, slowdown_percent_high));
}

}  // namespace

Needs needs_of(const Chronicle& chronicle) {
    Needs needs;
    for (const auto& batch : chronicle.batches) {
        auto& stream = needs[batch.stream];
        stream.slots = std::max(stream.slots, batch.slots);
        stream.nodes = std::max(stream.nodes, batch.nodes);
        stream.file = batch.file;
        stream.node_bytes_most = std::max(stream.node_bytes_most, batch.bytes);
        if (batch.drain_seconds <= 0) continue;
        ++stream.drains;
        if (!is_limited(batch)) continue;
        ++stream.limited_drains;
        stream.limit_bytes_per_second = batch.rate_limit_bytes_per_second;
    }
    return needs;
}

std::vector<std::string> advice_for(const Summary& summary, const Needs& needs) {
    std::vector<std::string> advice;
    add_slow(summary, advice);
    std::map<std::string, StreamLineage> streams;
    for (const auto& row : summary.rows) {
        auto& lineage = streams[row.stream];
        ++lineage.saves;
        if (row.wait_seconds >= wait_seconds_min) {
            ++lineage.waits;
            lineage.waited_seconds += row.wait_seconds;
        }
        if (row.drain_seconds <= 0) continue;
        // The slack leaves out the wait of the save before (add_intervals), and so does this interval.
        if (row.interval_seconds > 0) lineage.intervals.push_back(row.slack * row.drain_seconds);
        lineage.drains.push_back(row.drain_seconds);
        lineage.sync_shares.push_back(std::min(1.0, row.sync_seconds / row.drain_seconds));
    }
    for (const auto& [stream, lineage] : streams) {
        const auto known = needs.find(stream);
        if (known != needs.end()) {
            add_slots(stream, lineage, known->second, advice);
            add_slack(stream, lineage, known->second, advice);
            add_sync(stream, lineage, known->second, advice);
        }
    }
    add_late_ranks(summary, advice);
    add_slowdown(summary, advice);
    if (summary.retries > 0)
        advice.push_back(
            fmt::format("{} operations of storage failed and were tried again. See forebay/events-*.jsonl in the run.",
                        summary.retries));
    return advice;
}

}  // namespace forebay::telemetry
