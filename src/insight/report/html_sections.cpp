#include "insight/report/html_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/base/show_text.hpp"
#include "core/base/units.hpp"
#include "insight/report/html_text.hpp"
#include "path/telemetry/words.hpp"

namespace forebay::report {

namespace {

constexpr std::size_t advice_told = 16, slow_told = 16, problems_told = 10, problem_characters = 300;

std::string text(std::string_view name, std::size_t characters = 48) {
    return html_escaped(name_in_page(name, characters));
}

std::string tile(const std::string& value, const std::string& words) {
    return fmt::format("<li><b>{}</b><span>{}</span></li>\n", html_escaped(value), html_escaped(words));
}

std::string spread_row(const char* what, const telemetry::Spread& spread, const std::string& bytes, const char* note) {
    if (spread.count == 0)
        return fmt::format(
            "<tr><td>{}</td><td>0</td><td></td><td></td><td></td><td></td>"
            "<td class=\"text\">{}</td></tr>\n",
            what, note);
    return fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"text\">{}</td></tr>\n", what,
        spread.count, bytes, show_seconds(spread.median), show_seconds(spread.p95), show_seconds(spread.max), note);
}

std::string unkept_row(const telemetry::Summary& summary) {
    if (summary.unkept_saves == 0) return "";
    return fmt::format(
        "<tr><td>not kept</td><td>{}</td><td></td><td></td><td></td><td></td>"
        "<td class=\"text\">skipped, replaced or refused, {} in all</td></tr>\n",
        summary.unkept_saves, telemetry::show_span(summary.unkept_seconds));
}

std::string slow_list(const char* what, const std::vector<telemetry::Slow>& slow, std::size_t seen,
                      const char* samples) {
    if (seen == 0)
        return fmt::format("<p>The names of storage {} are unknown: the file system does not report them.</p>\n", what);
    if (slow.empty())
        return fmt::format("<p><span class=\"good\">No slow {}</span>: all {} are above 0.8 of the median.</p>\n", what,
                           seen);
    auto list =
        fmt::format("<p><span class=\"bad\">{} of {} {} slow</span>, by their rate against the median:</p>\n<ul>\n",
                    slow.size(), seen, what);
    for (std::size_t i = 0; i < std::min(slow.size(), slow_told); ++i)
        list += fmt::format("<li><b>{}</b> at {:.3g} of the median, in {} {}</li>\n", text(slow[i].name), slow[i].ratio,
                            slow[i].samples, samples);
    if (slow.size() > slow_told) list += fmt::format("<li>and {} more</li>\n", slow.size() - slow_told);
    return list + "</ul>\n";
}

}  // namespace

std::string html_head_words(const telemetry::Summary& summary) {
    return fmt::format("<p class=\"faint\">{}, {}; {}; {} from {} to {}</p>\n", telemetry::nodes_text(summary),
                       telemetry::ranks_text(summary), telemetry::period_text(summary),
                       telemetry::show_span(summary.time_seconds), show_utc(summary.begin_unix_ns),
                       show_utc(summary.end_unix_ns));
}

std::string html_cost(const telemetry::Summary& summary) {
    std::string tiles =
        tile(telemetry::show_span(summary.blocked.sum),
             fmt::format("visible: saves held the ranks, {:.2g} % of the run", summary.visible_ratio * 100)) +
        tile(show_seconds(summary.blocked.median),
             fmt::format("a save, median of {}; longest {}", summary.blocked.count, show_seconds(summary.blocked.max)));
    if (summary.drained.count > 0)
        tiles += tile(fmt::format("{:.1f} %", summary.hidden_ratio * 100),
                      "hidden: drained beside the computing, " + telemetry::period_text(summary));
    if (summary.slack_median > 0)
        tiles += tile(fmt::format("{:.1f} x", summary.slack_median),
                      fmt::format("slack: time between saves / drain; worst {:.1f} x", summary.slack_worst));
    if (summary.rate_median > 0)
        tiles += tile(show_rate(summary.rate_median),
                      fmt::format("to storage, median of drains; fastest {}", show_rate(summary.rate_peak)));
    if (summary.jitter > 0) tiles += tile(fmt::format("{:.2f}", summary.jitter), "jitter: p95 / median of saves");
    if (summary.slowdown_steps > 0)
        tiles += tile(fmt::format("{:+.1f} %", summary.slowdown_percent),
                      fmt::format("computing beside drains; 90 % confidence: {:+.1f} to {:+.1f} %, {} steps",
                                  summary.slowdown_low_percent, summary.slowdown_high_percent, summary.slowdown_steps));
    const auto table =
        std::string(
            "<div class=\"scroll\"><table>\n<thead><tr><th>what</th><th>count</th><th>bytes</th><th>median</th>"
            "<th>p95</th><th>longest</th><th></th></tr></thead>\n<tbody>\n") +
        spread_row("saved", summary.blocked, show_bytes(summary.bytes_saved), "on the rank with the longest wait") +
        spread_row("copy", summary.parts.copy, "", "part: copying and checksumming") +
        spread_row("layout", summary.parts.layout, "", "part: layout and seal") +
        spread_row("ranks", summary.parts.ranks, "", "part: waiting for other ranks") +
        spread_row("slot", summary.parts.slot, "", "part: waiting for a slot") +
        spread_row("waited", summary.waited, "", "saves that waited for a slot with an active drain") +
        unkept_row(summary) +
        spread_row("drained", summary.drained, show_bytes(summary.bytes_drained), "the slowest node of each snapshot") +
        spread_row("durable", summary.durable, "", "from the save to the commit") + "</tbody></table></div>\n";
    return "<ul class=\"tiles\">\n" + tiles + "</ul>\n" + table;
}

std::string html_safety(const telemetry::Summary& summary) {
    std::string tiles;
    if (summary.newest_durable_step >= 0)
        tiles += tile(fmt::format("step {}", summary.newest_durable_step),
                      fmt::format("newest durable, stream {}{}", name_in_page(summary.newest_durable_stream),
                                  summary.newest_durable_unix_ns > 0 ? ", " + show_utc(summary.newest_durable_unix_ns)
                                                                     : std::string()));
    else tiles += tile("none", "no snapshot is known to be durable");
    tiles += tile(fmt::format("{} of {}", summary.committed, summary.snapshots), "snapshots committed");
    tiles += tile(fmt::format("{}", summary.failed), "drains or commits failed");
    tiles += tile(fmt::format("{}", summary.superseded), "superseded by a newer snapshot, as the policy allows");
    tiles += tile(fmt::format("{}", summary.retries), "operations of storage tried again");
    return "<ul class=\"tiles\">\n" + tiles + "</ul>\n";
}

std::string html_slow(const telemetry::Summary& summary) {
    const auto named = std::ranges::count_if(summary.target_rows, [](const auto& row) { return !row.name.empty(); });
    return slow_list("nodes", summary.slow_nodes, summary.node_rows.size(), "drains") +
           slow_list("targets", summary.slow_targets, static_cast<std::size_t>(named), "samples");
}

std::string html_advice(const telemetry::Summary& summary) {
    if (summary.advice.empty()) return "<p>Nothing: no rule found an improvement.</p>\n";
    std::string list = "<ul class=\"advice\">\n";
    for (const auto& piece : std::span(summary.advice).first(std::min(advice_told, summary.advice.size()))) {
        // Further lines with two blanks first are commands or options: they keep their lines.
        const auto end = piece.find("\n  ");
        list += "<li>" + html_escaped(show_text(std::string_view(piece).substr(0, end)));
        std::string lines;
        auto rest = end == std::string::npos ? std::string_view() : std::string_view(piece).substr(end);
        while (rest.starts_with("\n  ")) {
            rest.remove_prefix(3);
            const auto length = std::min(rest.find('\n'), rest.size());
            lines += (lines.empty() ? "" : "\n") + html_escaped(show_text(rest.substr(0, length)));
            rest.remove_prefix(length);
        }
        if (!lines.empty()) list += "<pre>" + lines + "</pre>";
        list += "</li>\n";
    }
    if (summary.advice.size() > advice_told)
        list += fmt::format("<li>and {} more, in the output of forebay report RUN</li>\n",
                            summary.advice.size() - advice_told);
    return list + "</ul>\n";
}

std::string html_problems(const telemetry::Summary& summary) {
    if (summary.problems.empty() && summary.dropped == 0 && summary.missing_records == 0) return "";
    std::string list = "<h2>Missing data</h2>\n<ul>\n";
    for (std::size_t i = 0; i < std::min(summary.problems.size(), problems_told); ++i)
        list += "<li>" + text(summary.problems[i], problem_characters) + "</li>\n";
    if (summary.problems.size() > problems_told)
        list += fmt::format("<li>and {} more</li>\n", summary.problems.size() - problems_told);
    if (summary.dropped > 0)
        list += fmt::format("<li>{} timings were lost: pictures over time lack them.</li>\n", summary.dropped);
    if (summary.missing_records > 0)
        list += fmt::format("<li>Missing: {} of saves. Their times come from the remaining ranks.</li>\n",
                            show_count(summary.missing_records, "record"));
    return list + "</ul>\n";
}

}  // namespace forebay::report
