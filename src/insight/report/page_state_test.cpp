// Goal: the state says in words how a run stands, holds all data of the page, stays small for large runs, and carries
// hostile names as text. A look without changes makes no news.
//
// Method: made status lines and chronicles; the looker over a run directory of such files.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "insight/report/heat_map.hpp"
#include "insight/report/page_state.hpp"
#include "insight/report/run_looker.hpp"
#include "support/made_chronicle.hpp"
#include "support/status_told.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::report;

namespace {

constexpr auto second = test::told_second, now = test::told_now;

nlohmann::json state_of(const telemetry::Chronicle& chronicle) {
    return nlohmann::json::parse(page_state({chronicle, telemetry::summarize(chronicle), {}, {}, now}));
}

}  // namespace

TEST_CASE("state: the page says how a run stands, and which nodes are silent before all else") {
    const auto shown = [](std::vector<format::StatusLine> statuses) {
        return state_of({.run = "/r", .statuses = std::move(statuses)});
    };
    CHECK(shown({})["state"] == "unknown");
    CHECK(shown({test::status_told("serving")})["state"] == "running");
    CHECK(shown({test::status_told("ended", false)})["words"] == "Finished. Everything that was saved is committed.");
    CHECK(
        shown({test::status_told("died", false)})["words"].get<std::string>().starts_with("The application has died"));
    const auto silent =
        shown({test::status_told("serving"), test::status_told("serving", true, 8), test::status_told("left")});
    CHECK(silent["state"] == "silent");
    CHECK(silent["words"].get<std::string>().starts_with("1 of 3 agents are silent"));
    CHECK(silent["silent_nodes"][0] == "nid7");
}

TEST_CASE("state: what the page shows of a run") {
    const auto chronicle = test::made_chronicle({.nodes = 8, .targets = 24, .slow_node = 3, .slow_target = 5});
    const auto state = state_of(chronicle);
    CHECK(state["durable"]["step"] == 1000);
    CHECK(state["totals"]["committed"] == 10);
    CHECK(state["saves"].size() == 10);
    CHECK(state["slow_targets"][0]["name"] == "OST0005");
    CHECK(state["heat"]["rows"][0]["name"] == "nid10003");
    CHECK(state["heat"]["columns"].size() == 10);
    // The bins hold exactly the bytes saved and drained.
    const auto& rates = state["rates"];
    const double bin = rates["at"][1].get<double>() - rates["at"][0].get<double>();
    double saved = 0, drained = 0;
    for (std::size_t i = 0; i < rates["at"].size(); ++i) {
        saved += rates["saved"][i].get<double>() * bin;
        drained += rates["drained"][i].get<double>() * bin;
    }
    const double all = state["totals"]["saved_bytes"];
    CHECK(saved == doctest::Approx(all).epsilon(1e-3));
    CHECK(drained == doctest::Approx(all).epsilon(1e-3));
}

TEST_CASE("state: of a large and long run it stays small") {
    const auto chronicle = test::made_chronicle({.nodes = 500, .snapshots = 300, .node_bytes = 32u << 20});
    const auto text = page_state({chronicle, telemetry::summarize(chronicle), {}, {}, now});
    CHECK(text.size() < 400'000);
    CHECK(nlohmann::json::parse(text)["saves"].size() == 200);
    const auto map = heat_map_of(chronicle.batches);
    CHECK(map.columns.size() == heat_columns_max);
    CHECK(map.rows.size() == heat_single_max + heat_groups_max);
    std::uint64_t nodes = 0;
    for (const auto& row : map.rows) nodes += row.nodes;
    CHECK(nodes == 500);
    CHECK(map.columns.back().step == 30'000);
}

TEST_CASE("state: hostile names come through JSON as they are, and what is no UTF-8 is replaced") {
    auto chronicle = test::made_chronicle({.nodes = 1, .snapshots = 2, .stream = "</script>\x1b[2J\n\"\xff"});
    const auto text = page_state({chronicle, telemetry::summarize(chronicle), {}, {}, now});
    CHECK(text.find('\n') == std::string::npos);  // one line, as event data must be
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(nlohmann::json::parse(text)["saves"][0]["stream"].get<std::string>().starts_with("</script>\x1b[2J\n\""));
}

TEST_CASE("looker: news where something has changed, and none else") {
    const test::TempDirectory place;
    const auto run = place.path() + "/run";
    PageFeed feed;
    RunLooker looker(sys::posix_store(), run, place.path(), feed);
    CHECK(looker.look(now));  // a missing run is news, with an error
    CHECK(feed.newest().text->find("could not be read") == std::string::npos);
    CHECK(nlohmann::json::parse(*feed.newest().text)["problems"].size() == 1);
    CHECK(!looker.look(now + second));

    auto chronicle = test::made_chronicle({.nodes = 2, .snapshots = 3});
    test::write_chronicle(chronicle, run);
    CHECK(looker.look(now + 2 * second));
    CHECK(nlohmann::json::parse(*feed.newest().text)["saves"].size() == 3);
    const auto number = feed.newest().number;
    CHECK(!looker.look(now + 3 * second));
    CHECK(feed.newest().number == number);

    chronicle.batches.clear();
    chronicle.statuses = {test::status_told("serving")};
    chronicle.statuses[0].counts.backlog_bytes = 77;
    test::write_chronicle(chronicle, run);
    CHECK(looker.look(now));
    auto state = nlohmann::json::parse(*feed.newest().text);
    CHECK(state["state"] == "running");
    CHECK(state["saves"].size() == 3);
    CHECK(state["now"]["samples"].size() == 1);
    CHECK(looker.newest().statuses.size() == 1);
    // Time alone makes an agent silent. Viewers get this as news.
    CHECK(!looker.look(now + 60 * second));
    CHECK(nlohmann::json::parse(*feed.newest().text)["state"] == "silent");

    // A torn line leaves the line before it in place.
    std::ofstream(run + "/forebay/status-nid7-.json") << "torn";
    CHECK(!looker.look(now));
    CHECK(looker.newest().statuses.size() == 1);
}

TEST_CASE("feed: the newest for who comes late; nobody waits once it is closed") {
    PageFeed feed;
    CHECK(!feed.wait_for(0, std::chrono::milliseconds(1)).text);
    feed.put("a");
    feed.put("b");
    feed.put("b");
    const auto news = feed.wait_for(0, std::chrono::hours(1));
    CHECK(*news.text == "b");
    CHECK(news.number == 2);
    feed.close();
    CHECK(!feed.wait_for(2, std::chrono::hours(1)).text);
}
