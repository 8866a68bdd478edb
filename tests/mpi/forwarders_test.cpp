// Goal: the last hosts of a job write for all hosts, with any kind of agent. They end after the last rank has left and
// after all sealed snapshots are at the target.
// Method: virtual nodes are the hosts. The kernel's count of written bytes shows which process wrote. The number of
// ranks decides the kind of agent and the number of forwarders.
// ranks: 3 4 5 6

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "forebay/mpi.hpp"
#include "path/catalog/catalog.hpp"
#include "support/mpi_dedicate.hpp"
#include "support/processes.hpp"
#include "support/soon.hpp"

using namespace forebay;

namespace {

constexpr std::uint64_t numbers = 100'000;  // of a rank
constexpr int hosts = 3;

struct Plan {
    AgentMode mode;
    int forwarders;
    std::vector<int> serving;  // ranks
    std::vector<int> computing;
};
// 3 hosts of neighbouring ranks: 6 ranks are two a host; with 4 and 5 ranks the last host has one.
const std::map<int, Plan> plans{{3, {AgentMode::process, 1, {2}, {0, 1}}},
                                {4, {AgentMode::thread, 1, {3}, {0, 1, 2}}},
                                {5, {AgentMode::dedicated, 1, {4}, {0, 1, 2}}},
                                {6, {AgentMode::process, 2, {2, 4}, {0, 1}}}};

test::DedicatedJob job;
const MPI_Comm& computing = job.computing;
const std::string& folder = job.folder;
Plan plan;

Options options_of(const std::string& run, int virtual_nodes) {
    Options options{.run = folder + "/" + run, .staging = folder + "/memory"};
    options.virtual_nodes = virtual_nodes;
    options.agent.mode = plan.mode;
    options.agent.forwarders = plan.forwarders;
    return options;
}

int rank_of_computing() {
    int rank = 0;
    MPI_Comm_rank(computing, &rank);
    return rank;
}

struct State {
    std::vector<double> u = std::vector<double>(numbers);
    std::uint64_t rank = static_cast<std::uint64_t>(rank_of_computing()), ranks = plan.computing.size();

    Stream describe(Session& session) {
        auto stream = session.stream("restart", {.slots = 2, .keep = 2}).value();
        stream.array("u", f64, {numbers * ranks}, {packed({{numbers * rank}, {numbers}}, u.data())}).value();
        return stream;
    }
    double number(std::int64_t step) const { return static_cast<double>(step) + static_cast<double>(rank) / 100; }
    void fill(std::int64_t step) { std::ranges::fill(u, number(step)); }
};

/// The bytes that a process wrote to files, without sockets.
std::uint64_t written_by(int process) {
    const auto text = test::text_in("/proc/" + std::to_string(process) + "/io");
    const auto at = text.find("wchar: ");
    REQUIRE(at != std::string::npos);
    return std::stoull(text.substr(at + 7));
}

std::vector<std::uint64_t> written_by_forwarders() {
    std::vector<std::uint64_t> bytes;
    for (const int rank : plan.serving) bytes.push_back(written_by(job.processes[static_cast<std::size_t>(rank)]));
    return bytes;
}

}  // namespace

TEST_CASE("the forwarders write what the others save; it is committed, seen and read") {
    State state;
    const auto before = written_by_forwarders();
    MPI_Barrier(computing);
    auto session = open(computing, options_of("run", 2)).value();
    auto stream = state.describe(session);
    for (std::int64_t step = 1; step <= 4; ++step) {
        state.fill(step);
        CHECK(stream.save(step).value().kept);
    }
    stream.wait_committed(std::chrono::seconds(60)).value();
    const auto after = written_by_forwarders();
    // Two nodes of the job, each first assigned to another forwarder, have drained four steps.
    const auto all = 4 * 8 * numbers * state.ranks;
    for (std::size_t i = 0; i < after.size(); ++i) CHECK(after[i] - before[i] >= all / after.size());
    state.fill(0);
    auto restart = stream.newest().value();
    REQUIRE(restart);
    restart->read().value();
    CHECK(restart->step() == 4);
    CHECK(std::ranges::count(state.u, state.number(4)) == numbers);
    MPI_Barrier(computing);
    session.close().value();
    CHECK(std::filesystem::exists(folder + "/run/restart/step-000004.h5"));
    CHECK_FALSE(std::filesystem::exists(folder + "/run/restart/step-000002"));
}

TEST_CASE("a second run of the same job") {
    State state;
    auto session = open(computing, options_of("other", 1)).value();
    auto stream = state.describe(session);
    state.fill(7);
    CHECK(stream.save(7).value().kept);
    session.close().value();
    CHECK(std::filesystem::exists(folder + "/other/restart/step-000007"));
}

TEST_CASE("a second dedicate() is refused") {
    const auto again = dedicate(computing, options_of("run", 1));
    REQUIRE_FALSE(again);
    CHECK(again.error().kind == ErrorKind::refused);
}

namespace {

// Leaves the session without close(). Its agent needs seconds, and the forwarders wait for it.
void leave_sealed() {
    State state;
    auto options = options_of("left", 1);
    options.agent.rate_bytes_per_second = 8 * numbers;
    options.agent.block_bytes = 1u << 16;
    auto session = open(computing, options).value();
    auto stream = state.describe(session);
    state.fill(99);
    stream.save(99).value();
}

bool is_left_committed() {
    return test::soon(
        [] {
            const auto snapshots = catalog::snapshots(sys::posix_store(), folder + "/left", "restart");
            return snapshots && snapshots->size() == 1 && snapshots->front().step == 99 &&
                   catalog::verify(sys::posix_store(), snapshots->front(), {}).value().damage.empty();
        },
        std::chrono::seconds(60));
}

bool refuses_too_many() {
    auto options = options_of("run", hosts);
    options.agent.forwarders = hosts;
    const auto refused = dedicate(MPI_COMM_WORLD, options);
    return !refused && refused.error().kind == ErrorKind::refused &&
           refused.error().text().find("to compute") != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
    const auto outlives = [] { return plan.mode != AgentMode::thread; };  // a thread ends with its session
    return test::mpi_main_with(argc, argv, job,
                               {.plan = [](int ranks) { plan = plans.at(ranks); },
                                .refuses = refuses_too_many,
                                .options = [] { return options_of("run", hosts); },
                                .computes = [](int rank) { return std::ranges::count(plan.computing, rank) == 1; },
                                .at_end =
                                    [&] {
                                        if (outlives()) leave_sealed();
                                    },
                                .is_good_afterwards = [&] { return !outlives() || is_left_committed(); }});
}
