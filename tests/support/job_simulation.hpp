// A simulation for the tests of `forebay job`, of one rank or of several ranks under MPI:
//
//     job_simulation RUN STAGING STEPS BYTES RATE END
//
// It goes on from the newest snapshot, saves STEPS steps of BYTES bytes in all without a pause, and ends: "close",
// "crash", "hog" (rank 0 takes memory until it is killed), "wait" (until it is killed), "leave" (without close()), or
// "job" (as Session::job() requires, also after SIGTERM, with a pause after each step). Its agents drain RATE bytes a
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

inline volatile std::sig_atomic_t term_came = 0;

// An agent writes its status each second. Only then can `forebay ls` name a snapshot that a killed agent held.
constexpr std::chrono::milliseconds before_end{1'500};

inline void end_as(const std::string& ending, std::uint64_t rank) {
    if (ending == "crash" || ending == "leave" || ending == "hog") std::this_thread::sleep_for(before_end);
    if (ending == "crash") std::raise(SIGSEGV);
    if (ending == "leave") std::_Exit(0);
    std::vector<std::vector<char>> hog;
    while (ending == "hog" && rank == 0) hog.emplace_back(std::size_t{16} << 20, '1');
    while (ending == "wait" || ending == "hog") std::this_thread::sleep_for(std::chrono::seconds(1));
}

inline void simulate(Session session, char** arguments, std::uint64_t rank, std::uint64_t ranks) {
    const auto steps = std::atoi(arguments[3]);
    const std::string ending = arguments[6];
    const bool asks_job = ending == "job";
    if (asks_job) std::signal(SIGTERM, [](int) { term_came = 1; });
    const auto elements = std::strtoull(arguments[4], nullptr, 10) / sizeof(double);
    StreamOptions options;
    options.slots = 2;
    options.view = false;
    options.keep = 100;
    options.rate_bytes_per_second = std::strtoull(arguments[5], nullptr, 10);
    auto stream = session.stream("restart", options).value();
    std::int64_t step = 0;
    const auto first = elements * rank / ranks, last_element = elements * (rank + 1) / ranks;
    std::vector<double> data(last_element - first, 1.0);
    stream.replicated("step", &step).value();
    stream.array("u", f64, {elements}, {packed({{first}, {data.size()}}, data.data())}).value();
    stream.restore().value();
    if (rank == 0) std::printf("begins after step %lld\n", static_cast<long long>(step));
    bool stops = false;
    for (const auto last = step + steps; step < last && !stops;) {
        ++step;
        if (asks_job) {
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
            stops = session.job(term_came != 0).value().stop;
        }
        for (auto& value : data) value = static_cast<double>(step);
        stream.save(step).value();
        if (rank == 0) std::printf("saved step %lld\n", static_cast<long long>(step));
        std::fflush(stdout);
    }
    end_as(ending, rank);
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
