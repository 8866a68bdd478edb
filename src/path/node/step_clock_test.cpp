// Goal: the clock gives means of whole steps, each of one kind and without the time of saves; without calls of job()
// the time between saves of one stream.

#include "path/node/step_clock.hpp"
#include "core/sys/clock.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

using namespace forebay;
using namespace forebay::node;
using namespace std::chrono_literals;

namespace {

struct Node {
    const std::unique_ptr<Control> page = std::make_unique<Control>();
    StepClock clock;
    sys::Clock::time_point now = sys::Clock::time_point(1000s);
    std::uint64_t seen = 0;

    void step(std::chrono::milliseconds took) { clock.step(*page, now += took); }
    void save(std::uint32_t stream, std::chrono::milliseconds before, std::chrono::milliseconds took) {
        clock.leave(*page, now += before, stream);
        clock.come_back(*page, now += took);
    }
    struct Told {
        std::int64_t ms;
        bool draining;
        friend bool operator==(const Told&, const Told&) = default;
    };
    std::vector<Told> told() {
        std::vector<Told> all;
        while (const auto sample = next_sample(*page, seen))
            all.push_back(
                {std::chrono::duration_cast<std::chrono::milliseconds>(sample->step).count(), sample->draining});
        return all;
    }
};

using Told = std::vector<Node::Told>;

}  // namespace

TEST_CASE("short steps are told together, as their mean; long ones one by one") {
    Node node;
    node.step(0ms);
    for (int i = 0; i < 6; ++i) node.step(40ms);
    CHECK(node.told() == Told{{40, false}, {40, false}});
    CHECK(node.page->counts.steps_counted == 6);
    node.step(700ms);
    CHECK(node.told() == Told{{700, false}});
}

TEST_CASE("what the agent began or ended within is not told, what it did throughout is") {
    Node node;
    node.step(0ms);
    node.step(60ms);
    ++node.page->moving;
    node.step(60ms);  // mixed with the step before
    node.step(150ms);
    ++node.page->moving;
    ++node.page->moving;  // paused for a moment
    node.step(150ms);
    ++node.page->moving;
    node.step(150ms);
    node.step(120ms);
    CHECK(node.told() == Told{{150, true}, {120, false}});
    CHECK(node.page->counts.steps_counted == 2);
}

TEST_CASE("saves and waits are no part of a step") {
    Node node;
    node.step(0ms);
    node.save(0, 100ms, 5000ms);
    node.save(1, 10ms, 400ms);
    node.step(20ms);
    node.clock.leave(*node.page, node.now += 30ms);
    node.clock.come_back(*node.page, node.now += 9000ms);
    node.step(80ms);
    CHECK(node.told() == Told{{130, false}, {110, false}});
}

TEST_CASE("without job(): between saves of the stream that was saved first, until job() is called") {
    Node node;
    node.save(3, 9000ms, 10ms);
    node.save(5, 200ms, 1000ms);
    node.save(3, 300ms, 10ms);
    node.save(3, 600ms, 10ms);
    CHECK(node.told() == Told{{500, false}, {600, false}});
    node.step(250ms);  // begins to count
    node.save(3, 110ms, 10ms);
    node.step(0ms);
    CHECK(node.told() == Told{{110, false}});
}

TEST_CASE("an agent that looks too seldom gets the newest samples") {
    Node node;
    node.step(0ms);
    for (int i = 0; i < 100; ++i) node.step(std::chrono::milliseconds(100 + i));
    const auto samples = node.told();
    CHECK(samples.size() == step_samples_max);
    CHECK(samples.back() == Node::Told{199, false});
    CHECK(samples.front() == Node::Told{136, false});
    CHECK(node.told().empty());
}
