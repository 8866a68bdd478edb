// The verbs of forebay-mpi: under mpiexec `forebay bench` measures save, drain, pace, restart and plan against their
// limits.

#include "bench/bench.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "bench/job.hpp"
#include "bench/table.hpp"
#include "core/base/try.hpp"
#include "core/terminal/command_line.hpp"

namespace forebay::bench {

using cli::CommandLine;
using cli::Exit;
using cli::Verb;

namespace {

using Bench = Result<> (*)(Ranks&, const BenchOptions&);

constexpr const char* json_keys =
    "  An object: bench, the settings, ratio (achieved rate / rate of the limit) with its quartiles, goal, and\n"
    "  measured: for each row of the table unit, median, min, max, lower_quartile, upper_quartile, samples,\n"
    "  bytes and bytes_per_second.\n";

Result<> check(const BenchOptions& options) {
    const auto at_least = [](const char* option, auto value, auto least) -> Result<> {
        if (std::cmp_greater_equal(value, least)) return {};
        return Error{ErrorKind::refused, fmt::format("{} must be {} or more, not {}.", option, least, value)};
    };
    FB_TRY(at_least("--repeats", options.repeats, 1));
    FB_TRY(at_least("--bytes-per-rank", options.bytes_per_rank, std::uint64_t{BenchTable::row_bytes}));
    FB_TRY(at_least("--variables", options.variables, 0));
    FB_TRY(at_least("--from", options.from, 0));
    return {};
}

Result<Exit> run(Bench bench, const BenchOptions& options) {
    FB_TRY(check(options));
    return in_job(options.bytes_per_rank, [&](Ranks& ranks) { return bench(ranks, options); });
}

// The action keeps the options alive, because the verb refers to them.
void add_common(Verb& verb, const std::shared_ptr<BenchOptions>& options, Bench bench) {
    verb.option("--repeats", options->repeats, "Measurements, after a first one");
    verb.json(options->json, json_keys);
    verb.action([bench, options] { return run(bench, *options); });
}

void add_places(Verb& verb, BenchOptions& options) {
    verb.bytes("--bytes-per-rank", options.bytes_per_rank,
               "Bytes of each rank, in HACC's columns of 38 bytes a particle");
    verb.option("--run", options.run,
                "Directory on the storage to measure ($TMPDIR or /var/tmp); what is made in it is removed at the end");
    verb.option("--staging", options.staging, "Directory on the node, likewise (/dev/shm)");
}

void add_copy_threads(Verb& verb, BenchOptions& options) {
    verb.option("--copy-threads", options.copy_threads, "Threads of each rank that copy; 0: as the session finds");
}

void add_save(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    auto verb = bench.verb("save", "How long save() blocks, against memcpy of the same bytes by the same ranks");
    add_places(verb, *options);
    verb.option("--variables", options->variables,
                "So many small variables in place of --bytes-per-rank: plan and seal");
    add_copy_threads(verb, *options);
    add_common(verb, options, bench_save);
    verb.examples("  mpiexec -n 2 forebay bench save\n  mpiexec -n 2 forebay bench save --variables 300 --json\n");
}

void add_drain(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    auto verb =
        bench.verb("drain", "How fast what is sealed becomes durable, against raw synced writes; what it costs");
    add_places(verb, *options);
    verb.bytes("--block-bytes", options->block_bytes, "Bytes of one write of the agent");
    verb.option("--in-flight", options->in_flight, "Writes of the agent at once");
    add_common(verb, options, bench_drain);
    verb.examples("  mpiexec -n 2 forebay bench drain --run /scratch/me/bench\n");
}

void add_pace(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    auto verb = bench.verb("pace", "What drains cost a computing loop, without a limit and with slowdown_percent_max");
    add_places(verb, *options);
    verb.option("--slowdown-percent-max", options->slowdown_percent_max, "The limit");
    add_common(verb, options, bench_pace);
    verb.examples("  mpiexec -n 2 forebay bench pace --repeats 5\n");
}

void add_restart(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    auto verb = bench.verb("restart",
                           "How fast a snapshot comes back: staged, against memcpy; from storage, against raw reads");
    add_places(verb, *options);
    verb.option("--from", options->from, "Ranks that save, the first so many (all)");
    verb.option("--to", options->to, "Ranks that restart, as in 3,8; measured beside as many as saved");
    add_copy_threads(verb, *options);
    add_common(verb, options, bench_restart);
    verb.examples("  mpiexec -n 2 forebay bench restart\n  mpiexec -n 8 forebay bench restart --from 4 --to 3,8\n");
}

void add_timings(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    options->repeats = 15;
    auto verb = bench.verb("timings", "What keeping timings of saves and drains costs them");
    add_places(verb, *options);
    add_common(verb, options, bench_timings);
    verb.examples("  mpiexec -n 2 forebay bench timings\n");
}

void add_plan(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    options->variables = 300;
    auto verb = bench.verb(
        "plan", "What layouts, seals, manifests and restart plans cost at the size of a machine, without its data");
    verb.option("--variables", options->variables, "Half of them columns of a table, half 3-D arrays");
    verb.option("--ranks-per-node", options->ranks_per_node, "Ranks of each node");
    verb.option("--nodes", options->nodes, "Nodes in the manifest");
    add_common(verb, options, bench_plan);
    verb.examples("  forebay bench plan\n  forebay bench plan --nodes 100 --variables 2000\n");
}

void add_compress(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    auto verb = bench.verb("compress", "What each codec makes of a node file: size, and speed beside the codec alone");
    verb.argument("FILE", options->file, "A node file that is not compressed, RUN/STREAM/step-000120/node-00000.h5");
    verb.option("--error", options->error, "Also zfp with this largest absolute error of a value");
    verb.option("--staging", options->staging, "Where compressed files are written (/dev/shm)");
    add_common(verb, options, bench_compress);
    verb.examples("  forebay bench compress run7/restart/step-000120/node-00000.h5 --error 1e-4\n");
}

}  // namespace

void add_bench(CommandLine& line) {
    auto bench = line.verb(
        "bench", "Measure ways to storage by free options, and saves, drains, restarts against this machine's limits");
    add_run(bench);
    add_save(bench);
    add_drain(bench);
    add_pace(bench);
    add_restart(bench);
    add_timings(bench);
    add_plan(bench);
    add_compress(bench);
    bench.examples("  mpiexec -n 2 forebay bench save\n");
}

}  // namespace forebay::bench
