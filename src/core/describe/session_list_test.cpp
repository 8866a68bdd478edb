// Goal: each option of a session, its agents and its job is described, checked and compared from one list, and the
// tables of the page equal the list.
// Method: a visitor changes each option alone; values beyond the bounds; the rows of docs/reference/configuration.md,
// without links and marks, and of the list.

#include "core/describe/session_list.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "support/guide_table.hpp"
#include "support/option_changes.hpp"

using namespace forebay;
using describe::check_values, describe::settings_of;

namespace {

std::string refusal(const std::function<void(Options&)>& change) {
    Options options;
    change(options);
    const auto checked = check_values(options);
    return checked ? "" : checked.error().text();
}

std::vector<std::vector<std::string>> rows_of_session() {
    std::vector<std::vector<std::string>> rows;
    const std::pair<const char*, const char*> tables[] = {
        {"## The session", ""}, {"## The agent", "agent."}, {"## The job", "job."}};
    for (const auto& [heading, prefix] : tables)
        for (auto cells : test::rows_of_guide("configuration.md", heading)) {
            cells.at(0) = prefix + cells.at(0);
            rows.push_back(std::move(cells));
        }
    return rows;
}

}  // namespace

TEST_CASE("the guide's tables have a row for each option of a session: its default and its meaning") {
    const auto rows = rows_of_session();
    const auto lines = describe::session_option_lines();
    for (const auto& line : lines) {
        CAPTURE(line.key);
        const auto row = std::ranges::find_if(rows, [&](const auto& cells) { return cells.at(0) == line.key; });
        REQUIRE(row != rows.end());
        REQUIRE(row->size() == 3);
        CHECK(row->at(1) == line.by_default);
        CHECK_FALSE(line.meaning.empty());
        CHECK_MESSAGE(row->at(2).starts_with(line.meaning), row->at(2));
    }
    CHECK(rows.size() == lines.size());
}

TEST_CASE("each member that a file may set has one line: 12 of the session, 2 of the job, 25 of the agent") {
    const auto lines = describe::session_option_lines();
    std::set<std::string> keys;
    for (const auto& line : lines) keys.insert(line.key);
    CHECK(keys.size() == lines.size());
    CHECK(std::ranges::count_if(keys, [](const auto& key) { return key.starts_with("agent."); }) == 25);
    CHECK(std::ranges::count_if(keys, [](const auto& key) { return key.starts_with("job."); }) == 2);
}

TEST_CASE("ranks compare the options that they must have alike, and no others") {
    const Options defaults;
    auto changed = defaults;
    describe::each_option(changed, test::ChangeOption{});
    const auto before = settings_of(defaults), after = settings_of(changed);
    const auto was = test::texts_of(defaults), is = test::texts_of(changed);
    REQUIRE(was.size() == is.size());
    for (std::size_t i = 0; i < is.size(); ++i) {
        CAPTURE(is[i].key);
        CHECK(was[i].value != is[i].value);
        const auto first = std::ranges::find(before, is[i].key, &describe::Setting::name);
        const auto second = std::ranges::find(after, is[i].key, &describe::Setting::name);
        const bool compared = is[i].option.ranks == describe::AcrossRanks::alike;
        CHECK((first != before.end()) == compared);
        CHECK((second != after.end()) == compared);
        if (first != before.end() && second != after.end()) CHECK(first->value != second->value);
    }
    CHECK(std::ranges::find(after, "streams.fields.slots", &describe::Setting::name)->value == "2");
    CHECK(std::ranges::find(before, "agent.direct", &describe::Setting::name)->value == "true");
    CHECK(std::ranges::find(before, "copy_threads", &describe::Setting::name)->value == "auto");
    for (const auto* apart : {"staging", "log", "agent.program", "agent.environment", "agent.cpus",
                              "agent.metrics_directory", "agent.forward_address", "agent.forward_token_file"})
        CHECK(std::ranges::find(after, apart, &describe::Setting::name) == after.end());
}

TEST_CASE("a value that its line excludes is refused by its name") {
    CHECK(refusal([](Options&) {}).empty());
    CHECK(refusal([](Options& o) { describe::each_option(o, test::ChangeOption{}); }).empty());
    const auto refuses = [](const std::function<void(Options&)>& change, const std::string& what) {
        const auto text = refusal(change);
        CHECK_MESSAGE(text.find(what) != std::string::npos, text);
    };
    using std::chrono::milliseconds;
    refuses([](Options& o) { o.virtual_nodes = 0; }, "virtual_nodes is 0: 1 or more.");
    refuses([](Options& o) { o.copy_threads = 257; }, "copy_threads is 257: from 0, which is \"auto\", to 256.");
    refuses([](Options& o) { o.copy_threads = -1; }, "copy_threads is -1");
    refuses([](Options& o) { o.open_wait = milliseconds(-1); }, "open_wait_seconds is -0.001: from 0 to 1000000000.");
    refuses([](Options& o) { o.job.reserve = milliseconds::max(); }, "job.reserve_seconds is ");
    refuses([](Options& o) { o.agent.mode = static_cast<AgentMode>(9); }, "agent.mode is number 9: process, thread");
    refuses([](Options& o) { o.agent.direct = static_cast<Direct>(9); }, "agent.direct is number 9: false, true, auto");
    refuses([](Options& o) { o.agent.cores = 65; }, "agent.cores is 65: from 1 to 64.");
    refuses([](Options& o) { o.agent.in_flight = 0; }, "agent.in_flight is 0: from 1 to 64.");
    refuses([](Options& o) { o.agent.block_bytes = 4097; }, "agent.block_bytes is 4097: a multiple of 4096");
    refuses([](Options& o) { o.agent.block_bytes = 0; }, "agent.block_bytes is 0");
    refuses([](Options& o) { o.agent.slowdown_percent_max = 101; },
            "agent.slowdown_percent_max is 101: from 0 (no limit) to 100.");
    refuses([](Options& o) { o.agent.slowdown_percent_max = std::numeric_limits<double>::quiet_NaN(); },
            "agent.slowdown_percent_max is nan");
    refuses([](Options& o) { o.agent.retries = -1; }, "agent.retries is -1: 0 or more.");
    refuses([](Options& o) { o.agent.retry_pause = milliseconds(3'600'001); },
            "agent.retry_pause_seconds is 3600.001: from 0 to 3600.");
    refuses([](Options& o) { o.agent.linger = std::chrono::hours(169); },
            "agent.linger_seconds is 608400: from 0 to 604800.");
    refuses([](Options& o) { o.agent.neighbours = 65; }, "agent.neighbours is 65: from 0 to 64.");
    refuses([](Options& o) { o.agent.forwarders = 1025; }, "agent.forwarders is 1025: from 0 to 1024.");
    refuses([](Options& o) { o.agent.forward_to.resize(1025); }, "agent.forward_to is a list of 1025: at most 1024.");
    refuses([](Options& o) { o.agent.storage_targets = "@file"; }, "agent.storage_targets");
    refuses([](Options& o) { o.agent.exclude_targets = "x"; }, "agent.exclude_targets");
    CHECK(refusal([](Options& o) { o.agent.exclude_targets = "@file"; }).empty());
    refuses([](Options& o) { o.agent.exclude_nodes = "nid["; }, "agent.exclude_nodes: ");
    CHECK(refusal([](Options& o) { o.agent.exclude_nodes = "@file"; }).empty());
}
