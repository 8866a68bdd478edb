// An agent over staged node files. Its analysis worker is a shell script.

#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "path/agent/insitu_station.hpp"
#include "support/agent_node.hpp"
#include "support/sim_store.hpp"
#include "support/worker_script.hpp"

namespace forebay::test {

/// A node whose worker is a script.
struct Site {
    explicit Site(const std::string& on_see) : worker(on_see) { node.session.agent.program = worker.program(); }

    void seal(std::int64_t step, const std::string& stream = "restart", std::int64_t steps = 1) {
        StreamOptions options{.slots = 2};
        if (steps > 0) options.insitu = {every(steps)};
        node.seal({.id = static_cast<std::uint64_t>(step), .step = step, .stream = stream}, options, sys::unix_ns(),
                  static_cast<std::size_t>(step % 2));
    }
    /// Runs an agent until `stop` is set, or until its work is done and the session ends.
    bool serve(const std::atomic<bool>& stop = std::atomic<bool>(false), bool ending = true) {
        node.page().ending = ending ? 1 : 0;
        return agent::Agent(disk, node.staging, node.session, {}, hear(),
                            [this](agent::Slots& slots) { return station(slots); })
            .run(stop, std::chrono::seconds(0));
    }
    std::vector<std::unique_ptr<agent::Station>> station(agent::Slots& slots) {
        std::vector<std::unique_ptr<agent::Station>> stations;
        stations.push_back(
            std::make_unique<agent::InsituStation>(slots, node.staging.directory(), node.session.agent, hear(), pace));
        return stations;
    }
    agent::Tell hear() {
        return [this](const agent::Event& event) {
            events.push_back(event);
            log += agent::line_of(event) + "\n";
        };
    }
    std::size_t count(agent::What what) const {
        return static_cast<std::size_t>(std::ranges::count(events, what, &agent::Event::what));
    }
    node::SlotControl& slot(std::size_t number = 0) { return node.page().slots[node.staging.slots_of(0).at(number)]; }
    std::uint64_t not_analysed() { return node.stream("restart").counts.not_analysed.load(); }

    WorkerScript worker;
    SimStore disk{"run"};
    Node node;
    agent::InsituPace pace = {.look = std::chrono::milliseconds(1), .taken_max = std::chrono::milliseconds(20)};
    std::vector<agent::Event> events;
    std::string log;
};

}  // namespace forebay::test
