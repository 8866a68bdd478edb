#include "bench/load.hpp"

#include <array>

#include "core/sys/clock.hpp"

namespace forebay::bench {

namespace {

constexpr std::size_t lanes = 32;
constexpr int compute_steps = 100'000;
// Three arrays of 64 MiB: larger than any core's own cache.
constexpr std::size_t memory_doubles = 8u << 20;
constexpr std::size_t memory_round_doubles = 256u << 10;

}  // namespace

LoadLoop::LoadLoop(Load load) : load_(load) {
    if (load == Load::memory) {
        a_.assign(memory_doubles, 1.0);
        b_.assign(memory_doubles, 2.0);
        c_.assign(memory_doubles, 3.0);
    } else {
        a_.assign(lanes, 1.0);
    }
}

void LoadLoop::compute() {
    std::array<double, lanes> x{};
    for (std::size_t i = 0; i < lanes; ++i) x[i] = a_[i];
    for (int step = 0; step < compute_steps; ++step)
        for (auto& value : x) value = value * 0.999999 + 1e-6;
    for (std::size_t i = 0; i < lanes; ++i) a_[i] = x[i];
}

void LoadLoop::move() {
    for (std::size_t i = at_; i < at_ + memory_round_doubles; ++i) a_[i] = b_[i] + 0.5 * c_[i];
    at_ = (at_ + memory_round_doubles) % memory_doubles;
}

void LoadLoop::round() {
    if (load_ == Load::compute) compute();
    else move();
}

double LoadLoop::rate(const std::function<bool()>& goes_on) {
    const auto start = sys::Clock::now();
    std::size_t rounds = 0;
    do {
        round();
        ++rounds;
    } while (goes_on());
    return static_cast<double>(rounds) / std::chrono::duration<double>(sys::Clock::now() - start).count();
}

}  // namespace forebay::bench
