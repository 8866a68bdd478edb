// Goal: an application never waits for an analysis, and its last snapshot is still analysed. The next agent analyses
// the snapshots of a killed agent. Method: sessions whose agents have shell scripts as workers.

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>

#include "support/killable.hpp"
#include "support/sessions.hpp"
#include "support/staging_of.hpp"
#include "support/worker_script.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using test::WorkerScript;

namespace {

/// A session of one rank over an analysed stream, with a script as worker.
class Analysed {
public:
    explicit Analysed(const std::string& on_see, AgentMode mode, const StreamOptions& stream_options = {})
        : worker(on_see), options(options_of(mode)), session(Session::open(options).value()) {
        auto all = stream_options;
        all.insitu = {test::every(1)};
        stream = session->stream("restart", all).value();
        stream->array("u", f64, {data_.size()}, {packed({{0}, {data_.size()}}, data_.data())}).value();
    }

    Saved save(std::int64_t step) { return stream->save(step).value(); }
    void commit() { stream->wait_committed(60s).value(); }

    test::TempDirectory folder;
    WorkerScript worker;
    Options options;
    std::optional<Session> session;
    std::optional<Stream> stream;

private:
    Options options_of(AgentMode mode) {
        auto prepared = test::options_in(folder, 1);
        prepared.agent.mode = mode;
        prepared.agent.program = worker.program();
        prepared.agent.linger = 0ms;
        prepared.stall_wait = 60s;
        return prepared;
    }
    std::vector<double> data_ = std::vector<double>(1000, 1.0);
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("the last snapshot is analysed at the end of a session: before it by a thread, after it by a process") {
    for (const auto mode : {AgentMode::thread, AgentMode::process}) {
        CAPTURE(static_cast<int>(mode));
        Analysed run("[ $step = 1 ] || sleep 0.3; echo seen; echo made 1; echo $step >> $folder/done", mode);
        run.save(1);
        run.save(2);
        const auto directory = test::staging_of(run.options);
        run.session->close().value();
        if (mode == AgentMode::process) CHECK(test::soon([&] { return !std::filesystem::exists(directory); }));
        CHECK(run.worker.lines("done").back() == "2");
        CHECK_FALSE(std::filesystem::exists(directory));
        CHECK(run.stream->counters().not_analysed + run.worker.lines("done").size() == 2);
    }
}

TEST_CASE("no save waits for a lease, by any policy; the snapshot that loses it is counted") {
    for (const auto policy : {Policy::wait, Policy::skip, Policy::newest_only, Policy::wait_at_most}) {
        CAPTURE(static_cast<int>(policy));
        for (const int slots : {1, 2}) {
            CAPTURE(slots);
            Analysed run("[ $step -lt 3 ] && wait_for never; echo seen; echo made 1; echo $step >> $folder/done",
                         AgentMode::thread, {.slots = slots, .policy = policy});
            for (const std::int64_t step : {1, 2, 3}) {
                CHECK(run.save(step).kept);
                run.commit();
                REQUIRE(run.worker.was_asked(slots == 1 ? static_cast<std::size_t>(step) : 1));
            }
            // With two slots the third save takes the slot of the first. The second snapshot waits for the worker in
            // vain.
            CHECK(run.stream->counters().not_analysed == (slots == 1 ? 2 : 1));
            if (slots == 2) CHECK(run.save(4).kept);
            REQUIRE(test::soon([&] { return run.worker.lines("done").size() == (slots == 1 ? 1 : 2); }));
            run.session->close().value();
            CHECK(run.stream->counters().not_analysed == 2);
            CHECK(run.stream->counters().skipped == 0);
            CHECK(run.stream->counters().replaced == 0);
            CHECK(test::committed(run.options).size() == 3);
        }
    }
}

TEST_CASE("a slot without a lease is taken before one with it") {
    Analysed run("[ $step = 2 ] && wait_for go; echo seen; echo made 1; echo $step >> $folder/done", AgentMode::thread,
                 {.slots = 2});
    run.save(1);
    run.commit();
    REQUIRE(test::soon([&] { return run.worker.lines("done").size() == 1; }));
    for (const std::int64_t step : {2, 3}) {
        run.save(step);
        run.commit();
    }
    CHECK(run.stream->counters().not_analysed == 0);
    run.worker.give("go");
    run.session->close().value();
    CHECK(run.worker.lines("done") == Lines{"1", "2", "3"});
}

TEST_CASE("what a killed agent has leased is analysed by the next one of its session, also what was read by then") {
    for (const bool seen : {false, true}) {
        CAPTURE(seen);
        Analysed run(std::string(seen ? "echo seen; touch $folder/said; wait_for go; " : "wait_for go; echo seen; ") +
                         "echo made 1; echo $step >> $folder/done",
                     AgentMode::process, {.slots = 2});
        run.save(1);
        run.commit();
        REQUIRE(run.worker.was_asked(1));
        if (seen) REQUIRE(run.worker.has("said"));
        const auto agent = run.worker.agent();
        ::kill(agent, SIGKILL);
        REQUIRE(test::soon([&] { return !test::alive(agent); }));
        run.save(2);
        run.commit();
        REQUIRE(run.worker.was_asked(2));
        run.worker.give("go");
        run.session->close().value();
        test::wait_for_agents(run.options);
        const auto asked = run.worker.lines("asked");
        REQUIRE(asked.size() == 3);
        CHECK(asked[0] == asked[1]);
        CHECK(run.worker.lines("done").back() == "2");
        CHECK(run.stream->counters().not_analysed == 0);
    }
}

TEST_CASE("what a killed agent has leased outlives its session, and is analysed by forebay drain") {
    Analysed run("wait_for go; echo seen; echo made 1; echo $step >> $folder/done", AgentMode::process);
    run.save(1);
    run.commit();
    REQUIRE(run.worker.was_asked(1));
    const auto agent = run.worker.agent();
    ::kill(agent, SIGKILL);
    REQUIRE(test::soon([&] { return !test::alive(agent); }));
    const auto directory = test::staging_of(run.options);
    run.session->close().value();
    REQUIRE(std::filesystem::exists(directory));
    run.worker.give("go");
    test::forebay_command("drain " + directory);
    CHECK(run.worker.lines("asked").size() == 2);
    CHECK(run.worker.lines("done").back() == "1");
    CHECK_FALSE(std::filesystem::exists(directory));
}

TEST_CASE("a session waits for no analysis of the one before: its own agent has it made") {
    Analysed run("wait_for go; echo seen; echo made 1; echo $step >> $folder/done", AgentMode::process, {.slots = 2});
    run.save(1);
    run.commit();
    REQUIRE(run.worker.was_asked(1));
    const auto agent = run.worker.agent();
    // Like an exception: nothing is closed.
    run.stream.reset();
    run.session.reset();
    REQUIRE(test::alive(agent));
    auto options = run.options;
    options.close_wait = 20s;  // a session that waits for the analysis would fail
    auto next = Session::open(options).value();
    CHECK(test::soon([&] { return !test::alive(agent); }));
    run.worker.give("go");
    auto stream = next.stream("restart", {.slots = 2, .insitu = {test::every(1)}}).value();
    std::vector<double> u(1000, 2.0);
    stream.array("u", f64, {u.size()}, {packed({{0}, {u.size()}}, u.data())}).value();
    stream.save(2).value();
    next.close().value();
    test::wait_for_agents(run.options);
    CHECK(run.worker.lines("done") == Lines{"1", "2"});
    CHECK(stream.counters().not_analysed == 0);
}
