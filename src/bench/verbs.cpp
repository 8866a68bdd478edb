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
    verb.option("--repeats", options->repeats, "Measure so many times, after a first time");
    verb.json(options->json, json_keys);
    verb.action([bench, options] { return run(bench, *options); });
}

void add_places(Verb& verb, BenchOptions& options) {
    verb.bytes("--bytes-per-rank", options.bytes_per_rank,
               "Save so many bytes on each rank, in HACC's columns of 38 bytes a particle");
    verb.option("--run", options.run,
                "Measure the storage of this directory ($TMPDIR or /var/tmp). Its new files are removed at the end");
    verb.option("--staging", options.staging, "Measure the node's memory in this directory (/dev/shm)");
}

void add_copy_threads(Verb& verb, BenchOptions& options) {
    verb.option("--copy-threads", options.copy_threads,
                "Copy with so many threads on each rank. 0: the choice of the session");
}

void add_save(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    auto verb =
        bench.verb("save", "Measure the time that save() blocks, against memcpy of the same bytes by the same ranks");
    add_places(verb, *options);
    verb.option("--variables", options->variables,
                "Save so many small variables instead of --bytes-per-rank: plan and seal");
    add_copy_threads(verb, *options);
    add_common(verb, options, bench_save);
    verb.examples("  mpiexec -n 2 forebay bench save\n  mpiexec -n 2 forebay bench save --variables 300 --json\n");
}

void add_drain(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    auto verb = bench.verb("drain", "Measure the rate and cost of drains, against raw synced writes");
    add_places(verb, *options);
    verb.bytes("--block-bytes", options->block_bytes, "Write so many bytes at a time in the agent");
    verb.option("--in-flight", options->in_flight, "Let the agent do so many writes at once");
    add_common(verb, options, bench_drain);
    verb.examples("  mpiexec -n 2 forebay bench drain --run /scratch/me/bench\n");
}

void add_pace(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    auto verb = bench.verb(
        "pace", "Measure the cost of drains to a computing loop, without a limit and with slowdown_percent_max");
    add_places(verb, *options);
    verb.option("--slowdown-percent-max", options->slowdown_percent_max, "Use this limit");
    add_common(verb, options, bench_pace);
    verb.examples("  mpiexec -n 2 forebay bench pace --repeats 5\n");
}

void add_restart(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    auto verb = bench.verb("restart",
                           "Measure restarts: from staged copies against memcpy, and from storage against raw reads");
    add_places(verb, *options);
    verb.option("--from", options->from, "Save with the first so many ranks (all)");
    verb.option("--to", options->to, "Restart on these numbers of ranks, as in 3,8, beside the number that saved");
    add_copy_threads(verb, *options);
    add_common(verb, options, bench_restart);
    verb.examples("  mpiexec -n 2 forebay bench restart\n  mpiexec -n 8 forebay bench restart --from 4 --to 3,8\n");
}

void add_timings(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    options->repeats = 15;
    auto verb = bench.verb("timings", "Measure the cost of the timings of saves and drains");
    add_places(verb, *options);
    add_common(verb, options, bench_timings);
    verb.examples("  mpiexec -n 2 forebay bench timings\n");
}

void add_plan(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    options->variables = 300;
    auto verb = bench.verb(
        "plan", "Measure layouts, seals, manifests and restart plans at the size of a machine, without its data");
    verb.option("--variables", options->variables,
                "Use so many variables, half of them columns of a table, half 3-D arrays");
    verb.option("--ranks-per-node", options->ranks_per_node, "Assume so many ranks on each node");
    verb.option("--nodes", options->nodes, "Assume so many nodes in the manifest");
    add_common(verb, options, bench_plan);
    verb.examples("  forebay bench plan\n  forebay bench plan --nodes 100 --variables 2000\n");
}

void add_compress(Verb& bench) {
    const auto options = std::make_shared<BenchOptions>();
    auto verb = bench.verb("compress", "Measure each codec on a node file: size, and speed beside the codec alone");
    verb.argument("FILE", options->file, "An uncompressed node file, RUN/STREAM/step-000120/node-00000.h5");
    verb.option("--error", options->error, "Also use zfp with this largest absolute error of a value");
    verb.option("--staging", options->staging, "Write compressed files to this directory (/dev/shm)");
    add_common(verb, options, bench_compress);
    verb.examples("  forebay bench compress run7/restart/step-000120/node-00000.h5 --error 1e-4\n");
}

}  // namespace

void add_bench(CommandLine& line) {
    auto bench = line.verb(
        "bench",
        "Measure I/O libraries with free options, and saves, drains and restarts against this machine's limits");
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
