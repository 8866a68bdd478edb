// Goal: a report page has a bounded size, needs no network, and shows foreign names only as text. Method: pages of made
// runs, one as large as runs get, searched for forbidden bytes.

#include "insight/report/html_page.hpp"

#include <doctest/doctest.h>

#include "insight/report/assets.hpp"
#include "insight/report/html_text.hpp"
#include "support/made_chronicle.hpp"

using namespace forebay;
using report::html_page;

namespace {

const std::string nonce = "0123456789abcdef0123456789abcdef";

std::string page_of(const telemetry::Chronicle& chronicle) {
    const auto summary = telemetry::summarize(chronicle);
    const report::HtmlRun run{chronicle, summary};
    return html_page({&run, 1}, nonce);
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
    return count;
}

// 8,100 nodes in 8 snapshots, 10 of them in 492 more; 300 targets; long names and reasons.
telemetry::Chronicle large() {
    auto chronicle = test::made_chronicle({.nodes = 8100,
                                           .snapshots = 8,
                                           .node_bytes = 8u << 20,
                                           .write_bytes = 1u << 20,
                                           .targets = 8,
                                           .slow_node = 17});
    auto few = test::made_chronicle({.nodes = 10,
                                     .snapshots = 500,
                                     .node_bytes = 300u << 20,
                                     .write_bytes = 1u << 20,
                                     .targets = 300,
                                     .noise = 0.3});
    for (auto& batch : few.batches) {
        batch.nodes = 8100;
        if (batch.step <= 800) continue;
        batch.why = {std::string(400, 'w')};
        if (batch.step != 50'000) batch.timings.clear();
        chronicle.batches.push_back(std::move(batch));
    }
    for (std::size_t i = 0; i < chronicle.batches.size(); ++i)
        if (chronicle.batches[i].node % 80 == 0) chronicle.batches[i].drain_seconds *= 5;
    return chronicle;
}

}  // namespace

TEST_CASE("a page of the largest runs has at most 150 kB") {
    const auto page = page_of(large());
    MESSAGE("bytes: ", page.size());
    CHECK(page.size() <= report::html_bytes_max);
    CHECK(page.size() > 60'000);
    CHECK(page.find("\"all\":8100") != std::string::npos);
    CHECK(page.find("\"all\":500") != std::string::npos);
}

TEST_CASE("names of many bytes make a page with less detail, no larger one") {
    auto chronicle = test::made_chronicle({.nodes = 70, .snapshots = 520, .targets = 300, .slow_target = 3});
    for (auto& batch : chronicle.batches) {
        batch.host = "\xff\xfe\xfd" + std::string(200, '\x01') + batch.host;
        batch.stream = std::string(100, '<') + std::to_string(batch.step);
        batch.timings.clear();
        for (auto& target : batch.targets) target.name = std::string(90, '&') + target.name;
    }
    const auto page = page_of(chronicle);
    CHECK(page.size() <= report::html_bytes_max);
}

TEST_CASE("a page asks for nothing from outside and runs no script but its own") {
    const auto page = page_of(test::made_chronicle({.targets = 3}));
    CHECK(page.starts_with(report::html_mark));
    CHECK(page.find("default-src 'none'; script-src 'nonce-" + nonce + "'") != std::string::npos);
    for (const auto* part :
         {" src=", " href=", "url(", "@import", "onclick", "onload", "javascript:", "http-equiv=\"refresh"})
        CHECK_MESSAGE(page.find(part) == std::string::npos, part);
    CHECK(count_of(page, "<script") == count_of(page, "<script nonce=\"" + nonce + "\">") + 1);  // one more: the data
    CHECK(count_of(page, "<style") == count_of(page, "<style nonce=\"" + nonce + "\">"));
    const bool has_uplot = !report::uplot_js().empty();
    CHECK((page.find("built without uPlot") == std::string::npos) == has_uplot);
    CHECK((page.find("Permission is hereby granted") != std::string::npos) == has_uplot);
}

TEST_CASE("names that hold markup are text") {
    const std::string hostile = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b[2J\n";
    auto chronicle = test::made_chronicle({.targets = 5, .slow_node = 2, .slow_target = 1, .slow_target_ratio = 0.1});
    chronicle.run = "/runs/" + hostile;
    chronicle.problems = {"read nothing of " + hostile};
    for (auto& batch : chronicle.batches) {
        batch.stream = hostile;
        batch.host += hostile;
        batch.why = {hostile};
        batch.wait_seconds = 2;
        for (auto& target : batch.targets) target.name += hostile;
    }
    const auto page = page_of(chronicle);
    CHECK(page.find("<script>") == std::string::npos);
    CHECK(page.find("<img") == std::string::npos);
    CHECK(page.find('\x1b') == std::string::npos);
    const auto clean = page_of(test::made_chronicle({.targets = 5}));
    CHECK(count_of(page, "</script>") == count_of(clean, "</script>"));
    CHECK(page.find("\\u003c/script>") != std::string::npos);
    CHECK(page.find("&lt;/script&gt;") != std::string::npos);
}

TEST_CASE("texts of others in pages") {
    CHECK(report::html_escaped("<a href=\"x\">'&'</a>") == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
    CHECK(report::json_in_page("{\"a\":\"<!--<script>\"}") == "{\"a\":\"\\u003c!--\\u003cscript>\"}");
    CHECK(report::name_in_page("\x1b[2J") == "\\x1b[2J");
    CHECK(report::name_in_page("nähen", 3) == "näh...");
    CHECK(report::name_in_page("abc", 3) == "abc");
}

TEST_CASE("a run of which nothing is told but a status has a page") {
    telemetry::Chronicle chronicle{.run = "/runs/young"};
    chronicle.statuses = {
        {.unix_ns = 5, .host = "n0", .streams = {{.name = "s", .counts = {.newest_durable_step = 7}}}}};
    const auto page = page_of(chronicle);
    CHECK(page.find("step 7") != std::string::npos);
}
