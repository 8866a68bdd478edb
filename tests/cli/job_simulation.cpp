// A simulation of one rank for the tests of `forebay job`:
//
//     job_simulation RUN STAGING STEPS BYTES RATE END
//
// It goes on from the newest snapshot, saves STEPS steps of BYTES bytes without a pause, and ends: "close", "crash" or
// "wait" (until it is killed). Its agent drains RATE bytes a second; 0: at full speed.

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "forebay/forebay.hpp"

namespace {

int simulate(char** arguments) {
    const auto steps = std::atoi(arguments[3]);
    const auto elements = std::strtoull(arguments[4], nullptr, 10) / sizeof(double);
    const std::string ending = arguments[6];
    auto session = forebay::Session::open({.run = arguments[1], .staging = arguments[2]}).value();
    forebay::StreamOptions options;
    options.slots = 2;
    options.view = false;
    options.keep = 100;
    options.rate_bytes_per_second = std::strtoull(arguments[5], nullptr, 10);
    auto stream = session.stream("restart", options).value();
    std::int64_t step = 0;
    std::vector<double> data(elements, 1.0);
    stream.replicated("step", &step).value();
    stream.array("u", forebay::f64, {elements}, {forebay::packed({{0}, {elements}}, data.data())}).value();
    stream.restore().value();
    std::printf("begins after step %lld\n", static_cast<long long>(step));
    for (const auto last = step + steps; step < last;) {
        ++step;
        for (auto& value : data) value = static_cast<double>(step);
        stream.save(step).value();
        std::printf("saved step %lld\n", static_cast<long long>(step));
        std::fflush(stdout);
    }
    if (ending == "crash") std::raise(SIGSEGV);
    while (ending == "wait") std::this_thread::sleep_for(std::chrono::seconds(1));
    session.close().value();
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
