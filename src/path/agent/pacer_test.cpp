// Goal: the pace settles below the limit for any cost of a drain, is not slower than needed, and never starves a drain
// that has to end. Method: a simulated simulation whose steps take longer the faster the drain moves bytes, sampled
// like the step clock. The pacer gets the reports of an agent, each 10 ms.

#include "path/agent/pacer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

using namespace forebay;
using agent::Pacer;

namespace {

constexpr double tick = 0.001;
constexpr int ticks_between_looks = 10;

struct World {
    double step_seconds = 0.05;
    double target_rate = 1e9;                // the rate of the storage
    std::function<double(double)> slowdown;  // of the computation, by the rate
    double noise = 0.01;                     // of a step, either way
    bool tells_steps = true;
    unsigned seed = 7;
};

struct Outcome {
    double seconds = 0, slowdown = 0, rate = 0;  // of one drain; the last two while bytes move
    double held_seconds = 0;
    bool overruled = false;
};

class Simulation {
public:
    Simulation(World world, Pacer& pacer) : world_(std::move(world)), pacer_(pacer) {}

    void compute(double seconds) {
        for (const double end = now_ + seconds; now_ < end;) advance(0);
    }

    Outcome drain(double bytes, double seconds_left, double give_up = 4000) {
        Outcome outcome;
        const double begin = now_;
        double done = 0, moving = 0, slowed = 0;
        Pacer::Answer answer;
        for (int look = 0; done < bytes && now_ - begin < give_up; ++look) {
            if (look % ticks_between_looks == 0)
                answer = pacer_.answer({now_, static_cast<std::uint64_t>(done),
                                        static_cast<std::uint64_t>(bytes - done), begin + seconds_left - now_});
            outcome.overruled |= answer.overruled;
            double rate = answer.bytes_per_second == 0 ? world_.target_rate
                                                       : std::min(answer.bytes_per_second, world_.target_rate);
            if (answer.hold) {
                rate = 0;
                outcome.held_seconds += tick;
            } else {
                moving += tick;
                slowed += tick * world_.slowdown(rate);
            }
            done += rate * tick;
            advance(rate);
        }
        outcome.seconds = now_ - begin;
        outcome.slowdown = slowed / moving;
        outcome.rate = done / moving;
        return outcome;
    }

private:
    void advance(double rate) {
        now_ += tick;
        const bool moves = rate > 0;
        mixed_ |= moves != moves_;
        progress_ += tick / (step_ * (1 + (moves ? world_.slowdown(rate) : 0)));
        for (; progress_ >= 1; --progress_) end_step(moves);
    }

    void end_step(bool moves) {
        step_ = world_.step_seconds * (1 + world_.noise * spread_(dice_));
        ++steps_;
        const double took = now_ - window_;
        if (!mixed_ && took < 0.1) return;
        if (!mixed_ && world_.tells_steps) {
            const std::chrono::duration<double> mean(took / steps_);
            pacer_.take({std::chrono::duration_cast<std::chrono::nanoseconds>(mean), moves});
        }
        window_ = now_;
        steps_ = 0;
        mixed_ = false;
        moves_ = moves;
    }

    World world_;
    Pacer& pacer_;
    double now_ = 100, window_ = 100, progress_ = 0, step_ = 0.05;
    int steps_ = 0;
    bool mixed_ = false, moves_ = false;
    std::mt19937 dice_{world_.seed};
    std::uniform_real_distribution<double> spread_{-1, 1};
};

constexpr double endless = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("settles below the limit, at no less than a third of the rate that would meet it") {
    // Linear, with a threshold, and with a slowdown at any rate.
    const std::function<double(double)> shapes[] = {
        [](double rate) { return 0.4 * rate / 1e9; },
        [](double rate) { return std::max(0.0, rate - 2e8) / 1e9; },
        [](double rate) { return rate > 0 ? 0.015 + 0.2 * rate / 1e9 : 0; },
    };
    for (const auto& shape : shapes) {
        double best = 1e6;  // the rate that would meet the limit
        while (shape(best) < 0.05) best *= 1.01;
        for (const double step_seconds : {0.011, 0.12, 0.9}) {
            CAPTURE(best);
            CAPTURE(step_seconds);
            Pacer pacer(5);
            Simulation simulation({.step_seconds = step_seconds, .slowdown = shape}, pacer);
            simulation.compute(10 * std::max(step_seconds, 0.1));
            simulation.drain(30 * best * std::max(1.0, step_seconds * 5), endless);
            for (int drain = 0; drain < 3; ++drain) {
                simulation.compute(5 * std::max(step_seconds, 0.1));
                const auto outcome = simulation.drain(10 * best * std::max(1.0, step_seconds * 5), endless);
                CHECK(outcome.slowdown < 0.05);
                CHECK(outcome.rate > best / 3);
                CHECK_FALSE(outcome.overruled);
            }
        }
    }
}

TEST_CASE("a drain that disturbs nobody goes as fast as the target takes it") {
    Pacer pacer(5);
    Simulation simulation({.slowdown = [](double rate) { return 0.01 * rate / 1e9; }}, pacer);
    simulation.compute(1);
    simulation.drain(20e9, endless);
    CHECK(simulation.drain(10e9, endless).rate > 0.95e9);
}

TEST_CASE("a drain that must end ends in time, and says that the limit was overruled") {
    Pacer pacer(5);
    Simulation simulation({.slowdown = [](double rate) { return 0.4 * rate / 1e9; }}, pacer);
    simulation.compute(2);
    simulation.drain(1e9, endless);
    const auto hurried = simulation.drain(4e9, 10);  // 400 MB/s: 16 %
    CHECK(hurried.overruled);
    CHECK(hurried.seconds < 10);
    const auto calm = simulation.drain(4e9, 200);
    CHECK_FALSE(calm.overruled);
    CHECK(calm.slowdown < 0.05);
    CHECK(calm.seconds < 200);
    const auto late = simulation.drain(2e9, -1);
    CHECK(late.overruled);
    CHECK(late.rate > 0.99e9);
}

TEST_CASE("computing that is slow for another reason starves no drain") {
    Pacer pacer(5);
    Simulation simulation({.slowdown = [](double rate) { return rate > 0 ? 0.3 : 0; }}, pacer);
    simulation.compute(2);
    CHECK(simulation.drain(4e9, 100).seconds < 100);
    CHECK(simulation.drain(1e8, endless).seconds < 130);  // at the lowest rate
}

TEST_CASE("without a step that it knows undisturbed, it holds back until it has seen some, and not for ever") {
    Pacer pacer(5);
    Simulation simulation({.slowdown = [](double rate) { return 0.4 * rate / 1e9; }}, pacer);
    simulation.compute(0.15);  // one step is reported
    const auto first = simulation.drain(2e9, endless);
    CHECK(first.held_seconds > 0.2);
    CHECK(first.held_seconds < 2);
    CHECK(pacer.slowdown_percent().has_value());

    Pacer blind(5);
    Simulation silent({.slowdown = [](double) { return 0.2; }, .tells_steps = false}, blind);
    const auto unknown = silent.drain(64e7, endless);
    CHECK(unknown.held_seconds == 0);
    CHECK(unknown.seconds < 11);
    CHECK_FALSE(blind.slowdown_percent().has_value());

    Pacer slow(5);
    Simulation minutes({.step_seconds = 60, .slowdown = [](double) { return 0.2; }}, slow);
    minutes.compute(70);
    CHECK(minutes.drain(64e7, endless).held_seconds <= 20.1);

    Pacer late(5);
    Simulation hurried({.step_seconds = 1, .slowdown = [](double) { return 0.2; }}, late);
    hurried.compute(2.5);
    CHECK(hurried.drain(64e7, 12).held_seconds == 0);  // no time to lose
}

TEST_CASE("a simulation that becomes slower by itself is measured again") {
    Pacer pacer(5);
    World world{.slowdown = [](double rate) { return 0.4 * rate / 1e9; }};
    Simulation before(world, pacer);
    before.compute(5);
    before.drain(3e9, endless);
    world.step_seconds = 0.08;
    Simulation after(world, pacer);  // from now on it drains without a pause
    after.drain(3e9, endless);
    const auto settled = after.drain(3e9, endless);
    CHECK(settled.rate > 0.06e9);
    CHECK(settled.slowdown < 0.05);
}

TEST_CASE("without a limit it measures and never limits") {
    Pacer pacer(0);
    Simulation simulation({.slowdown = [](double rate) { return 0.4 * rate / 1e9; }}, pacer);
    simulation.compute(2);
    const auto outcome = simulation.drain(5e9, 1);
    CHECK(outcome.rate > 0.99e9);
    CHECK(outcome.held_seconds == 0);
    CHECK_FALSE(outcome.overruled);
    CHECK(pacer.slowdown_percent().value() == doctest::Approx(40).epsilon(0.1));
}

TEST_CASE("a machine whose steps differ by more than the limit gets more samples, not a rate near zero") {
    // Over 14 simulations with different noise. If always five samples decide, the rate is 0.05e9 on average.
    double rate = 0, slowdown = 0;
    for (unsigned seed = 1; seed <= 14; ++seed) {
        Pacer pacer(5);
        Simulation simulation({.slowdown = [](double r) { return 0.4 * r / 1e9; }, .noise = 0.3, .seed = seed}, pacer);
        simulation.compute(5);
        simulation.drain(3e9, endless);
        const auto settled = simulation.drain(3e9, endless);
        rate += settled.rate / 14;
        slowdown += settled.slowdown / 14;
    }
    CHECK(rate > 0.062e9);
    CHECK(slowdown < 0.05);
}

TEST_CASE("the median of the last so many") {
    agent::Recent recent(3);
    for (const double value : {100.0, 1.0, 2.0, 9.0}) recent.add(value);
    CHECK(recent.count() == 3);
    CHECK(recent.median() == 2);
    CHECK(recent.error() == doctest::Approx(1.858 * 1 / 2 / std::sqrt(3.0)));
    recent.clear();
    recent.add(4);
    recent.add(8);
    CHECK(recent.median() == 6);
}
