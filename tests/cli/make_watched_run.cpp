// Makes the status files of a run for the scripts in this directory: make_watched_run RUN KIND [NODES]
//
// KIND: ended; left; live, with current times; hostile, with names that command terminals; old, two sessions of which
// the first used other nodes; statuses, only NODES status files.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "core/sys/clock.hpp"
#include "support/made_chronicle.hpp"

using namespace forebay;

namespace {

const std::string hostile =
    "x\x1b]0;owned\x07\xc2\x9b"
    "31m\xe2\x80\xae\n\"}<b>\\";

format::StatusLine status_of(const test::MadeRun& run, std::uint32_t node, std::int64_t unix_ns,
                             const std::string& state) {
    // A serving agent announces its next line. Here it is due in an hour, so that a reader has enough time.
    format::StatusLine line{.unix_ns = unix_ns, .period_seconds = state == "serving" ? 3600.0 : 1.0};
    line.host = "nid" + std::to_string(10000 + node);
    line.virtual_node = "0";
    line.agent = "process";
    line.state = state;
    line.session = 1;
    line.nodes = run.nodes;
    line.application_lives = state == "serving";
    line.began_unix_ns = run.begin_unix_ns;
    line.job_ends_unix_ns = state == "serving" ? unix_ns + 1'800'000'000'000 : 0;
    line.counts.drains = line.counts.commits = static_cast<std::uint64_t>(run.snapshots);
    line.counts.bytes_drained = line.counts.bytes_stored = run.node_bytes * line.counts.drains;
    line.counts.drain_seconds = 13;
    const auto step = std::int64_t{100} * run.snapshots;
    format::StreamStatus stream{.name = run.stream, .counts = {.newest_durable_step = step}};
    stream.slots.push_back({"committed", step, run.node_bytes, run.node_bytes, unix_ns});
    if (state != "ended") {
        const bool drains = state == "serving";
        stream.slots.push_back({drains ? "draining" : "failed", step + 100, run.node_bytes,
                                drains ? run.node_bytes / (node + 2) : 0, unix_ns});
        line.counts.backlog_bytes = run.node_bytes - stream.slots[1].drained_bytes;
        line.counts.rate_bytes_per_second = drains ? 4e8 / (node + 1) : 0;
        if (!drains) {
            line.counts.aborts = 3;
            line.last_error = "step " + std::to_string(step + 100) + " of stream 'restart' is NOT committed";
        }
    }
    line.streams.push_back(stream);
    return line;
}

void add_statuses(telemetry::Chronicle& chronicle, const test::MadeRun& run, std::int64_t unix_ns,
                  const std::string& state) {
    for (std::uint32_t node = 0; node < run.nodes; ++node)
        chronicle.statuses.push_back(status_of(run, node, unix_ns, state));
}

telemetry::Chronicle chronicle_of(const std::string& kind, test::MadeRun run) {
    if (kind == "live") run.begin_unix_ns = sys::unix_ns() - 60'000'000'000 * run.snapshots;
    const auto end = run.begin_unix_ns + 60'000'000'000 * run.snapshots;
    if (kind == "statuses") {
        telemetry::Chronicle chronicle;
        add_statuses(chronicle, run, sys::unix_ns(), "serving");
        return chronicle;
    }
    auto chronicle = test::made_chronicle(run);
    add_statuses(chronicle, run, end, kind == "live" ? "serving" : kind == "left" ? "left" : "ended");
    if (kind == "hostile") {
        for (auto& batch : chronicle.batches) {
            batch.stream = hostile;
            batch.why = {hostile};
            for (auto& target : batch.targets) target.name = hostile;
        }
        for (auto& status : chronicle.statuses) status.last_error = status.why = status.streams[0].name = hostile;
    }
    if (kind == "old") {
        for (auto& status : chronicle.statuses) status.session = 2;
        for (auto& batch : chronicle.batches) batch.session = 2;
        auto before = status_of(run, 99, run.begin_unix_ns, "serving");
        chronicle.statuses.push_back(before);
    }
    return chronicle;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3 || count > 4) return std::fputs("usage: make_watched_run RUN KIND [NODES]\n", stderr), 2;
    test::MadeRun run{.targets = 4, .interval_seconds = 60, .slow_node = 3, .noise = 0};
    if (count > 3) run.nodes = static_cast<std::uint32_t>(std::atoi(arguments[3]));
    test::write_chronicle(chronicle_of(arguments[2], run), arguments[1]);
    return 0;
}
