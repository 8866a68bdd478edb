// A simulation for the tests of `forebay job`, of one rank, or as job_simulation_mpi of several ranks:
//
//     job_simulation RUN STAGING STEPS BYTES RATE END
//
// It goes on from the newest snapshot, saves STEPS steps of BYTES bytes a rank without a pause, and ends: "close",
// "crash", "hog" (it takes memory until it is killed) or "wait" (until it is killed). Its agents drain RATE bytes a
// second; 0: at full speed.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#ifdef FOREBAY_TEST_MPI
#include "forebay/mpi.hpp"
#else
#include "forebay/forebay.hpp"
#endif

namespace {

struct Ranks {
    std::uint64_t rank = 0, count = 1;
};

#ifdef FOREBAY_TEST_MPI
Ranks begin_ranks() {
    MPI_Init(nullptr, nullptr);
    int rank = 0, count = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    return {static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(count)};
}
void end_ranks() { MPI_Finalize(); }
forebay::Result<forebay::Session> open_session(const forebay::Options& options) {
    return forebay::open(MPI_COMM_WORLD, options);
}
#else
Ranks begin_ranks() { return {}; }
void end_ranks() {}
forebay::Result<forebay::Session> open_session(const forebay::Options& options) {
    return forebay::Session::open(options);
}
#endif

int simulate(char** arguments) {
    const auto steps = std::atoi(arguments[3]);
    const auto elements = std::strtoull(arguments[4], nullptr, 10) / sizeof(double);
    const std::string ending = arguments[6];
    const auto [rank, ranks] = begin_ranks();
    auto session = open_session({.run = arguments[1], .staging = arguments[2]}).value();
    forebay::StreamOptions options;
    options.slots = 2;
    options.view = false;
    options.keep = 100;
    options.rate_bytes_per_second = std::strtoull(arguments[5], nullptr, 10);
    auto stream = session.stream("restart", options).value();
    std::int64_t step = 0;
    std::vector<double> data(elements, 1.0);
    stream.replicated("step", &step).value();
    stream.array("u", forebay::f64, {elements * ranks}, {forebay::packed({{elements * rank}, {elements}}, data.data())})
        .value();
    stream.restore().value();
    if (rank == 0) std::printf("begins after step %lld\n", static_cast<long long>(step));
    for (const auto last = step + steps; step < last;) {
        ++step;
        for (auto& value : data) value = static_cast<double>(step);
        stream.save(step).value();
        if (rank == 0) std::printf("saved step %lld\n", static_cast<long long>(step));
        std::fflush(stdout);
    }
    if (ending == "crash") std::raise(SIGSEGV);
    std::vector<std::vector<char>> hog;
    while (ending == "hog") hog.emplace_back(std::size_t{16} << 20, '1');
    while (ending == "wait") std::this_thread::sleep_for(std::chrono::seconds(1));
    session.close().value();
    end_ranks();
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 7) {
        std::fprintf(stderr, "usage: job_simulation RUN STAGING STEPS BYTES RATE END\n");
        return 2;
    }
    try {
        return simulate(arguments);
    } catch (const forebay::Exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
