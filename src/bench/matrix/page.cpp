// The page of a benchmark: for each measure a chart with a bar for each row, its interval as a line across the bar's
// end, and published figures as marks; then the table. No scripts: pictures are part of the text.

#include <fmt/format.h>

#include <algorithm>

#include "bench/matrix/outcome.hpp"
#include "insight/report/assets.hpp"
#include "insight/report/html_page.hpp"
#include "insight/report/html_text.hpp"

namespace forebay::bench {

using report::html_escaped;
using report::name_in_page;

namespace {

// Pixels.
constexpr double bar_from = 260, bar_width = 420, bar_height = 18, row_height = 26;

std::string escaped(const std::string& text, std::size_t characters_max = 200) {
    return html_escaped(name_in_page(text, characters_max));
}

struct Bar {
    std::string name;
    MeasureLine line;
};

std::string chart_of(const std::string& measure, const std::vector<Bar>& bars) {
    double largest = 0;
    for (const auto& bar : bars) largest = std::max({largest, bar.line.interval.high, bar.line.median});
    if (largest <= 0) return "";
    const auto place = [&](double value) { return bar_from + bar_width * std::min(1.0, value / largest); };
    const auto height = row_height * static_cast<double>(bars.size()) + 8;
    std::string text = fmt::format(
        "<figure><svg viewBox=\"0 0 860 {:.0f}\" width=\"860\" height=\"{:.0f}\" role=\"img\" aria-label=\"{}\">\n",
        height, height, escaped(measure));
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const auto& line = bars[i].line;
        const auto top = row_height * static_cast<double>(i) + 4, middle = top + bar_height / 2;
        text += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>", bar_from - 8, middle + 4,
                            escaped(bars[i].name, 36));
        text += fmt::format("<rect class=\"drain\" x=\"{:.0f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\"/>",
                            bar_from, top, place(line.median) - bar_from, bar_height);
        text += fmt::format("<path class=\"mark\" d=\"M{:.1f} {:.1f}H{:.1f}\" stroke-width=\"3\"/>",
                            place(line.interval.low), middle, place(line.interval.high));
        text += fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\">{}{}</text>\n", bar_from + bar_width + 8, middle + 4,
                            html_escaped(shown_value(measure, line.median)),
                            line.ratio > 0 && bars.size() > 1 ? fmt::format(" ({:.2f}x)", line.ratio) : "");
    }
    return text + "</svg><figcaption>Medians; the line is the 95 % interval of the median.</figcaption></figure>\n";
}

std::string charts_of(const RowOutcome& outcome) {
    std::vector<std::pair<std::string, std::vector<Bar>>> charts;
    for (const auto& row : outcome.rows)
        for (auto& line : lines_of(outcome, row)) {
            if (!is_headline(outcome, line.measure)) continue;
            auto chart = std::ranges::find(charts, line.measure, &std::pair<std::string, std::vector<Bar>>::first);
            if (chart == charts.end()) chart = charts.insert(charts.end(), {line.measure, {}});
            chart->second.push_back({name_of_row(outcome, row), std::move(line)});
        }
    std::string text;
    for (const auto& [measure, bars] : charts)
        text += fmt::format("<h2>{}</h2>\n{}", escaped(measure), chart_of(measure, bars));
    return text;
}

std::string table_rows(const RowOutcome& outcome) {
    std::string text;
    for (const auto& row : outcome.rows)
        for (const auto& line : lines_of(outcome, row)) {
            text += fmt::format("<tr><td>{}</td><td class=\"text\">{}</td>", escaped(name_of_row(outcome, row)),
                                escaped(line.measure));
            for (const auto value : {line.median, line.min, line.p95, line.max, line.interval.low, line.interval.high})
                text += fmt::format("<td>{}</td>", html_escaped(shown_value(line.measure, value)));
            text += fmt::format("<td>{:.3f}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", line.ratio,
                                line.samples.size(), html_escaped(shown_published(line)),
                                line.published_ratio > 0 ? fmt::format("{:.3f}", line.published_ratio) : "");
        }
    return text;
}

std::string remarks_of(const RowOutcome& outcome) {
    std::string text;
    for (const auto& row : outcome.rows) {
        const auto name = escaped(name_of_row(outcome, row));
        if (!row.skipped.empty()) text += fmt::format("<li>{}: skipped: {}</li>\n", name, escaped(row.skipped));
        for (const auto& remark : row.remarks) text += fmt::format("<li>{}: {}</li>\n", name, escaped(remark));
    }
    return text.empty() ? text : "<h2>Remarks</h2>\n<ul class=\"advice\">\n" + text + "</ul>\n";
}

}  // namespace

std::string page_of(const RowOutcome& outcome) {
    const auto title = outcome.of.title.empty() ? std::string("forebay bench run") : outcome.of.title;
    std::string page(report::html_mark);
    page += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n";
    page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    page += fmt::format("<title>{}</title>\n<style>\n{}\n</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n",
                        escaped(title), report::asset("report.css"), escaped(title));
    if (!outcome.of.source.empty())
        page += fmt::format("<p class=\"faint\">Published: {}; here at a scale of {:g}.</p>\n",
                            escaped(outcome.of.source, 400), outcome.scale);
    page += charts_of(outcome);
    page +=
        "<h2>All numbers</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>row</th><th>measure</th><th>median</th>"
        "<th>min</th><th>p95</th><th>max</th><th>95 % low</th><th>high</th><th>to 1st</th><th>runs</th>"
        "<th>published</th><th>ratio there</th></tr></thead>\n<tbody>\n";
    page += table_rows(outcome) + "</tbody>\n</table></div>\n";
    page += fmt::format("<p class=\"faint\">{}.</p>\n", html_escaped(timed_and_fixed(outcome)));
    page += "<p class=\"faint\">To 1st: the median over that of the first row that has the measure.</p>\n";
    page += remarks_of(outcome);
    page += "<h2>Environment</h2>\n<div class=\"scroll\"><table><tbody>\n";
    for (const auto& [key, value] : outcome.environment)
        page += fmt::format("<tr><th>{}</th><td class=\"text\">{}</td></tr>\n", escaped(key), escaped(value, 400));
    return page +
           fmt::format("</tbody></table></div>\n<p class=\"faint\">{}</p>\n</main>\n</body>\n</html>\n", page_mark);
}

}  // namespace forebay::bench
