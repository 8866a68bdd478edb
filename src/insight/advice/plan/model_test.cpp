// Goal: closed forms give published and simulated numbers, and the simulator agrees with them. Method: figures of
// HACC's and VPIC's runs; models of many kinds, each computed both ways.

#include "insight/advice/plan/model.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>

#include "insight/advice/plan/simulate.hpp"

namespace {

using namespace forebay;
using advice::Model;
using doctest::Approx;

// Frontier-E on Aurora: 8,100 nodes, 51.4 GB each at 29.3 GB/s into memory, 463 MB/s to DAOS, 360 s a step.
Model hacc() {
    return {.nodes = 8100,
            .node_bytes = 416.6e12 / 8100,
            .save_rate = 237.36e12 / 8100,
            .drain_rate = 416.6e12 / 111 / 8100,
            .read_rate = 7.57e12 / 8100,
            .step_seconds = 360,
            .steps = 500,
            .mtbf_seconds = 12 * 3600,
            .restart_seconds = 300};
}

void check_near(const std::string& what, double closed, double simulated, double share = 0.05) {
    INFO(what << ": closed " << closed << ", simulated " << simulated);
    CHECK(std::abs(closed - simulated) <= share * std::abs(simulated) + 1e-9);
}

struct Kind {
    const char* name;
    void (*change)(Model&);
};
const Kind kinds[] = {
    {"as published", [](Model&) {}},
    {"without failures", [](Model& m) { m.mtbf_seconds = 0; }},
    {"a failure in 3 hours", [](Model& m) { m.mtbf_seconds = 3 * 3600; }},
    {"half of the failures local",
     [](Model& m) {
         m.mtbf_seconds = 3 * 3600;
         m.local_restart_share = 0.5;
     }},
    {"nothing staged", [](Model& m) { m.slots = 0; }},
    {"nodes differ",
     [](Model& m) {
         m.drain_rate_cv = 0.1;
         m.save_rate_cv = 0.1;
         m.nodes = 1000;
     }},
    {"slow nodes",
     [](Model& m) {
         m.slow_node_share = 0.05;
         m.slow_node_ratio = 0.3;
         m.nodes = 1000;
     }},
    {"slow nodes, two slots",
     [](Model& m) {
         m.slow_node_share = 0.05;
         m.slow_node_ratio = 0.25;
         m.nodes = 1000;
         m.slots = 2;
     }},
    {"a slow target, each step", [](Model& m) { m.target_rate = 1e12; }},
    {"a slow target, two slots",
     [](Model& m) {
         m.target_rate = 1e12;
         m.slots = 2;
     }},
    {"a slow target, every second step",
     [](Model& m) {
         m.target_rate = 1.2e12;
         m.every = 2;
     }},
    {"a slow target, superseded",
     [](Model& m) {
         m.target_rate = 1e12;
         m.slots = 2;
         m.supersedes = true;
     }},
    {"computing is slower", [](Model& m) { m.agent_cost = 0.0667; }},
    {"targets differ",
     [](Model& m) {
         m.target_rate = 2e12;
         m.target_rate_cv = 0.1;
         m.targets = 144;
         m.variables = m.rendezvous = 8;
     }},
};

}  // namespace

TEST_CASE("quantiles of the normal distribution") {
    CHECK(advice::normal_quantile(0.5) == Approx(0).epsilon(1e-9));
    CHECK(advice::normal_quantile(0.975) == Approx(1.959963985).epsilon(1e-8));
    CHECK(advice::normal_quantile(1e-6) == Approx(-4.753424309).epsilon(1e-8));
    for (int quarters = -16; quarters <= 16; ++quarters) {
        const double z = quarters / 4.0;
        CHECK(advice::normal_quantile(std::erfc(-z / std::sqrt(2.0)) / 2) == Approx(z).epsilon(1e-7));
    }
}

TEST_CASE("the slowest of N, as simulated elsewhere: measured-tuning.md, 7.1") {
    CHECK(advice::slowest_of(144, 0.05) == Approx(1.14).epsilon(0.01));
    CHECK(advice::slowest_of(144, 0.1) == Approx(1.30).epsilon(0.01));
    CHECK(advice::slowest_of(144, 0.2) == Approx(1.70).epsilon(0.01));
    CHECK(advice::slowest_of(8100, 0.1) == Approx(1.46).epsilon(0.01));
    CHECK(advice::slowest_of(8100, 0.2) == Approx(2.14).epsilon(0.01));
    CHECK(advice::slowest_of(1, 0.2) == 1);
    CHECK(advice::slowest_of(8100, 0) == 1);
}

TEST_CASE("files that are placed at random, and in turn") {
    CHECK(advice::random_placement(20000, 156) == Approx(1.244).epsilon(0.01));
    CHECK(advice::random_placement(20000, 156, 2) == Approx(1.168).epsilon(0.01));
    CHECK(advice::even_placement(20000, 156) == Approx(1.006).epsilon(0.001));
    CHECK(advice::random_placement(20000, 156, 156) == Approx(1));
    CHECK(advice::random_placement(2000000, 156) == Approx(1.0239).epsilon(0.002));  // from the normal distribution
}

TEST_CASE("intervals and efficiency") {
    CHECK(advice::young_interval(1.76, 3 * 3600) == Approx(195).epsilon(0.01));
    CHECK(advice::daly_interval(1.76, 3 * 3600) == Approx(194).epsilon(0.01));
    CHECK(advice::daly_interval(1.76, 24 * 3600) == Approx(550).epsilon(0.01));
    CHECK(advice::daly_interval(10, 4) == 4);
    // Synchronous HACC at its best interval: 0.823, 0.882, 0.920, 0.945 for a failure in 3, 6, 12 and 24 hours.
    for (const auto& [hours, best] : {std::pair{3, 0.823}, {6, 0.882}, {12, 0.920}, {24, 0.945}}) {
        const double mtbf = hours * 3600.0, interval = advice::daly_interval(111, mtbf);
        CHECK(advice::daly_efficiency(interval, 111, 300 + 55, mtbf) == Approx(best).epsilon(0.016));
    }
    CHECK(advice::daly_efficiency(90, 10, 300, 0) == Approx(0.9));
}

TEST_CASE("HACC's run as it was published") {
    const auto prediction = advice::predict(hacc());
    CHECK(prediction.save_seconds == Approx(1.755).epsilon(0.002));
    CHECK(prediction.drain_seconds == Approx(111).epsilon(0.001));
    CHECK(prediction.hidden_ratio == Approx(0.984).epsilon(0.001));
    CHECK(prediction.slack == Approx(3.24).epsilon(0.002));
    CHECK(prediction.overhead_ratio == Approx(0.0049).epsilon(0.01));
    CHECK(prediction.forward_progress == Approx(0.977).epsilon(0.01));
    auto through = hacc();
    through.slots = 0;
    CHECK(advice::predict(through).overhead_ratio == Approx(0.309).epsilon(0.005));
}

TEST_CASE("VPIC's save: a rendezvous a variable against one") {
    Model vpic{.nodes = 5000, .node_bytes = 31.3e12 / 5000, .target_rate = 35e9, .target_rate_cv = 0.1, .targets = 144};
    vpic.slots = 0;
    vpic.variables = vpic.rendezvous = 8;
    const double each = advice::predict(vpic).visible_seconds;
    CHECK(each == Approx(1158).epsilon(0.05));
    vpic.rendezvous = 1;
    CHECK(each / advice::predict(vpic).visible_seconds == Approx(1.18).epsilon(0.01));
    vpic.slow_target_share = 12.0 / 144;
    vpic.slow_target_ratio = 0.5;
    CHECK(advice::predict(vpic).visible_seconds / (31.3e12 / 35e9) == Approx(2.11).epsilon(0.03));
}

TEST_CASE("levels: a cheap one takes the frequent failures, and one that does not pay is dropped") {
    const std::array<advice::ProtectionLevel, 2> both{{{.cost = 2, .rate = 1e-4}, {.cost = 100, .rate = 1e-6}}};
    const auto best = advice::best_levels(both);
    CHECK(best.periods[0] == Approx(std::sqrt(2 * 2 / 1e-4)));
    CHECK(best.periods[1] == Approx(std::sqrt(2 * 100 / 1e-6)));
    CHECK(best.overhead == Approx(std::sqrt(2 * 2 * 1e-4) + std::sqrt(2 * 100 * 1e-6)));
    const std::array<advice::ProtectionLevel, 2> dear{{{.cost = 99, .rate = 1e-6}, {.cost = 100, .rate = 1e-4}}};
    CHECK(advice::best_levels(dear).periods[0] == 0);
    CHECK(advice::best_levels(dear).overhead == Approx(std::sqrt(2 * 100 * 1.01e-4)));
}

TEST_CASE("closed forms and the simulator agree within 5 %") {
    const advice::Simulator simulator;
    for (const auto& kind : kinds) {
        auto model = hacc();
        kind.change(model);
        const auto prediction = advice::predict(model);
        model.steps = 3000;  // enough to average out chance
        const auto spread = simulator.runs(model, 8);
        check_near(std::string(kind.name) + ", progress", prediction.forward_progress, spread.middle.forward_progress,
                   0.02);
        check_near(std::string(kind.name) + ", visible", prediction.visible_seconds, spread.middle.visible_seconds);
        check_near(std::string(kind.name) + ", drain", prediction.drain_seconds, spread.middle.drain_seconds);
        if (model.mtbf_seconds > 0 && model.mtbf_seconds < 4 * 3600)
            check_near(std::string(kind.name) + ", lost work", prediction.lost_work_seconds,
                       spread.middle.lost_work_seconds / spread.middle.failures, 0.15);
    }
}

TEST_CASE("the simulator: what failures leave") {
    const advice::Simulator simulator;
    auto model = hacc();
    model.mtbf_seconds = 2 * 3600;
    model.steps = 2000;
    const auto progress = [&](auto&& change) {
        auto changed = model;
        change(changed);
        return simulator.runs(changed, 8).middle;
    };
    const auto plain = progress([](Model&) {});
    CHECK(plain.failures > 50);
    const auto local = progress([](Model& m) { m.local_restart_share = 1; });
    CHECK(local.lost_work_seconds / local.failures < plain.lost_work_seconds / plain.failures - 60);
    const auto partner = progress([](Model& m) { m.partner_rate = 10e9; });
    CHECK(partner.forward_progress > plain.forward_progress + 0.005);
    // A run that loses its file system with every tenth failure, without a copy, keeps little of its work.
    const auto lost = progress([](Model& m) { m.target_loss_share = 0.1; });
    const auto copied = progress([](Model& m) {
        m.target_loss_share = 0.1;
        m.copy_rate = 1e12;
        m.copy_every = 4;
    });
    CHECK(lost.forward_progress < 0.5);
    CHECK(copied.forward_progress > plain.forward_progress - 0.05);
    const auto hopeless = progress([](Model& m) { m.mtbf_seconds = 20; });  // a restart of 355 s never ends
    CHECK(hopeless.forward_progress < 0.01);
    CHECK(simulator.run(model, 7).wall_seconds == simulator.run(model, 7).wall_seconds);
    CHECK(simulator.run(model, 7).wall_seconds != simulator.run(model, 8).wall_seconds);
}
