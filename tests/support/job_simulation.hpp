// A simulation for the tests of `forebay job`, of one rank or of several ranks under MPI:
//
//     job_simulation RUN STAGING STEPS BYTES RATE END
//
// It goes on from the newest snapshot, saves STEPS steps of BYTES bytes a rank without a pause, and ends: "close",
// "crash", "hog" (it takes memory until it is killed) or "wait" (until it is killed). Its agents drain RATE bytes a
// second; 0: at full speed.

#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "forebay/forebay.hpp"

namespace forebay::test {

inline void end_as(const std::string& ending) {
    if (ending == "crash") std::raise(SIGSEGV);
    std::vector<std::vector<char>> hog;
    while (ending == "hog") hog.emplace_back(std::size_t{16} << 20, '1');
    while (ending == "wait") std::this_thread::sleep_for(std::chrono::seconds(1));
}

inline void simulate(Session session, char** arguments, std::uint64_t rank, std::uint64_t ranks) {
    const auto steps = std::atoi(arguments[3]);
    const auto elements = std::strtoull(arguments[4], nullptr, 10) / sizeof(double);
    StreamOptions options;
    options.slots = 2;
    options.view = false;
    options.keep = 100;
    options.rate_bytes_per_second = std::strtoull(arguments[5], nullptr, 10);
    auto stream = session.stream("restart", options).value();
    std::int64_t step = 0;
    std::vector<double> data(elements, 1.0);
    stream.replicated("step", &step).value();
    stream.array("u", f64, {elements * ranks}, {packed({{elements * rank}, {elements}}, data.data())}).value();
    stream.restore().value();
    if (rank == 0) std::printf("begins after step %lld\n", static_cast<long long>(step));
    for (const auto last = step + steps; step < last;) {
        ++step;
        for (auto& value : data) value = static_cast<double>(step);
        stream.save(step).value();
        if (rank == 0) std::printf("saved step %lld\n", static_cast<long long>(step));
        std::fflush(stdout);
    }
    end_as(arguments[6]);
    session.close().value();
}

/// The exit code of a program around simulate().
inline int run_simulation(int count, const std::function<void()>& work) {
    constexpr int arguments = 7;
    if (count != arguments) {
        std::fprintf(stderr, "usage: job_simulation RUN STAGING STEPS BYTES RATE END\n");
        return 2;
    }
    try {
        work();
        return 0;
    } catch (const Exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

}  // namespace forebay::test
