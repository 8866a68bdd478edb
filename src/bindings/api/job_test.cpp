// Goal: all ranks learn at the same step that they are to save or to end, for any reason, at the cost of one message.
// Method: ranks are threads; the batch system is a script in PATH; a request is the file that `forebay stop` writes.

#include "bindings/api/job.hpp"
#include "path/agent/target.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/sys/clock.hpp"
#include "path/catalog/names.hpp"
#include "support/sessions.hpp"
#include "support/soon.hpp"

using namespace forebay;
using namespace std::chrono_literals;
using test::options_in;
using test::with_session;

namespace {

// Every rank must have the answer of this rank.
void check_same(comm::Group& world, const Job& job) {
    std::array<std::int64_t, 2> flags{job.save, job.stop};
    world.max(flags);
    CHECK(flags[0] == static_cast<std::int64_t>(job.save));
    CHECK(flags[1] == static_cast<std::int64_t>(job.stop));
    const auto reasons = world.gather_all_sized(std::as_bytes(std::span(job.reason))).value();
    for (const auto& reason : reasons) CHECK(reason == reasons[0]);
}

void write(const std::string& path) { std::ofstream(path) << "test\n"; }

// Calls job() until it asks for something; the watch looks once a second.
Job wait_for_wish(Session& session) {
    for (int i = 0; i < 500; ++i) {
        const auto job = session.job().value();
        if (job.save) return job;
        std::this_thread::sleep_for(10ms);
    }
    return {};
}

class EnvironmentVariable {
public:
    EnvironmentVariable(const char* name, const std::string& value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        ::setenv(name, value.c_str(), 1);
    }
    ~EnvironmentVariable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

private:
    const char* name_;
    std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("without a batch system a simulation is left alone, and knows no limit") {
    const test::TempDirectory folder;
    with_session(3, options_in(folder, 1), [](Session& session, comm::Group& world) {
        for (int step = 0; step < 3; ++step) {
            const auto job = session.job().value();
            CHECK_FALSE(job.save);
            CHECK_FALSE(job.stop);
            CHECK(std::isinf(job.seconds_left));
            CHECK(job.reason.empty());
            check_same(world, job);
        }
    });
}

TEST_CASE("the wish of any rank is all ranks' at that step, and names it") {
    for (const int ranks : {1, 2, 5}) {
        const test::TempDirectory folder;
        with_session(ranks, options_in(folder, 1), [](Session& session, comm::Group& world) {
            const bool last = world.rank() == world.size() - 1;
            CHECK_FALSE(session.job().value().stop);
            const auto job = session.job(last).value();
            CHECK(job.stop);
            CHECK(job.save);
            CHECK(job.reason == "the application, on rank " + std::to_string(world.size() - 1));
            check_same(world, job);
            CHECK_FALSE(session.job().value().stop);  // the request no longer counts
        });
        CHECK_FALSE(std::filesystem::exists(folder / "run/.continue"));
    }
}

TEST_CASE("requests in the run's directory are obeyed once and removed") {
    const test::TempDirectory folder;
    with_session(3, options_in(folder, 1), [&](Session& session, comm::Group& world) {
        CHECK_FALSE(session.job().value().save);
        world.barrier();
        if (world.rank() == 1) write(folder / "run/.save");
        auto job = wait_for_wish(session);
        CHECK(job.save);
        CHECK_FALSE(job.stop);
        CHECK(job.reason == "forebay stop --save");
        check_same(world, job);
        CHECK_FALSE(session.job().value().save);
        CHECK_FALSE(std::filesystem::exists(folder / "run/.save"));
        world.barrier();
        if (world.rank() == 1) write(folder / "run/.stop");
        job = wait_for_wish(session);
        CHECK(job.stop);
        CHECK(job.reason == "forebay stop");
        check_same(world, job);
        CHECK_FALSE(std::filesystem::exists(folder / "run/.stop"));
    });
    CHECK_FALSE(std::filesystem::exists(folder / "run/.continue"));
}

TEST_CASE("a request that was there before the session is obeyed at its first step") {
    const test::TempDirectory folder;
    std::filesystem::create_directory(folder / "run");
    write(folder / "run/.stop");
    with_session(2, options_in(folder, 1), [](Session& session, comm::Group&) { CHECK(session.job().value().stop); });
}

TEST_CASE("a request that cannot be removed is obeyed once, and told") {
    const test::TempDirectory folder;
    // remove() takes files: a directory of that name stays.
    std::filesystem::create_directories(folder / "run/.stop");
    auto options = options_in(folder, 1);
    std::string logged;
    options.log = [&](const std::string& line) { logged += line + "\n"; };
    with_session(1, options, [](Session& session, comm::Group&) {
        CHECK(session.job().value().stop);
        std::this_thread::sleep_for(1200ms);  // the watch has looked again
        CHECK_FALSE(session.job().value().stop);
    });
    CHECK(logged.find("/run/.stop was obeyed, but cannot be removed") != std::string::npos);
}

TEST_CASE("the job's limit ends the simulation while there is time, and says that it is to be continued") {
    const test::TempDirectory folder;
    auto options = options_in(folder, 1);
    options.job.wall_time = 3600s;
    options.job.reserve = 10s;
    std::filesystem::create_directory(folder / "run");
    write(folder / "run/.continue");
    with_session(2, options, [&](Session& session, comm::Group& world) {
        const auto job = session.job().value();
        CHECK_FALSE(job.save);
        CHECK(job.seconds_left > 3590);
        CHECK(job.seconds_left <= 3600);
        world.barrier();
        CHECK_FALSE(std::filesystem::exists(folder / "run/.continue"));  // the job before wrote it for this job
    });
    CHECK_FALSE(std::filesystem::exists(folder / "run/.continue"));
    options.job.wall_time = 9s;
    with_session(2, options, [&](Session& session, comm::Group& world) {
        const auto job = session.job().value();
        CHECK(job.stop);
        CHECK(job.reason.find("the job ends in") == 0);
        check_same(world, job);
        world.barrier();
        CHECK(std::filesystem::exists(folder / "run/.continue"));
    });
}

TEST_CASE("a limit keeps the reserve, the longest of the last ten steps and a drain free") {
    const test::TempDirectory folder;
    std::string problem;
    const auto target = agent::target_of(folder.path(), {}, {}).value().store;
    JobState state(JobWatch::start(target, folder.path()).value(), {.wall_time = {}, .reserve = 60s}, {1000, "test"});
    auto clock = sys::Clock::now();
    std::int64_t unix_ms = 0;
    const auto after = [&](std::chrono::milliseconds step, double drain_seconds) {
        clock += step;
        unix_ms += step.count();
        return state.tell(clock, unix_ms, {}, drain_seconds, problem);
    };
    auto report = after(0ms, 0);
    CHECK(report.left_ms == 1'000'000);
    CHECK(report.needed_ms == 60'000);
    after(10s, 0);
    CHECK(after(70s, 0).needed_ms == 130'000);
    CHECK(after(10s, 2.5).needed_ms == 132'500);
    for (int step = 0; step < 8; ++step) report = after(10s, 0);
    CHECK(report.needed_ms == 130'000);
    report = after(10s, 0);
    CHECK(report.needed_ms == 70'000);  // the long step was ten steps ago
    CHECK(report.left_ms == 1'000'000 - unix_ms);
    CHECK_FALSE(judge(report).stop);
    report.left_ms = 70'001;
    CHECK_FALSE(judge(report).stop);
    report.left_ms = 70'000;
    CHECK(judge(report).reason ==
          "the job ends in 70.0 s, but 70.0 s are needed for a step, saving, draining and ending");
    CHECK(judge(report).stop);
    CHECK(after(2'000s, 0).left_ms == 0);  // the limit has passed; 0 does not mean "no limit"
    CHECK(judge(JobReport{}).seconds_left > 1e300);
}

TEST_CASE("a duration goes by the steady clock, whatever is done to the machine's") {
    const test::TempDirectory folder;
    std::string problem;
    const auto target = agent::target_of(folder.path(), {}, {}).value().store;
    const auto begin = sys::Clock::now();
    JobState state(JobWatch::start(target, folder.path()).value(), {.wall_time = 1000s, .reserve = 60s},
                   {2'000'000'000, "job.wall_time"}, begin + 1000s);
    for (const std::int64_t unix_ms : {0ll, 1'999'999'999'000ll, 9'000'000'000'000ll}) {
        CHECK(state.tell(begin, unix_ms, {}, 0, problem).left_ms == 1'000'000);
        CHECK(state.tell(begin + 930s, unix_ms, {}, 0, problem).left_ms == 70'000);
        CHECK(state.tell(begin + 1001s, unix_ms, {}, 0, problem).left_ms == 0);
    }
}

TEST_CASE("without a reserve that is given, the saves of this job tell what must be left") {
    const test::TempDirectory folder;
    std::string problem;
    const auto target = agent::target_of(folder.path(), {}, {}).value().store;
    JobState state(JobWatch::start(target, folder.path()).value(), {}, {1000, "test"});
    const auto needed = [&](const std::vector<describe::SavesSoFar>& saves, double drain_seconds) {
        return state.tell(sys::Clock::now(), 0, saves, drain_seconds, problem).needed_ms / 100;  // steps take no time
    };
    CHECK(needed({{.save_seconds = 2}}, 0) == 350);
    CHECK(needed({{.save_seconds = 2}}, 7) == 420);
    CHECK(needed({{.durable = 1, .save_seconds = 2, .durable_seconds = 98}}, 7) == 100 + 2250);
    CHECK(needed({{.durable = 20, .save_seconds = 2, .durable_seconds = 98}}, 7) == 100 + 1300);
    CHECK(needed({{.durable = 20, .save_seconds = 2, .durable_seconds = 98, .ahead_seconds = 40}}, 7) == 100 + 1700);
    // At the end each stream is saved, one after the other. For a stream without a durable save the time is unknown.
    const describe::SavesSoFar small{.durable = 20, .save_seconds = 1, .durable_seconds = 4};
    CHECK(needed({{.durable = 20, .save_seconds = 2, .durable_seconds = 98}, small}, 7) == 100 + 1300 + 65);
    CHECK(needed({small, {.save_seconds = 2}}, 7) == 100 + 65 + 250 + 70);
}

TEST_CASE("a job that has seen its saves become durable fast goes on, where it would have ended without them") {
    const test::TempDirectory folder;
    // 4 MB at 2 MB/s take two seconds: after one such drain 10 s and 2.25 x 2 s are needed.
    for (const auto& [rate, wall_time, stops] : {std::tuple{0u, 30s, false}, {2'000'000u, 14s, true}}) {
        auto options = options_in(folder, 1, "run" + std::to_string(rate));
        options.agent.rate_bytes_per_second = rate;
        options.job.wall_time = wall_time;
        auto session = Session::open(options).value();
        CHECK(session.job().value().stop);  // the reserve is 35 s, since no drain is known
        auto stream = session.stream("restart", {.view = false}).value();
        std::vector<double> data(500'000, 1.0);
        stream.array("u", f64, {data.size()}, {packed({{0}, {data.size()}}, data.data())}).value();
        stream.save(1).value();
        stream.wait_committed(60s).value();
        Job job;
        for (int step = 0; step < 12; ++step) job = session.job().value();  // the wait is no long step
        CHECK(job.stop == stops);
        session.close().value();
    }
}

TEST_CASE("SLURM and PBS are asked by their commands, once a session") {
    const test::TempDirectory folder;
    std::filesystem::create_directory(folder / "bin");
    std::ofstream(folder / "bin/squeue") << "#!/bin/sh\necho \"$@\" >> " << folder / "asked"
                                         << "\necho 4711 20:00 2030-01-01T00:00:00\n";
    std::filesystem::permissions(folder / "bin/squeue", std::filesystem::perms::owner_all);
    const EnvironmentVariable path("PATH", (folder / "bin") + ":" + std::getenv("PATH"));
    const EnvironmentVariable id("SLURM_JOB_ID", "4711");
    with_session(3, options_in(folder, 1), [](Session& session, comm::Group&) {
        for (int step = 0; step < 2; ++step) {
            const auto job = session.job().value();
            CHECK(job.seconds_left > 1190);
            CHECK(job.seconds_left <= 1200);
        }
    });
    std::ifstream asked(folder / "asked");
    std::string line;
    std::getline(asked, line);
    CHECK(line == "-h -j 4711 -o %A %L %e");
    CHECK_FALSE(std::getline(asked, line));
}

TEST_CASE("an end that is no time is refused on every rank") {
    const test::TempDirectory folder;
    const EnvironmentVariable end("FOREBAY_JOB_END", "tomorrow");
    with_session(3, options_in(folder, 1), [](Session& session, comm::Group&) {
        const auto job = session.job();
        REQUIRE_FALSE(job);
        CHECK(job.error().kind == ErrorKind::refused);
        CHECK(job.error().text().find("FOREBAY_JOB_END is \"tomorrow\"") != std::string::npos);
    });
}

TEST_CASE("a closed session refuses, and watches no more") {
    const test::TempDirectory folder;
    auto session = Session::open(options_in(folder, 1)).value();
    CHECK(session.job().has_value());
    session.close().value();
    CHECK(session.job().error().kind == ErrorKind::refused);
    write(folder / "run/.stop");
    std::this_thread::sleep_for(1200ms);
    CHECK(std::filesystem::exists(folder / "run/.stop"));
}
