// A job for tests of slow targets. Its nodes sleep instead of computing, and save the same bytes each step.
//
//     paced_job RUN STAGING NODES BYTES_OF_A_NODE STEPS STEP_MILLISECONDS BLOCK_BYTES
//
// Each node is a rank and an agent, both threads: the speed of the processors hardly matters.

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "support/sessions.hpp"

using namespace forebay;

namespace {

struct PacedJob {
    int nodes, steps;
    std::uint64_t bytes;
    std::chrono::milliseconds step;
};

void compute_and_save(Session& session, comm::Group& world, const PacedJob& job) {
    auto stream = session.stream("restart", {.view = false}).value();
    const auto elements = job.bytes / sizeof(double);
    std::vector<double> data(elements, 1.0 + world.rank());
    const auto begin = elements * static_cast<std::uint64_t>(world.rank());
    stream
        .array("u", f64, {elements * static_cast<std::uint64_t>(job.nodes)},
               {packed({{begin}, {elements}}, data.data())})
        .value();
    stream.prepare().value();
    for (int step = 0; step < job.steps; ++step) {
        std::this_thread::sleep_for(job.step);
        world.barrier();
        stream.save(step).value();
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 8) {
        std::fprintf(stderr, "paced_job RUN STAGING NODES BYTES_OF_A_NODE STEPS STEP_MILLISECONDS BLOCK_BYTES\n");
        return 2;
    }
    const PacedJob job{.nodes = std::atoi(arguments[3]),
                       .steps = std::atoi(arguments[5]),
                       .bytes = std::strtoull(arguments[4], nullptr, 10),
                       .step = std::chrono::milliseconds(std::atoi(arguments[6]))};
    Options options{.run = arguments[1], .staging = arguments[2]};
    options.virtual_nodes = job.nodes;
    options.agent.mode = AgentMode::thread;
    options.agent.block_bytes = std::strtoull(arguments[7], nullptr, 10);
    options.agent.in_flight = 1;
    test::with_session(job.nodes, options,
                       [&](Session& session, comm::Group& world) { compute_and_save(session, world, job); });
    return 0;
}
