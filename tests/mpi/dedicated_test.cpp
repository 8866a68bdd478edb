// Goal: dedicated agents drain and commit the saves of the computing ranks, for any number of sessions, and end with
// them.
// Method: the main() of this program splits the agents off; the cases run on the computing ranks.
// ranks: 2 3 5

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "forebay/mpi.hpp"
#include "support/mpi_dedicate.hpp"
#include "support/processes.hpp"

using namespace forebay;

namespace {

test::DedicatedJob job;
const MPI_Comm& computing = job.computing;
const std::string& folder = job.folder;
std::vector<int> agents;  // their process ids
int cores = 1;

Options options_of(const std::string& run) {
    Options options{.run = folder + "/" + run, .staging = folder + "/memory"};
    options.agent.mode = AgentMode::dedicated;
    options.agent.cores = cores;
    return options;
}

// A global array with 1000 numbers a rank. The numbers depend on rank and step.
struct State {
    std::vector<double> u = std::vector<double>(1000);
    std::uint64_t rank, ranks;
    State() {
        int number = 0, count = 0;
        MPI_Comm_rank(computing, &number);
        MPI_Comm_size(computing, &count);
        rank = static_cast<std::uint64_t>(number);
        ranks = static_cast<std::uint64_t>(count);
    }
    Stream describe(Session& session, const TargetFile& file = {}) {
        auto stream = session.stream("restart", {.slots = 2, .file = file}).value();
        stream.array("u", f64, {1000 * ranks}, {packed({{1000 * rank}, {1000}}, u.data())}).value();
        return stream;
    }
    void fill(std::int64_t step) { std::ranges::fill(u, static_cast<double>(step) + static_cast<double>(rank) / 100); }
};

// Process ids of "agent 4711 serves ..." in the logs of all staging directories.
std::vector<int> serving() {
    std::vector<int> numbers;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder + "/memory")) {
        if (entry.path().filename() != "agent.log") continue;
        const auto text = test::text_in(entry.path());
        if (const auto at = text.find("agent "); at != std::string::npos)
            numbers.push_back(std::stoi(text.substr(at + 6)));
    }
    std::ranges::sort(numbers);
    return numbers;
}

}  // namespace

TEST_CASE("agents that are ranks drain, commit, make views and end with their session") {
    State state;
    for (std::int64_t life = 0; life < 3; ++life) {
        auto session = open(computing, options_of("run")).value();
        auto stream = state.describe(session);
        if (const auto newest = stream.newest().value()) {
            auto restart = *newest;
            restart.read().value();
            CHECK(restart.step() == 10 * life);
            CHECK(state.u[17] == static_cast<double>(10 * life) + static_cast<double>(state.rank) / 100);
        } else {
            CHECK(life == 0);
        }
        for (std::int64_t step = 10 * life + 1; step <= 10 * (life + 1); ++step) {
            state.fill(step);
            CHECK(stream.save(step).value().kept);
        }
        stream.wait_committed(std::chrono::seconds(60)).value();
        CHECK(stream.counters().newest_durable_step == 10 * (life + 1));
        MPI_Barrier(computing);
        auto expected = agents;
        std::ranges::sort(expected);
        if (state.ranks < agents.size()) expected.clear();  // fewer nodes than agents: some agents have no work
        if (!expected.empty()) CHECK(serving() == expected);
        MPI_Barrier(computing);
        session.close().value();
    }
    CHECK(std::filesystem::exists(folder + "/run/restart/step-000030.h5"));
    MPI_Barrier(computing);
    for (const auto& home : std::filesystem::directory_iterator(folder + "/memory"))
        CHECK(std::filesystem::is_empty(home.path()));
}

TEST_CASE("two sessions at once, one of which is left without close()") {
    State first, second;
    {
        auto a = open(computing, options_of("a")).value();
        auto b = open(computing, options_of("b")).value();
        auto stream_a = first.describe(a);
        auto stream_b = second.describe(b);
        first.fill(1);
        second.fill(2);
        CHECK(stream_a.save(1).value().kept);
        CHECK(stream_b.save(2).value().kept);
        b.close().value();
    }
    // The agent drains the rest of `a` before the next session of its run begins.
    auto again = open(computing, options_of("a")).value();
    auto stream = first.describe(again);
    first.fill(0);
    auto restart = stream.newest().value();
    REQUIRE(restart);
    restart->read().value();
    CHECK(first.u[0] == 1 + static_cast<double>(first.rank) / 100);
    again.close().value();
}

TEST_CASE("agents that are ranks write one shared file, without a call that all of them make") {
    State state;
    auto options = options_of("one");
    options.virtual_nodes = 2;
    {
        auto session = open(computing, options).value();
        auto stream = state.describe(session, TargetFile::shared());
        for (std::int64_t step = 1; step <= 3; ++step) {
            state.fill(step);
            CHECK(stream.save(step).value().kept);
        }
        session.close().value();
    }
    MPI_Barrier(computing);
    const auto last = folder + "/one/restart/step-000003/";
    CHECK(std::filesystem::file_size(last + "shared.h5") > 8000 * state.ranks);
    CHECK_FALSE(std::filesystem::exists(last + "node-00000.h5"));
    CHECK(std::filesystem::exists(folder + "/one/restart/step-000003.h5"));
    auto again = open(computing, options_of("one")).value();
    auto stream = state.describe(again);
    state.fill(0);
    auto restart = stream.newest().value();
    REQUIRE(restart);
    restart->read().value();
    CHECK(restart->step() == 3);
    CHECK(state.u[17] == 3 + static_cast<double>(state.rank) / 100);
    again.close().value();
}

TEST_CASE("a second dedicate() is refused") {
    const auto again = dedicate(computing, options_of("run"));
    REQUIRE_FALSE(again);
    CHECK(again.error().kind == ErrorKind::refused);
}

int main(int argc, char** argv) {
    int ranks = 0;
    return test::mpi_main_with(argc, argv, job,
                               {.plan =
                                    [&](int size) {
                                        ranks = size;
                                        cores = size >= 5 ? 2 : 1;
                                    },
                                .refuses =
                                    [&] {
                                        agents.assign(job.processes.end() - cores, job.processes.end());
                                        auto too_many = options_of("run");
                                        too_many.agent.cores = ranks;
                                        const auto refused = dedicate(MPI_COMM_WORLD, too_many);
                                        return !refused && refused.error().kind == ErrorKind::refused;
                                    },
                                .options = [] { return options_of("run"); },
                                .computes = [&](int rank) { return rank < ranks - cores; }});
}
