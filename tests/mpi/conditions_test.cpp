// Goal: an analysis finds a NaN during the run. Its snapshot is marked, and the run ends at the next step on all ranks.
// Retention keeps the good snapshots before it. A restart takes the last good snapshot, and the marked one only on
// request. On one node, and on two of which one has the NaN. Method: a small simulation; the real worker.
// ranks: 2 3

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "path/catalog/catalog.hpp"
#include "path/catalog/marks.hpp"
#include "support/mpi_main.hpp"
#include "support/mpi_world.hpp"

using namespace forebay;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t cells = 1000;
constexpr std::int64_t bad_step = 4, last_step = 9;

struct Simulation {
    explicit Simulation(const Options& options, Marked marked = Marked::pass_over)
        : session(open(MPI_COMM_WORLD, options).value()) {
        StreamOptions of_stream{.slots = 2, .keep = 2, .view = false};
        of_stream.insitu.push_back({.name = "numbers", .variables = {"u"}, .condition = {"*/nan > 0"}});
        of_stream.insitu.front().action = {Analysis::Action::mark, Analysis::Action::stop};
        of_stream.marked = marked;
        stream = session.stream("state", of_stream).value();
        const auto rank = static_cast<std::uint64_t>(test::rank_in(MPI_COMM_WORLD));
        const auto ranks = static_cast<std::uint64_t>(test::size_of(MPI_COMM_WORLD));
        stream->array("u", f64, {ranks, cells}, {packed({{rank, 0}, {1, cells}}, u.data())}).value();
    }

    Session session;
    std::optional<Stream> stream;
    std::vector<double> u = std::vector<double>(cells, 1.0);
};

// Results of a step arrive later: a step of this simulation is shorter than an analysis.
void wait_for_results(const std::string& run, std::int64_t step) {
    const auto path = run + "/state.numbers/" + catalog::step_name(step);
    for (int i = 0; i < 3000 && !sys::posix_store().exists(path).value(); ++i) std::this_thread::sleep_for(10ms);
    REQUIRE(sys::posix_store().exists(path).value());
    MPI_Barrier(MPI_COMM_WORLD);
}

// Returns the step at which the run was asked to end. All ranks end at the same step, or this hangs.
std::int64_t simulate(const Options& options) {
    Simulation run(options);
    const int rank = test::rank_in(MPI_COMM_WORLD), ranks = test::size_of(MPI_COMM_WORLD);
    std::int64_t end = -1;
    for (std::int64_t step = 1; step <= last_step && end < 0; ++step) {
        for (auto& value : run.u) value += 1;
        if (step == bad_step && rank == ranks - 1) run.u[7] = std::numeric_limits<double>::quiet_NaN();
        run.stream->save(step).value();
        wait_for_results(options.run, step);
        // The agent may learn of the condition some time after the results are written.
        for (int look = 0; look < 200 && end < 0; ++look) {
            const auto job = run.session.job().value();
            if (job.stop) {
                end = step;
                CHECK(job.save);
                CHECK(job.condition == "state.numbers: */nan > 0 (u/nan is 1), at step 4");
                CHECK(job.value == 1);
                CHECK(job.condition_step == bad_step);
                CHECK(job.reason == "the condition " + job.condition);
            } else {
                CHECK(job.condition.empty());
            }
            if (step < bad_step) break;
            std::this_thread::sleep_for(10ms);
        }
    }
    CHECK_FALSE(run.session.job().value().stop);  // only once
    run.stream->wait_committed(60s).value();
    run.session.close().value();
    return end;
}

void check_run(const Options& options) {
    CHECK(simulate(options) == bad_step);
    auto& disk = sys::posix_store();
    if (test::rank_in(MPI_COMM_WORLD) == 0) {
        std::vector<std::int64_t> marked, good;
        for (const auto& snapshot : catalog::snapshots(disk, options.run, "state").value()) {
            const auto manifest = catalog::load_manifest(disk, snapshot.directory).value();
            CHECK(catalog::marks_of(disk, snapshot.directory, manifest).value() == manifest.marks);
            (manifest.marks.empty() ? good : marked).push_back(snapshot.step);
        }
        CHECK(marked == std::vector<std::int64_t>{bad_step});
        CHECK(good == std::vector<std::int64_t>{3, 2, 1});  // 4 and 3 did not count yet at the commit of 4
    }
    MPI_Barrier(MPI_COMM_WORLD);
    {
        Simulation again(options);
        CHECK(again.stream->restore().value()->step() == 3);
        REQUIRE(again.stream->notes().size() == 1);
        CHECK(again.stream->notes()[0].find("step 4 is skipped: it is marked, numbers: */nan > 0 (u/nan is 1)") == 0);
        CHECK(again.u[7] == 4);
        CHECK(again.stream->newest(bad_step + 1).value()->step() == bad_step);
        REQUIRE(again.stream->notes().size() == 1);
        CHECK(again.stream->notes()[0].find("step 4 is used, although it is marked") == 0);
        CHECK(again.stream->older().value()->step() == 3);
        again.session.close().value();
    }
    Simulation all(options, Marked::take);
    CHECK(all.stream->restore().value()->step() == bad_step);
    all.session.close().value();
}

}  // namespace

TEST_CASE("a NaN is found, its snapshot is marked, the run ends, and the restart goes back behind it") {
    test::together([] {
        const test::CommonDirectory folder("/dev/shm");
        for (const int nodes : {1, 2}) {
            CAPTURE(nodes);
            Options options{.run = folder / ("run" + std::to_string(nodes)), .staging = folder / ""};
            options.virtual_nodes = nodes;
            options.agent.mode = AgentMode::thread;
            check_run(options);
        }
    });
}

#include "support/mpi_main.hpp"
