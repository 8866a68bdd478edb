// Goal: a status costs one open and one write of 4096 bytes, and agrees with the page. All agents of a job together
// write at most 200 a second. A target that hangs, fails or is another run costs only the status. Method: a page filled
// by hand, the simulated disk as target, and a store that hangs until it is released.

#include "path/agent/status_writer.hpp"

#include <doctest/doctest.h>

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "core/base/bytes.hpp"
#include "path/catalog/run.hpp"
#include "support/agent_node.hpp"
#include "support/passing_store.hpp"
#include "support/sim_store.hpp"
#include "support/soon.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using agent::StatusWriter;
using agent::What;
using test::Op;
using test::SimStore;

namespace {

const std::string path = "/run/forebay/status-nid1-2.json";
const agent::StatusPace never{.least = 3'600'000ms};

agent::StatusOf of(std::uint64_t run_id = 0, const std::string& metrics_path = "") {
    return {.file = {.run = "/run", .run_id = run_id, .host = "nid1", .virtual_node = "2"},
            .agent = "thread",
            .metrics_path = metrics_path};
}

void ignore(const agent::Event&) {}

/// Nothing if there is no status, or if it is just being written.
std::optional<format::StatusLine> status_in(const SimStore& disk) {
    const auto text = disk.peek(path);
    if (!text) return {};
    auto line = format::decode_status(*text, path);
    return line ? std::optional(std::move(*line)) : std::nullopt;
}

/// Each open waits until it is released.
class HangingStore final : public test::PassingStore {
public:
    using PassingStore::PassingStore;
    Result<std::unique_ptr<sys::File>> open(const std::string& name, sys::Access access) override {
        std::unique_lock lock(mutex_);
        hangs_ = true;
        wake_.wait(lock, [this] { return !holds_; });
        return PassingStore::open(name, access);
    }
    bool hangs() {
        const std::lock_guard lock(mutex_);
        return hangs_;
    }
    void let_go() {
        const std::lock_guard lock(mutex_);
        holds_ = false;
        wake_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable wake_;
    bool hangs_ = false, holds_ = true;
};

}  // namespace

TEST_CASE("all agents of a job write 200 a second at most") {
    const agent::StatusPace pace;
    CHECK(pace.period(0) == 1s);
    CHECK(pace.period(1) == 1s);
    CHECK(pace.period(200) == 1s);
    CHECK(pace.period(8100) == 40'500ms);
    for (const std::uint32_t nodes : {1u, 200u, 201u, 1000u, 8100u, 100'000u})
        CHECK(1000.0 * nodes / static_cast<double>(pace.period(nodes).count()) <= 200.0);
}

TEST_CASE("a status is one question for the run, one open and one write of 4096 bytes") {
    auto disk = std::make_shared<SimStore>("run");
    const auto id = catalog::make_identity(*disk, "/run").value();
    test::Node node;
    const auto opens = disk->calls(Op::open), writes = disk->calls(Op::write), looks = disk->calls(Op::exists);
    const auto all = disk->operations();
    const auto bytes = disk->bytes_written();
    StatusWriter(disk, node.staging, of(id), ignore, never, "ended").end("left");
    CHECK(disk->calls(Op::open) - opens == 1);
    CHECK(disk->calls(Op::write) - writes == 1);
    CHECK(disk->calls(Op::exists) - looks == 1);
    CHECK(disk->operations() - all == 4);  // and a close
    CHECK(disk->bytes_written() - bytes == 4096);
    const auto line = status_in(*disk);
    REQUIRE(line);
    CHECK(line->state == "ended");
    CHECK(line->host == "nid1");
    CHECK(line->virtual_node == "2");
    CHECK(line->agent == "thread");
    StatusWriter(disk, node.staging, of(id), ignore, never, "ended").end("left");
    CHECK(disk->peek(path)->size() == 4096);  // over itself
}

TEST_CASE("what the page says") {
    test::Node node;
    node.page().session = 7;
    node.page().nodes = 12;
    node.page().job_ends_unix_ns = 99;
    node.page().counts.aborts = 3;
    node.seal({.id = 1, .step = 40}, {.slots = 2});
    auto& first = node.page().slots[0];
    auto& second = node.page().slots[1];
    first.file_bytes = 1000;
    auto line = agent::status_of(node.page());
    CHECK(line.session == 7);
    CHECK(line.nodes == 12);
    CHECK(line.job_ends_unix_ns == 99);
    CHECK(line.counts.aborts == 3);
    CHECK(line.counts.backlog_bytes == 1000);
    REQUIRE(line.streams.size() == 1);
    REQUIRE(line.streams[0].slots.size() == 2);
    CHECK(line.streams[0].slots[0].state == "sealed");
    CHECK(line.streams[0].slots[0].step == 40);
    CHECK(line.streams[0].slots[1].state == "empty");
    CHECK(line.streams[0].slots[1].step == -1);
    first.state = node::SlotState::draining;
    first.drained_bytes = 300;
    second.state = node::SlotState::committed;
    second.file_bytes = 500;
    line = agent::status_of(node.page());
    CHECK(line.counts.backlog_bytes == 700);
    CHECK(line.streams[0].slots[0].drained_bytes == 300);
    CHECK(line.streams[0].slots[1].drained_bytes == 500);
}

TEST_CASE("a status has every count of the page that its line says") {
    test::Node node;
    node.seal({.id = 1, .step = 40});
    int number = 100;
    describe::each_node_count([&](const describe::Count&, auto, auto get) { get(node.page().counts) = ++number; });
    describe::each_stream_count(
        [&](const describe::Count&, auto, auto get) { get(node.page().streams[0].counts) = ++number; });
    const auto text = format::encode(agent::status_of(node.page()));
    const auto line = format::decode_status(text, "status").value();
    number = 100;
    const auto check = [&](const describe::Count& count, auto copied) {
        CAPTURE(count.name);
        const bool is_there = count.in_status != describe::InStatus::no;
        CHECK((text.find("\"" + std::string(count.name) + "\":") != text.npos) == is_there);
        ++number;
        // Sealed bytes that are not drained are computed.
        if (is_there && std::string(count.name) != "backlog_bytes") CHECK(static_cast<int>(copied) == number);
    };
    describe::each_node_count([&](const auto& count, auto, auto get) { check(count, get(line.counts)); });
    describe::each_stream_count([&](const auto& count, auto, auto get) { check(count, get(line.streams[0].counts)); });
}

TEST_CASE("an error is shown before the period is over, and a sentence with it; the last status says how it ended") {
    auto disk = std::make_shared<SimStore>("run/forebay");
    test::Node node;
    StatusWriter writer(disk, node.staging, of(), ignore, {.least = 4s});
    REQUIRE(test::soon([&] { return status_in(*disk).has_value(); }));
    const auto first = status_in(*disk).value();
    CHECK(first.state == "serving");
    CHECK(first.period_seconds == 4);
    writer.hear({.what = What::slow, .detail = "because"});
    writer.hear({.what = What::drained, .detail = "nothing"});
    writer.hear({.what = What::failed, .stream = "restart", .step = 7, .detail = "no space"});
    REQUIRE(test::soon([&] {
        const auto line = status_in(*disk);
        return line && line->last_error == "no space";
    }));
    const auto second = status_in(*disk).value();
    CHECK(second.why == "because");
    CHECK(second.unix_ns - first.unix_ns >= 990'000'000);   // a quarter of the period
    CHECK(second.unix_ns - first.unix_ns < 4'000'000'000);  // not the period
    writer.end("lingering", 60s);
    CHECK(status_in(*disk)->state == "lingering");
    CHECK(status_in(*disk)->period_seconds == 60);
    writer.end("ended");
    CHECK(status_in(*disk)->state == "lingering");
}

TEST_CASE("a writer that is not told how it ended says that work is left") {
    auto disk = std::make_shared<SimStore>("run/forebay");
    test::Node node;
    { const StatusWriter writer(disk, node.staging, of(), ignore, never); }
    CHECK(status_in(*disk)->state == "left");
}

TEST_CASE("a target that takes no status is told once; a run's directory is not made, nor is another run written to") {
    auto disk = std::make_shared<SimStore>("run/forebay");
    disk->fail(Op::write, 0, {ErrorKind::full, "No space left on device"}, 3);
    test::Node node;
    std::mutex alone;
    std::vector<std::string> lines;
    const auto tell = [&](const agent::Event& event) {
        const std::lock_guard lock(alone);
        lines.push_back(agent::line_of(event));
    };
    {
        const StatusWriter writer(disk, node.staging, of(), tell, {.least = 1ms});
        CHECK(test::soon([&] { return status_in(*disk).has_value(); }));
    }
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].starts_with("monitors cannot see it in " + path + ": "));
    auto none = std::make_shared<SimStore>("other");
    StatusWriter(none, node.staging, of(), tell, never, "ended").end("ended");
    CHECK_FALSE(none->peek(path));
    CHECK(lines.size() == 2);
    auto other = std::make_shared<SimStore>("run");
    const auto id = catalog::make_identity(*other, "/run").value();
    StatusWriter(other, node.staging, of(id + 1), tell, never, "ended").end("ended");
    CHECK_FALSE(other->peek(path));
}

TEST_CASE("a target that hangs does not hold the agent's end, and is told of nothing later") {
    SimStore disk("run/forebay");
    auto store = std::make_shared<HangingStore>(disk);
    auto lines = std::make_unique<std::vector<std::string>>();
    {
        test::Node node;
        StatusWriter writer(store, node.staging, of(), [&](const agent::Event&) { lines->push_back("?"); },
                            {.least = 1ms, .end_max = 20ms});
        REQUIRE(test::soon([&] { return store->hangs(); }));
        writer.hear({.what = What::failed, .detail = "no space"});
        writer.end("ended");
    }
    lines.reset();  // page and log of the agent are gone too
    disk.fail(Op::write, 0, {ErrorKind::full, "No space left on device"}, 1);
    std::weak_ptr<HangingStore> alive = store;
    store->let_go();
    store.reset();
    CHECK(test::soon([&] { return alive.expired(); }));  // the thread has ended
}

TEST_CASE("the file of metrics lives as long as the agent") {
    auto disk = std::make_shared<SimStore>("run/forebay");
    const test::TempDirectory folder;
    const std::string metrics = folder / "forebay-run.prom";
    test::Node node;
    StatusWriter writer(disk, node.staging, of(0, metrics), ignore, never);
    REQUIRE(test::soon([&] { return std::filesystem::exists(metrics); }));
    const auto text = sys::read_text(sys::posix_store(), metrics, 1u << 20).value();
    CHECK(text.find("forebay_node_drain_backlog_bytes{run=\"/run\",node=\"nid1/2\"} 0\n") != std::string::npos);
    writer.end("ended");
    CHECK(std::filesystem::is_empty(std::string(folder / "")));
}
