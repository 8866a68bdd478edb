// Goal: a fault that concerns analyses harms nothing else. Torn data never become a result. A full node, a full or
// read-only target, and a killed rank cost no snapshot. Results that cannot be written are reported and counted.
// Several sessions, streams and analyses run side by side.
// Method: the real worker; small tmpfs mounts as node and target, filled, emptied and made read-only; all elements of
// a step have one value, so a mixture of two steps shows.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "support/insitu_results.hpp"
#include "support/killable.hpp"
#include "support/own_mounts.hpp"
#include "support/processes.hpp"
#include "support/sessions.hpp"
#include "support/wished_number.hpp"

using namespace forebay;
using namespace std::chrono_literals;

namespace {

Analysis of_kind(std::string name, Analysis::Kind kind) {
    return {.name = std::move(name), .kind = kind, .variables = {"u"}};
}

/// One rank with a stream of one array. Each element is the step.
class Application {
public:
    Application(const Options& options, std::uint64_t rows, const StreamOptions& stream_options,
                const std::string& name = "restart")
        : session(Session::open(options).value()), stream(session.stream(name, stream_options).value()) {
        data_.resize(rows * columns);
        stream.array("u", f64, {rows, columns}, {packed({{0, 0}, {rows, columns}}, data_.data())}).value();
    }
    Result<Saved> save(std::int64_t step) {
        std::ranges::fill(data_, static_cast<double>(step));
        return stream.save(step);
    }

    static constexpr std::uint64_t columns = 1000;
    Session session;
    Stream stream;

private:
    std::vector<double> data_;
};

double number_in(const test::Results& results, const std::string& name) {
    const auto result = results.find(name);
    REQUIRE_MESSAGE(result != results.end(), name);
    double value = 0;
    std::memcpy(&value, result->second.data(), sizeof value);
    return value;
}

/// Checks that each result of an analysis is of a single step, and returns the steps.
std::set<std::int64_t> check_untorn(const std::string& run, const std::string& stream, const std::string& analysis) {
    const auto results = test::results_in(run, stream);
    const auto steps = test::result_steps(run, stream + "." + analysis);
    for (const auto step : steps) {
        const auto of = stream + "." + analysis + "@" + std::to_string(step) + " u/";
        CHECK(number_in(results, of + "min") == static_cast<double>(step));
        CHECK(number_in(results, of + "max") == static_cast<double>(step));
    }
    return steps;
}

std::string agent_log(const Options& options) {
    std::string text;
    for (const auto& directory : test::staged(options)) text += test::text_in(directory + "/agent.log");
    return text;
}

std::size_t count_of(const std::string& text, const std::string& words) {
    std::size_t count = 0;
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
    return count;
}

struct Place {
    Place() : target(folder / "target", "8m"), node(folder / "node", "8m") {}
    /// The agent stays until it is told to end, so that the test can read its log.
    Options options() const {
        Options options{.run = target / "run", .staging = node.path()};
        options.agent.retries = 1;
        options.agent.retry_pause = 1ms;
        options.agent.linger = 60s;
        options.close_wait = 60s;
        return options;
    }

    test::TempDirectory folder;
    test::SmallTmpfs target, node;
};

}  // namespace

TEST_CASE("saves that take slots from the worker while it reads leave no result of torn data") {
    for (const int slots : {1, 2}) {
        CAPTURE(slots);
        const test::TempDirectory folder;
        auto options = test::options_in(folder, 1);
        StreamOptions stream{.slots = slots, .keep = 2, .view = false};
        for (int i = 0; i < 16; ++i)
            stream.insitu.push_back(of_kind("a" + std::to_string(i), Analysis::Kind::statistics));
        constexpr std::int64_t last_step = 40;
        Application run(options, 2000, stream);  // 16 MB
        for (std::int64_t step = 1; step <= last_step; ++step) CHECK(run.save(step).value().kept);
        run.session.close().value();
        const auto unseen = static_cast<std::int64_t>(run.stream.counters().not_analysed);
        CHECK(unseen > 0);  // else nothing was taken, and the test shows nothing
        for (const auto& analysis : stream.insitu) {
            const auto steps = check_untorn(options.run, "restart", analysis.name);
            CHECK(static_cast<std::int64_t>(steps.size()) + unseen == last_step);
            CHECK(steps.contains(last_step));
        }
        CHECK(run.stream.counters().aborts == 0);
        CHECK(test::committed(options).front() == last_step);
    }
}

TEST_CASE("two sessions, each with two streams of eight analyses") {
    const test::TempDirectory folder;
    StreamOptions stream{.slots = 2, .keep = 0, .view = false};
    for (int i = 0; i < 8; ++i) stream.insitu.push_back(of_kind("a" + std::to_string(i), Analysis::Kind::statistics));
    std::vector<Options> options;
    std::vector<std::unique_ptr<Application>> all;
    for (const std::string name : {"one", "two"}) {
        auto own = test::options_in(folder, 1, name);
        own.agent.mode = name == "one" ? AgentMode::thread : AgentMode::process;
        options.push_back(own);
        all.push_back(std::make_unique<Application>(own, 100, stream, "fields"));
    }
    constexpr std::int64_t last_step = 6;
    for (auto& job : all) {
        auto other = job->session.stream("other", stream).value();
        double value = 0;
        std::vector<double> u(1000);
        other.array("u", f64, {1000}, {packed({{0}, {1000}}, u.data())}).value();
        for (std::int64_t step = 1; step <= last_step; ++step) {
            CHECK(job->save(step).value().kept);
            value = static_cast<double>(step);
            std::ranges::fill(u, value);
            CHECK(other.save(step).value().kept);
        }
    }
    for (auto& job : all) job->session.close().value();
    for (const auto& own : options) test::wait_for_agents(own);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const auto& analysis : stream.insitu) {
            const auto steps = check_untorn(options[i].run, "fields", analysis.name);
            CHECK(steps.size() + all[i]->stream.counters().not_analysed == last_step);
            CHECK(check_untorn(options[i].run, "other", analysis.name).contains(last_step));
        }
}

TEST_CASE("a full node: pictures are lost and told, results and snapshots are not") {
    const Place place;
    auto cut = of_kind("cut", Analysis::Kind::slice);
    cut.pixels = 1024;
    Application run(place.options(), 100, {.keep = 0, .view = false, .insitu = {cut, of_kind("means", {})}});
    CHECK(run.save(1).value().kept);
    run.stream.wait_committed(60s).value();
    REQUIRE(test::soon([&] { return test::result_steps(place.options().run, "restart.means").contains(1); }));
    place.node.fill(0);
    CHECK(run.save(2).value().kept);
    run.stream.wait_committed(60s).value();
    REQUIRE(test::soon([&] { return run.stream.counters().not_analysed == 1; }));
    CHECK(test::result_steps(place.options().run, "restart.means").contains(2));
    CHECK(test::result_steps(place.options().run, "restart.cut").contains(2));
    place.node.empty();
    CHECK(run.save(3).value().kept);
    run.stream.wait_committed(60s).value();
    REQUIRE(test::soon([&] { return test::result_steps(place.options().run, "restart.means").contains(3); }));
    const auto log = agent_log(place.options());
    CHECK(run.stream.counters().not_analysed == 1);
    CHECK(run.stream.counters().aborts == 0);
    run.session.close().value();
    CHECK(check_untorn(place.options().run, "restart", "means").size() == 3);
    // On the full node the log may have lost the line. If it has the line, it has it once.
    CHECK(count_of(log, "step 2 of stream 'restart' is not analysed: ") <= 1);
}

TEST_CASE("a full target: results without room are told once and counted, those with room are there") {
    const Place place;
    auto counts = of_kind("counts", Analysis::Kind::histogram);
    counts.bins = 65'536;  // 1 MB of results from 80 kB of data
    Application run(place.options(), 10, {.keep = 0, .view = false, .insitu = {counts, of_kind("means", {})}});
    place.target.fill(700u << 10);
    CHECK(run.save(1).value().kept);
    run.stream.wait_committed(60s).value();
    REQUIRE(test::soon([&] { return run.stream.counters().not_analysed == 1; }));
    REQUIRE(test::soon([&] { return count_of(agent_log(place.options()), "is not analysed: ") == 1; }));
    CHECK(agent_log(place.options()).find("No space left on device") != std::string::npos);
    CHECK(test::result_steps(place.options().run, "restart.counts").empty());
    place.target.empty();
    CHECK(run.save(2).value().kept);
    run.stream.wait_committed(60s).value();
    REQUIRE(test::soon([&] { return test::result_steps(place.options().run, "restart.means").contains(2); }));
    run.session.close().value();
    test::wait_for_agents(place.options());
    CHECK(run.stream.counters().not_analysed == 1);
    CHECK(run.stream.counters().aborts == 0);
    CHECK(test::result_steps(place.options().run, "restart.counts") == std::set<std::int64_t>{2});
    CHECK(check_untorn(place.options().run, "restart", "means") == std::set<std::int64_t>{1, 2});
    CHECK(test::committed(place.options()).size() == 2);
}

TEST_CASE("a read-only target: the snapshot is analysed when it is committed, after the target can be written again") {
    const Place place;
    const auto remount = [&](unsigned long how) {
        REQUIRE(::mount("none", place.target.path().c_str(), nullptr, MS_REMOUNT | how, "size=8m") == 0);
    };
    Application run(place.options(), 100, {.keep = 0, .view = false, .insitu = {of_kind("means", {})}});
    CHECK(run.save(1).value().kept);
    run.stream.wait_committed(60s).value();
    REQUIRE(test::soon([&] { return test::result_steps(place.options().run, "restart.means").contains(1); }));
    remount(MS_RDONLY);
    CHECK(run.save(2).value().kept);
    CHECK_FALSE(run.stream.wait_committed(60s));
    CHECK(run.stream.counters().not_analysed == 0);
    remount(0);
    run.stream.wait_committed(60s).value();
    REQUIRE(test::soon([&] { return test::result_steps(place.options().run, "restart.means").contains(2); }));
    run.session.close().value();
    CHECK(run.stream.counters().not_analysed == 0);
    CHECK(check_untorn(place.options().run, "restart", "means").size() == 2);
}

TEST_CASE("an application that is killed: what it has sealed is committed and analysed") {
    const test::TempDirectory folder;
    auto options = test::options_in(folder, 1);
    options.agent.mode = AgentMode::process;
    options.agent.linger = 0ms;
    {
        test::Application killed([&](const test::Application::Tell& tell) {
            Application run(options, 1000, {.slots = 2, .keep = 0, .insitu = {of_kind("means", {})}});
            for (std::int64_t step = 1; step <= 2; ++step) run.save(step).value();
            tell(2);
            for (;;) ::pause();
        });
        CHECK(killed.hear() == 2);
    }
    CHECK(test::soon([&] { return test::staged(options).empty(); }));
    CHECK(test::committed(options) == std::vector<std::int64_t>{2, 1});
    CHECK(check_untorn(options.run, "restart", "means") == std::set<std::int64_t>{1, 2});
}

TEST_CASE("agents that are killed at any moment: no snapshot is lost, and each has whole results or is counted") {
    const auto seed = test::wished_number("FOREBAY_SEED", 1);
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const test::TempDirectory folder;
    auto options = test::options_in(folder, 1);
    options.agent.mode = AgentMode::process;
    options.agent.linger = 0ms;
    auto counts = of_kind("counts", Analysis::Kind::histogram);
    auto cut = of_kind("cut", Analysis::Kind::slice);
    Application run(options, 300,
                    {.slots = 2, .keep = 0, .view = false, .insitu = {of_kind("means", {}), counts, cut}});
    constexpr std::int64_t last_step = 25;
    for (std::int64_t step = 1; step <= last_step; ++step) {
        CHECK(run.save(step).value().kept);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
        if (random() % 2 == 0) test::kill_agents(options);
    }
    run.session.close().value();
    test::wait_for_agents(options);
    // If the last agent was killed after the last commit, people have to run its analyses. Another agent frees the
    // directory when it leaves.
    for (int look = 0; look < 100 && !test::staged(options).empty(); ++look) std::this_thread::sleep_for(10ms);
    for (const auto& left : test::staged(options)) test::forebay_command("drain " + left);
    REQUIRE(test::staged(options).empty());
    CHECK(test::committed(options).size() == last_step);
    CHECK(check_untorn(options.run, "restart", "means").contains(last_step));
    // If an agent was killed between writing the results and recording them, they may be counted too.
    for (const std::string analysis : {"means", "counts", "cut"})
        CHECK(test::result_steps(options.run, "restart." + analysis).size() + run.stream.counters().not_analysed >=
              last_step);
}

int main(int argc, char** argv) {
    if (!test::enter_own_mounts()) {
        std::puts("skipped: mounting a tmpfs needs root or a user namespace");
        return 77;
    }
    return doctest::Context(argc, argv).run();
}
