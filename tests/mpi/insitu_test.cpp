// Goal: analyses find bit for bit the results of a later `forebay insitu`, with any kind of agent and any writer to the
// target. A snapshot without results is counted. No save waits for an analysis, with one slot or two.
// Method: the number of ranks decides the kind of agent and the number of forwarders. First the real worker runs, then
// a worker that never ends.
// ranks: 2 3 4 5 6

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <vector>

#include "forebay/mpi.hpp"
#include "support/insitu_results.hpp"
#include "support/mpi_dedicate.hpp"
#include "support/mpi_world.hpp"
#include "support/worker_script.hpp"

using namespace forebay;

namespace {

constexpr std::uint64_t rows = 40, columns = 100;  // of a rank
constexpr std::int64_t last_step = 6;

struct Plan {
    AgentMode mode;
    int forwarders;
    std::vector<int> computing;
};
// With forwarders there are three hosts of neighbouring ranks: 6 ranks are two a host; with 4 and 5 ranks the last host
// has one.
const std::map<int, Plan> plans{{2, {AgentMode::dedicated, 0, {0}}},
                                {3, {AgentMode::process, 1, {0, 1}}},
                                {4, {AgentMode::thread, 1, {0, 1, 2}}},
                                {5, {AgentMode::dedicated, 1, {0, 1, 2}}},
                                {6, {AgentMode::process, 2, {0, 1}}}};

test::DedicatedJob job;
const MPI_Comm& computing = job.computing;
Plan plan;

Options options_of(const std::string& run, int virtual_nodes = 1) {
    Options options{.run = job.folder + "/" + run, .staging = job.folder + "/memory"};
    options.virtual_nodes = virtual_nodes;
    options.agent.mode = plan.mode;
    options.agent.forwarders = plan.forwarders;
    options.agent.linger = std::chrono::milliseconds(0);
    return options;
}

constexpr const char* analyses = R"(
[streams.fields]
keep = 0
view = false
[streams.fields.insitu.means]
kind = "statistics"
variables = ["u"]
[streams.fields.insitu.rows]
kind = "statistics"
variables = ["u"]
by = 0
[streams.fields.insitu.sums]
kind = "projection"
variables = ["u"]
[streams.fields.insitu.counts]
kind = "histogram"
variables = ["u"]
)";

std::string configuration() {
    const auto path = job.folder + "/forebay.toml";
    if (test::rank_in(computing) == 0) std::ofstream(path) << analyses;
    MPI_Barrier(computing);
    return path;
}

struct State {
    std::vector<double> u = std::vector<double>(rows * columns);
    std::uint64_t rank = static_cast<std::uint64_t>(test::rank_in(computing)), ranks = plan.computing.size();

    Stream describe(Session& session, const StreamOptions& options) {
        auto stream = session.stream("fields", options).value();
        stream.array("u", f64, {rows * ranks, columns}, {packed({{rows * rank, 0}, {rows, columns}}, u.data())})
            .value();
        return stream;
    }
    void fill(std::int64_t step) {
        for (std::size_t i = 0; i < u.size(); ++i)
            u[i] =
                static_cast<double>((i * 2654435761U + 97 * rank + 31 * static_cast<std::uint64_t>(step)) % 1009) / 7;
    }
};

/// Saves all steps in order and returns the number that this node has not analysed.
std::uint64_t save_all(const Options& options, const StreamOptions& stream_options) {
    State state;
    auto session = open(computing, options).value();
    auto stream = state.describe(session, stream_options);
    for (std::int64_t step = 1; step <= last_step; ++step) {
        state.fill(step);
        CHECK(stream.save(step).value().kept);
    }
    session.close().value();
    // The agents analyse the rest of the session at its end, then free the staged snapshots.
    CHECK(test::soon([&] { return test::staged(options).empty(); }));
    MPI_Barrier(computing);
    return stream.counters().not_analysed;
}

}  // namespace

TEST_CASE("results are those of forebay insitu, and each snapshot has them or is counted") {
    const auto path = configuration();
    auto stream = load_options(path).value().streams.front().second;
    for (const int slots : {1, 2})
        for (const int nodes : {1, 2}) {
            CAPTURE(slots);
            CAPTURE(nodes);
            const auto run = "run-" + std::to_string(slots) + std::to_string(nodes);
            stream.slots = slots;
            const auto options = options_of(run, nodes);
            const auto not_analysed = static_cast<std::int64_t>(save_all(options, stream));
            const auto unseen = test::gathered(computing, {not_analysed});
            if (test::rank_in(computing) == 0) {
                const auto steps = static_cast<std::int64_t>(test::result_steps(options.run, "fields.means").size());
                // A step has results if all nodes have seen it. A step with results is sometimes counted as unseen too:
                // this occurred with one slot and an agent process.
                const bool one_node = nodes == 1 || plan.computing.size() == 1;
                CHECK(steps >= last_step - unseen.front() - (one_node ? 0 : unseen.back()));
                CHECK(test::result_steps(options.run, "fields.means").contains(last_step));
                const auto all = test::results_afterwards(path, options.run, "fields", job.folder);
                for (const auto& [name, bytes] : test::results_in(options.run, "fields"))
                    CHECK_MESSAGE(all.at(name) == bytes, name);
            }
            MPI_Barrier(computing);
        }
}

TEST_CASE("no save waits for a worker that never comes to an end; each snapshot that loses its lease is counted") {
    for (const int slots : {1, 2}) {
        CAPTURE(slots);
        // The worker keeps the last snapshots, one in each slot.
        const auto last_hung = std::to_string(last_step - slots);
        std::unique_ptr<test::WorkerScript> script;
        std::array<char, 512> program{};
        if (test::rank_in(computing) == 0) {
            script = std::make_unique<test::WorkerScript>("[ $step -le " + last_hung +
                                                          " ] && wait_for never; echo seen; echo made 1");
            script->program().copy(program.data(), program.size() - 1);
        }
        MPI_Bcast(program.data(), static_cast<int>(program.size()), MPI_CHAR, 0, computing);
        auto options = options_of("never-" + std::to_string(slots));
        options.agent.program = program.data();
        options.stall_wait = std::chrono::seconds(60);
        StreamOptions stream{.slots = slots, .policy = Policy::wait, .keep = 0, .view = false};
        stream.insitu = {test::every(1)};
        CHECK(save_all(options, stream) == static_cast<std::uint64_t>(last_step - slots));
        MPI_Barrier(computing);
    }
}

int main(int argc, char** argv) {
    return test::mpi_main_with(argc, argv, job,
                               {.plan = [](int ranks) { plan = plans.at(ranks); },
                                .refuses = [] { return true; },
                                .options = [] { return options_of("run", plan.forwarders > 0 ? 3 : 1); },
                                .computes = [](int rank) { return std::ranges::count(plan.computing, rank) == 1; }});
}
