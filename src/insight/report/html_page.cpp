#include "insight/report/html_page.hpp"

#include <fmt/format.h>

#include <array>

#include "insight/report/assets.hpp"
#include "insight/report/html_data.hpp"
#include "insight/report/html_sections.hpp"
#include "insight/report/html_text.hpp"

namespace forebay::report {

namespace {

constexpr std::size_t path_characters = 200;

// A page with full lists takes about 140 kB with the default detail. If names have many bytes a character, or advice
// has many lines, the page takes the next detail.
constexpr std::array details{
    HtmlDetail{},
    HtmlDetail{.heat_rows = 128, .targets = 128, .snapshots = 300, .runs = 50, .sentences = 20},
    HtmlDetail{
        .rate_bins = 300, .heat_rows = 64, .targets = 64, .nodes = 32, .snapshots = 100, .runs = 20, .sentences = 8},
    HtmlDetail{
        .rate_bins = 200, .heat_rows = 16, .targets = 16, .nodes = 16, .snapshots = 50, .runs = 10, .sentences = 2},
};

std::string script(const std::string& nonce, std::string_view contents) {
    return fmt::format("<script nonce=\"{}\">\n{}\n</script>\n", nonce, contents);
}

std::string head(const telemetry::Summary& summary, const std::string& nonce) {
    auto head = std::string(html_mark);
    head += fmt::format(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'nonce-{}'; style-src "
        "'nonce-{}'; base-uri 'none'; form-action 'none'\">\n",
        nonce, nonce);
    head += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    head += "<meta name=\"referrer\" content=\"no-referrer\">\n";
    head += fmt::format("<title>forebay report: {}</title>\n",
                        html_escaped(name_in_page(summary.run.substr(summary.run.rfind('/') + 1))));
    for (const auto style : {uplot_css(), asset("report.css")})
        if (!style.empty()) head += fmt::format("<style nonce=\"{}\">\n{}\n</style>\n", nonce, style);
    return head + "</head>\n";
}

// Scripts fill these sections. A section without data stays hidden.
std::string pictures(bool several) {
    std::string places;
    const auto place = [&](const char* id, const char* title) {
        places += fmt::format("<section id=\"{}\" hidden>\n<h2>{}</h2>\n</section>\n", id, title);
    };
    if (several) place("scaling", "Scaling over runs");
    place("rate", "Rate over time");
    place("snapshots", "Saves and drains");
    place("nodes", "Nodes");
    place("targets", "Storage targets");
    place("heat", "Who wrote when");
    return places + "<noscript><p>Pictures and long tables need scripts. The page contains them.</p></noscript>\n";
}

std::string body(std::span<const HtmlRun> runs, const HtmlDetail& detail, const std::string& nonce) {
    const auto& summary = runs.front().summary;
    std::string body = "<body>\n<main>\n<h1>" + html_escaped(name_in_page(summary.run, path_characters)) + "</h1>\n";
    body += html_head_words(summary);
    if (runs.size() > 1)
        body += fmt::format("<p>The first of {} runs, with the scaling over all of them.</p>\n", runs.size());
    body += "<h2>What did it cost?</h2>\n" + html_cost(summary);
    body += "<h2>Are my data safe?</h2>\n" + html_safety(summary);
    body += "<h2>What was slow?</h2>\n" + html_slow(summary) + "<div id=\"why\"></div>\n";
    body += "<h2>What to do</h2>\n" + html_advice(summary);
    body += pictures(runs.size() > 1) + html_problems(summary);
    if (uplot_js().empty())
        body +=
            "<p>This program was built without uPlot, so charts of time series are missing. Their tables are "
            "here.</p>\n";
    body +=
        "<p class=\"faint\">Made by forebay report. Times are UTC; k, M, G are powers of 1000. docs/formats/summary.md "
        "explains each number.</p>\n</main>\n";
    body += "<script type=\"application/json\" id=\"data\">" + html_data(runs, detail) + "</script>\n";
    if (!uplot_js().empty()) {
        body += script(nonce, fmt::format("/*\n{}*/\n{}", uplot_license(), uplot_js()));
        body += script(nonce, asset("report_series.js"));
    }
    body += script(nonce, asset("report_tools.js")) + script(nonce, asset("report_pictures.js"));
    return body + script(nonce, asset("report.js")) + "</body>\n</html>\n";
}

}  // namespace

std::string html_page(std::span<const HtmlRun> runs, const std::string& nonce) {
    std::string page;
    // The first detail that fits wins; the last detail always serves.
    for (const auto& detail : details) {
        page = head(runs.front().summary, nonce) + body(runs, detail, nonce);
        if (page.size() <= html_bytes_max) break;
    }
    return page;
}

}  // namespace forebay::report
