// Goal: the run gets one line per snapshot, as in docs/formats/events.md, and the file stays below its limit. A target
// that takes no line costs no drain, and is reported once. Watchers find every event on the page. Method: events by
// hand, the simulated disk as target; then an agent over it.

#include "path/agent/event_sinks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/bytes.hpp"
#include "path/catalog/run.hpp"
#include "path/node/event_ring.hpp"
#include "support/agent_node.hpp"
#include "support/sim_store.hpp"

using namespace forebay;
using agent::Event;
using agent::What;
using test::SimStore;

namespace {

const agent::NodeFileOfRun file{.run = "/run", .host = "nid1", .virtual_node = "2"};
const std::string path = "/run/forebay/events-nid1-2.jsonl", old_path = "/run/forebay/events-nid1-2.old.jsonl";
const Event committed{.what = What::committed, .stream = "restart", .step = 7, .bytes = 5, .seconds = 0.5};

std::size_t lines_in(const std::optional<std::string>& text) {
    return text ? static_cast<std::size_t>(std::ranges::count(*text, '\n')) : 0;
}

}  // namespace

TEST_CASE("a line of the run") {
    CHECK(agent::record_of(committed, "nid1", 12) ==
          "{\"forebay\":\"event\",\"version\":1,\"unix_ns\":12,\"event\":\"committed\",\"host\":\"nid1\",\"stream\":"
          "\"restart\",\"step\":7,\"bytes\":5,\"seconds\":0.5}\n");
    const Event failed{.what = What::failed, .stream = "restart", .step = 7, .detail = "a \"b\"\n  c \xe9"};
    CHECK(agent::record_of(failed, "nid1", 12) ==
          "{\"forebay\":\"event\",\"version\":1,\"unix_ns\":12,\"event\":\"failed\",\"host\":\"nid1\",\"stream\":"
          "\"restart\",\"step\":7,\"bytes\":0,\"seconds\":0.0,\"text\":\"a \\\"b\\\"\\\\x0a  c \\\\xe9\"}\n");
}

TEST_CASE("how snapshots end is recorded, and nothing else; a line is one write") {
    SimStore disk("run/forebay");
    std::vector<std::string> lines;
    const auto tell = agent::to_run(disk, file, [&](const Event& event) { lines.push_back(agent::line_of(event)); });
    tell(committed);
    tell({.what = What::drained, .stream = "restart", .step = 8});
    tell({.what = What::analysed, .stream = "restart", .step = 8});
    const auto writes = disk.calls(test::Op::write);
    tell({.what = What::failed, .stream = "restart", .step = 8, .detail = "why"});
    CHECK(disk.calls(test::Op::write) == writes + 1);
    const auto text = disk.peek(path);
    CHECK(lines_in(text) == 2);
    CHECK(text->find("\"event\":\"committed\"") < text->find("\"event\":\"failed\""));
    // The log has it too, but goes with the session.
    tell({.what = What::not_analysed, .stream = "restart", .step = 8, .detail = "why not"});
    tell({.what = What::worker_ended, .place = "scripts", .detail = "the reason"});
    CHECK(lines_in(disk.peek(path)) == 4);
    CHECK(disk.peek(path)->find("\"step\":-1,\"bytes\":0,\"seconds\":0.0,\"text\":\"the reason\"}") !=
          std::string::npos);
    CHECK(lines.empty());
}

TEST_CASE("a file at its limit is put aside, and one beside it goes") {
    SimStore disk("run/forebay");
    const auto tell = agent::to_run(disk, file, [](const Event&) {});
    const auto fill = [&](char with) {
        auto open = disk.open(path, sys::Access::update).value();
        REQUIRE(open->write(0, bytes_of(std::string(agent::node_file_bytes_max - 10, with))));
    };
    fill('a');
    tell(committed);
    CHECK(lines_in(disk.peek(path)) == 1);
    CHECK(disk.peek(old_path)->front() == 'a');
    fill('b');
    tell(committed);
    CHECK(disk.peek(old_path)->front() == 'b');
    CHECK(lines_in(disk.peek(path)) == 1);
}

TEST_CASE("a target that takes no line is told once, until it has taken one") {
    SimStore disk("run/forebay");
    std::vector<std::string> lines;
    const auto tell = agent::to_run(disk, file, [&](const Event& event) { lines.push_back(agent::line_of(event)); });
    for (int round = 1; round <= 2; ++round) {
        disk.fail(test::Op::write, 0, {ErrorKind::full, "No space left on device"}, 2);
        tell(committed);
        tell(committed);
        REQUIRE(lines.size() == static_cast<std::size_t>(round));
        CHECK(lines.back().starts_with("events are not recorded in " + path + ": "));
        tell(committed);
        CHECK(lines.size() == static_cast<std::size_t>(round));
    }
    SimStore none("other");
    agent::to_run(none, file, [&](const Event&) {})(committed);
    CHECK_FALSE(none.peek(path));  // it does not create the run
}

TEST_CASE("nothing is written into another run that lies there now") {
    SimStore disk("run");
    const auto id = catalog::make_identity(disk, "/run").value();
    auto own = file;
    own.run_id = id;
    agent::to_run(disk, own, [](const Event&) {})(committed);
    CHECK(lines_in(disk.peek(path)) == 1);
    own.run_id = id + 1;
    agent::to_run(disk, own, [](const Event&) {})(committed);
    CHECK(lines_in(disk.peek(path)) == 1);
}

TEST_CASE("watchers of the page find what an agent did") {
    SimStore disk("run");
    test::Node node;
    node.seal({.id = 1, .step = 9});
    node.page().ending = 1;
    const std::atomic<bool> never{false};
    REQUIRE(agent::Agent(disk, node.staging, node.session, {}, agent::to_page(node.page()))
                .run(never, std::chrono::seconds(0)));
    std::uint64_t seen = 0;
    std::vector<std::string> names;
    for (const auto& event : node::events_after(node.page(), seen)) {
        names.push_back(agent::name_of(static_cast<What>(event.what)));
        CHECK(event.step == 9);
        CHECK(event.stream == 0);
        CHECK(event.unix_ns > 0);
    }
    CHECK(names.front() == "begun");
    CHECK(names.back() == "committed");
    CHECK(std::ranges::count(names, "drained") == 1);
}
