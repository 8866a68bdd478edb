// threads_bench FOLDER MIB COPY_THREADS SAVES: an application with OpenMP threads that saves, alone on its machine. Prints
// as JSON the seconds of its steps before a session is open and between saves of one, and those of the saves.
//
// A step is a hundred parallel regions of half a millisecond: where the threads of OpenMP spin at the end of each
// (OMP_WAIT_POLICY=active), whoever else takes a core delays them all. Between a save and its steps the agent drains, and
// sleeps again: what is left is what the session's own threads cost.

#include <fmt/format.h>
#include <omp.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "forebay/forebay.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int regions = 100, terms = 100'000;
constexpr int steps_each = 3;  // measured before the session, and after each save
constexpr std::chrono::minutes commit_max{10};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double step() {
    const auto start = Clock::now();
    double sum = 0;
    for (int region = 0; region < regions; ++region) {
#pragma omp parallel reduction(+ : sum)
        {
            double own = region + omp_get_thread_num();
            for (int i = 0; i < terms; ++i) own = std::sqrt(own + i);
            sum += own;
        }
    }
    if (std::isnan(sum)) std::abort();  // else nothing needs the sum, and it is not computed
    return seconds_since(start);
}

void measure(std::vector<double>& samples) {
    for (int i = 0; i < steps_each; ++i) samples.push_back(step());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fputs("usage: threads_bench FOLDER MIB COPY_THREADS SAVES\n", stderr);
        return 2;
    }
    std::vector<double> state(static_cast<std::size_t>(std::atoll(argv[2])) << 17, 1.0);
    const int saves = std::atoi(argv[4]);
    std::vector<double> alone, between, blocked;
    step();  // starts the threads
    measure(alone);
    auto session =
        forebay::Session::open({.run = std::string(argv[1]) + "/run", .copy_threads = std::atoi(argv[3])}).value();
    auto stream = session.stream("state", {.keep = 1, .view = false}).value();
    stream.array("u", forebay::f64, {state.size()}, {forebay::packed({{0}, {state.size()}}, state.data())}).value();
    stream.prepare().value();
    for (int save = 0; save < saves; ++save) {
        step();
        const auto saved = stream.save(save).value();
        blocked.push_back(saved.blocked_seconds);
        stream.wait_committed(commit_max).value();
        step();  // after a wait the first is slower, whoever has copied
        measure(between);
    }
    const auto threads = stream.counters().copy_threads;
    session.close().value();
    fmt::print(
        "{{\"bytes\": {}, \"omp_threads\": {}, \"copy_threads\": {}, \"alone\": [{}], \"between\": [{}], \"blocked\": "
        "[{}]}}\n",
        state.size() * sizeof(double), omp_get_max_threads(), threads, fmt::join(alone, ", "), fmt::join(between, ", "),
        fmt::join(blocked, ", "));
    return 0;
}
