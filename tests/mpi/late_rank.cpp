// An application that counts the outcomes of its saves, to compare them with a report. On request one rank stops in a
// save, between its copy and its record of the time.
//
//   late_rank RUN STAGING OUT [saves=N] [policy=wait|skip|newest_only] [rate=BYTES_PER_SECOND] [pause_ms=N]
//             [stop_rank=R stop_step=S]
//
// Each rank writes OUT.RANK: its process id, and the result of each save.

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "forebay/mpi.hpp"

namespace {

bool stops = false;

}  // namespace

// The last message of a save is the barrier of the node after the copies. The rank stops itself there.
extern "C" int MPI_Barrier(MPI_Comm comm) {
    const int result = PMPI_Barrier(comm);
    if (stops) raise(SIGSTOP);
    return result;
}

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::map<std::string, std::string> given{{"saves", "5"},    {"policy", "wait"},  {"rate", "0"},
                                             {"pause_ms", "0"}, {"stop_rank", "-1"}, {"stop_step", "0"}};
    for (int i = 4; i < count; ++i) {
        const std::string text = arguments[i];
        given[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
    }
    const auto number = [&](const char* name) { return std::atoi(given[name].c_str()); };
    forebay::Options options{.run = arguments[1], .staging = arguments[2]};
    options.agent.linger = std::chrono::milliseconds(0);
    options.agent.rate_bytes_per_second = static_cast<std::uint64_t>(number("rate"));
    const auto policy = given["policy"] == "skip"          ? forebay::Policy::skip
                        : given["policy"] == "newest_only" ? forebay::Policy::newest_only
                                                           : forebay::Policy::wait;
    std::ofstream out(arguments[3] + ("." + std::to_string(rank)));
    out << "process " << getpid() << std::endl;
    {
        const std::uint64_t cells = 1u << 15;
        std::vector<double> u(cells, rank);
        auto session = forebay::open(MPI_COMM_WORLD, options).value();
        auto stream = session.stream("restart", {.slots = 1, .policy = policy, .keep = 100, .view = false}).value();
        stream
            .array("u", forebay::f64, {cells * static_cast<std::uint64_t>(ranks)},
                   {forebay::packed({{cells * static_cast<std::uint64_t>(rank)}, {cells}}, u.data())})
            .value();
        for (std::int64_t step = 1; step <= number("saves"); ++step) {
            // The last save must be kept: its batch reports the earlier saves that were not kept.
            if (step == number("saves")) stream.wait_committed(std::chrono::minutes(5)).value();
            std::this_thread::sleep_for(std::chrono::milliseconds(number("pause_ms")));
            stops = rank == number("stop_rank") && step == number("stop_step");
            const auto saved = stream.save(step).value();
            stops = false;
            out << (saved.kept ? "kept " : "skipped ") << step << " " << saved.replaced << " "
                << static_cast<long long>(saved.blocked_seconds * 1e6 + 0.5) << std::endl;
        }
        session.close().value();
    }
    MPI_Finalize();
    return 0;
}
