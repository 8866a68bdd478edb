// Makes a run for browser_test.py. Call: make_page_run RUN WHAT [EDGE]
//
//   run        snapshots of particles and of a field of EDGE^3 elements (64 by default). The agent makes a slice and
//              statistics. Records of 90 nodes and 24 targets: one node and one target are slow.
//   live, silent, finished     status lines of these nodes
//   hostile    status lines and records with markup, line feeds and escapes of terminals in names

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numbers>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "forebay/forebay.hpp"
#include "support/made_chronicle.hpp"

using namespace forebay;

namespace {

constexpr std::uint32_t made_nodes = 90;
constexpr std::uint64_t particle_count = 20'000;
constexpr std::uint64_t wide_planes = 16, wide_edge = 512;

Options options_of(const std::string& run) {
    StreamOptions stream;
    stream.keep = 3;
    stream.insitu = {{.name = "map", .kind = Analysis::Kind::slice, .variables = {"fields/temperature"}, .pixels = 256},
                     {.name = "numbers", .kind = Analysis::Kind::statistics, .variables = {"fields/temperature"}}};
    return {.run = run, .streams = {{"state", stream}}};
}

Result<> save_fields(const std::string& run, std::uint64_t edge) {
    std::vector<float> temperature(edge * edge * edge);
    std::vector<float> wide(wide_planes * wide_edge * wide_edge);
    std::vector<double> x(particle_count), y(particle_count);
    FB_TRY_ASSIGN(session, Session::open(options_of(run)));
    FB_TRY_ASSIGN(stream, session.stream("state"));
    FB_TRY(stream.array("fields/temperature", f32, {edge, edge, edge},
                        {packed({{0, 0, 0}, {edge, edge, edge}}, temperature.data())},
                        {.unit = "K", .dimensions = {"z", "y", "x"}}));
    FB_TRY(stream.array("fields/wide", f32, {wide_planes, wide_edge, wide_edge},
                        {packed({{0, 0, 0}, {wide_planes, wide_edge, wide_edge}}, wide.data())}, {.unit = "m s-1"}));
    FB_TRY_ASSIGN(gas, stream.particles("gas", {{"x", f64, {.unit = "m"}}, {"y", f64, {.unit = "m"}}}));
    FB_TRY(gas.bind(particle_count, {{x.data()}, {y.data()}}));
    for (std::int64_t step = 100; step <= 400; step += 100) {
        const auto phase = static_cast<double>(step) * 0.01;
        for (std::uint64_t i = 0; i < temperature.size(); ++i) {
            const auto at = [&](std::uint64_t index) {
                return 2 * std::numbers::pi * static_cast<double>(index) / static_cast<double>(edge);
            };
            temperature[i] =
                static_cast<float>(300 + 20 * std::sin(at(i % edge) + phase) * std::cos(at(i / edge % edge)) +
                                   10 * std::sin(2 * at(i / edge / edge)));
        }
        for (std::uint64_t i = 0; i < particle_count; ++i) {
            const auto angle = static_cast<double>(i) * 0.61803,
                       away = std::sqrt(static_cast<double>(i) / particle_count);
            x[i] = away * std::cos(angle + phase);
            y[i] = away * std::sin(angle);
        }
        for (std::uint64_t i = 0; i < wide.size(); ++i)
            wide[i] = static_cast<float>(std::sin(static_cast<double>(i % wide_edge) * 0.05 + phase) *
                                         std::cos(static_cast<double>(i / wide_edge) * 0.03));
        FB_TRY(stream.save(step, static_cast<double>(step) * 0.5));
        FB_TRY(stream.wait_committed(std::chrono::minutes(2)));
    }
    return session.close();
}

test::MadeRun made_run() {
    test::MadeRun run{.nodes = made_nodes, .snapshots = 12, .targets = 24, .slow_node = 7, .slow_target = 5};
    run.node_bytes = 256u << 20;
    run.slow_target_ratio = 0.2;
    run.begin_unix_ns = sys::unix_ns() - 1'000'000'000'000;
    run.stream = "state";
    return run;
}

std::vector<format::StatusLine> statuses(const std::string& state) {
    const auto now = sys::unix_ns();
    std::vector<format::StatusLine> lines;
    for (std::uint32_t node = 0; node < made_nodes; ++node) {
        format::StatusLine line{.unix_ns = now,
                                .period_seconds = 1e5,
                                .host = "nid" + std::to_string(10000 + node),
                                .virtual_node = "0",
                                .agent = "process",
                                .state = "serving"};
        line.session = 1;
        line.nodes = made_nodes;
        line.application_lives = state == "live" || state == "silent";
        line.began_unix_ns = now - 1'000'000'000'000;
        line.job_ends_unix_ns = now + 2'600'000'000'000;
        line.counts.backlog_bytes = state == "finished" ? 0 : 40u << 20;
        line.counts.bytes_drained = 3ull << 30;
        line.counts.rate_bytes_per_second = state == "finished" ? 0 : 38e6;
        if (state == "finished") line.state = "ended";
        if (state == "silent" && node == 3) {
            line.period_seconds = 2;
            line.unix_ns = now - 60'000'000'000;
            line.last_error = "write: the target is not there";
        }
        line.streams = {{"state",
                         {.newest_durable_step = 1200},
                         {{state == "finished" ? "committed" : "draining", 1200, 256u << 20, 128u << 20, now}}}};
        lines.push_back(line);
    }
    return lines;
}

void forget(const std::string& run, const std::string& begin) {
    for (const auto& entry : std::filesystem::directory_iterator(run + "/forebay"))
        if (entry.path().filename().string().starts_with(begin)) std::filesystem::remove(entry.path());
}

telemetry::Chronicle hostile() {
    const std::string name = "<img src=x onerror=\"window.forebay_hurt=1\">\x1b[2J\n</script>";
    auto run = made_run();
    run.nodes = 5;
    run.stream = name;
    auto chronicle = test::made_chronicle(run);
    for (auto& batch : chronicle.batches) {
        batch.why = {name};
        batch.targets.front().name = name;
        batch.agent = name;
    }
    for (std::size_t i = 0; i < 3; ++i) {
        auto line = statuses("live")[i];
        line.why = line.last_error = name;
        line.streams.front().name = name;
        line.agent = line.streams.front().slots.front().state = name;
        chronicle.statuses.push_back(line);
    }
    return chronicle;
}

Result<> make(const std::string& run, const std::string& what, std::uint64_t edge) {
    if (what == "run") {
        FB_TRY(save_fields(run, edge));
        forget(run, "timings-");
        forget(run, "status-");
        test::write_chronicle(test::made_chronicle(made_run()), run);
        return {};
    }
    if (what == "hostile") {
        test::write_chronicle(hostile(), run);
        return {};
    }
    test::write_chronicle({.run = run, .statuses = statuses(what)}, run);
    return {};
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3 || count > 4) return std::fputs("usage: make_page_run RUN WHAT [EDGE]\n", stderr), 2;
    const auto result = make(arguments[1], arguments[2], count > 3 ? std::strtoull(arguments[3], nullptr, 10) : 64);
    if (result) return 0;
    std::fprintf(stderr, "%s\n", result.error().text().c_str());
    return 1;
}
