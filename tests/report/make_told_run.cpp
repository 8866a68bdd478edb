// Makes the records of agents of a run, without snapshots. Call: make_told_run RUN [NAME=VALUE...]
//
//   nodes snapshots targets slow_node slow_target slow_node_ratio slow_target_ratio noise seed interval stream
//   node_rate node_bytes write_bytes    of tests/support/made_chronicle.hpp
//   hostile=1                 names with markup, line feeds and escapes of terminals
//   servers=N                 targets on N servers: "oss1/OST0003"
//   began=N                   agents begin N seconds before the first save. Another agent drains the last snapshot
//   mixed=1                   waiting saves, failed and superseded drains, missing nodes, different clocks

#include <cstdio>
#include <cstdlib>
#include <map>

#include "support/made_chronicle.hpp"

using namespace forebay;

namespace {

// The markup closes scripts, styles, tables and attributes. The escapes command terminals.
constexpr const char* hostile = "</script><img src=x onerror=alert(1)>'\"&amp;\n\x1b[2J\xe2\x80\xae\xff";

void mix(telemetry::Chronicle& chronicle) {
    constexpr std::int64_t second = 1'000'000'000;
    std::erase_if(chronicle.batches, [](const auto& batch) { return batch.step == 300 && batch.node == 1; });
    for (auto& batch : chronicle.batches) {
        if (batch.step == 200) {
            batch.wait_seconds = 3.5;
            batch.blocked_parts.slot_seconds = 3.5;
            batch.blocked_seconds += 3.5;
            batch.why = {"waited 3.50 s for a slot"};
        }
        if (batch.step == 300) batch.outcome = "superseded";
        if (batch.step == 400 && batch.node == 0) {
            batch.outcome = "failed";
            batch.drained_unix_ns = 0;
            batch.drain_seconds = 0;
            batch.retries = 5;
        }
        if (batch.step == 400 && batch.node != 0) batch.outcome = "set_aside";
        if (batch.node == 2) batch.saved_unix_ns += 7 * second;
        if (batch.step >= 600) batch.session = 2;
        if (batch.step == 700) batch.stream = "restart.halos";
        batch.slowdown_percent = 2.5 + batch.node;
        batch.slowdown_low_percent = 1;
        batch.slowdown_high_percent = 9;
        batch.slowdown_steps = batch.step < 500 ? 0 : 100;
    }
}

void name_servers(telemetry::Chronicle& chronicle, std::size_t servers) {
    for (auto& batch : chronicle.batches)
        for (std::size_t i = 0; i < batch.targets.size(); ++i)
            batch.targets[i].name =
                "oss" + std::to_string(i * servers / batch.targets.size()) + "/" + batch.targets[i].name;
}

void spoil(telemetry::Chronicle& chronicle) {
    for (auto& batch : chronicle.batches) {
        batch.stream = std::string(hostile) + "stream";
        batch.why = {std::string("because ") + hostile};
        for (auto& target : batch.targets) target.name += hostile;
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) return std::fputs("usage: make_told_run RUN [NAME=VALUE...]\n", stderr), 2;
    std::map<std::string, std::string> given;
    for (int i = 2; i < count; ++i) {
        const std::string text = arguments[i];
        const auto at = std::min(text.find('='), text.size() - 1);
        given[text.substr(0, at)] = text.substr(at + 1);
    }
    test::MadeRun run;
    const auto number = [&](const char* name, auto& value) {
        if (!given.contains(name)) return;
        value = static_cast<std::remove_reference_t<decltype(value)>>(std::atof(given.extract(name).mapped().c_str()));
    };
    number("nodes", run.nodes);
    number("snapshots", run.snapshots);
    number("targets", run.targets);
    number("slow_node", run.slow_node);
    number("slow_target", run.slow_target);
    number("slow_node_ratio", run.slow_node_ratio);
    number("slow_target_ratio", run.slow_target_ratio);
    number("noise", run.noise);
    number("seed", run.seed);
    number("interval", run.interval_seconds);
    number("node_rate", run.node_rate);
    number("node_bytes", run.node_bytes);
    number("write_bytes", run.write_bytes);
    bool mixed = false, is_hostile = false;
    std::int64_t began_seconds = 0;
    number("began", began_seconds);
    number("mixed", mixed);
    number("hostile", is_hostile);
    std::size_t servers = 0;
    number("servers", servers);
    if (given.contains("stream")) run.stream = given.extract("stream").mapped();
    for (const auto& [name, value] : given) return std::fprintf(stderr, "make_told_run: %s?\n", name.c_str()), 2;
    auto chronicle = test::made_chronicle(run);
    for (auto& batch : chronicle.batches) {
        if (began_seconds == 0) continue;
        const bool by_later_agent = batch.step == std::int64_t{100} * run.snapshots;
        batch.agent_began_unix_ns =
            by_later_agent ? batch.sealed_unix_ns + 1 : run.begin_unix_ns - 1'000'000'000 * began_seconds;
    }
    if (mixed) mix(chronicle);
    if (servers > 0) name_servers(chronicle, servers);
    if (is_hostile) spoil(chronicle);
    test::write_chronicle(chronicle, arguments[1]);
    return 0;
}
