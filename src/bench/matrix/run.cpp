// forebay bench run: makes rows from options, sweeps or a case, measures them in turns, and prints the results.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <optional>

#include "bench/bench.hpp"
#include "bench/job.hpp"
#include "bench/matrix/bench_directories.hpp"
#include "bench/matrix/outcome.hpp"
#include "bench/matrix/way.hpp"
#include "bench/place.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/sys/store.hpp"
#include "core/terminal/command_line.hpp"
#include "core/terminal/print.hpp"
#include "core/terminal/progress.hpp"
#include "forebay/forebay.h"
#include "forebay/mpi.hpp"
#include "program/own_output.hpp"

namespace forebay::bench {

using cli::Exit;

namespace {

struct RunOptions {
    std::map<std::string, std::string> given;  // of matrix_options()
    std::vector<std::string> sweeps, outputs;
    std::string case_file, victim;
    double scale = 1;
    int repeats = 3;
    bool json = false, replace = false;
};

// The plan of one job.
struct RunPlan {
    RowOutcome outcome;
    int repeats = 1;
    std::vector<std::string> outputs;
    bool replace = false;
};

// "html", "page.html" of "html=page.html".
std::pair<std::string, std::string> kind_and_file(const std::string& output) {
    const auto equal = output.find('=');
    return {output.substr(0, equal), equal == std::string::npos ? "" : output.substr(equal + 1)};
}

// Checked before any measurement: foreign files stay.
Result<> check_files(const RunPlan& plan) {
    for (const auto& output : plan.outputs) {
        const auto [kind, file] = kind_and_file(output);
        if (file.empty()) continue;
        const auto is_ours = [of = kind](std::string_view text) {
            if (of == "json") return cli::is_advice(text, "bench");
            if (of == "html") return text.find(page_mark) != std::string_view::npos;
            if (of == "ior") return text.starts_with("Test 0: ") || text.starts_with("\nSUMMARY rate");
            return text.starts_with(of == "csv" ? "# forebay" : "forebay");
        };
        FB_TRY(
            cli::check_own_output(sys::posix_store(), file, plan.replace, is_ours, "such file of forebay bench run"));
    }
    return {};
}

Result<> check_outputs(const std::vector<std::string>& outputs) {
    for (const auto& output : outputs) {
        const auto [kind, file] = kind_and_file(output);
        if (output.ends_with('='))
            return Error{ErrorKind::refused, fmt::format("--out {} contains no file", output), "",
                         fmt::format("--out {}=FILE", kind)};
        if (kind != "table" && kind != "json" && kind != "csv" && kind != "html" && kind != "ior")
            return Error{ErrorKind::refused, fmt::format("--out \"{}\" is not valid", output), "",
                         "use table, json, csv, html or ior, each perhaps with =FILE"};
    }
    return {};
}

// The reason with an alternative; nothing if this build supports it.
std::optional<Error> why_not_here(const RowSetting& setting) {
    const auto unsupported = [](const char* what, const char* next) {
        return Error{ErrorKind::unsupported, what, "nothing was written", next};
    };
    if (setting.via == Via::hdf5 && hdf5_version().empty())
        return unsupported("this build has no parallel HDF5",
                           "use --via mpiio, or build with cmake -DFOREBAY_BENCH=ON and libhdf5-openmpi-dev");
    if (setting.via == Via::dfs)
        return unsupported("this build has no libdfs of DAOS",
                           "use --via posix with --target on a mount of dfuse, and libpil4dfs in LD_PRELOAD");
    if (setting.via == Via::genericio)
        return unsupported("this build has no bench of GenericIO", "use --via mpiio, which makes the same calls");
    return std::nullopt;
}

Result<RunPlan> plan_of(const RunOptions& options) {
    RunPlan plan{.repeats = options.repeats, .outputs = options.outputs, .replace = options.replace};
    auto& outcome = plan.outcome;
    outcome.scale = options.scale;
    if (options.json) plan.outputs = {"json"};
    if (plan.outputs.empty()) plan.outputs = {"table"};
    FB_TRY(check_outputs(plan.outputs));
    if (options.repeats < 1 || options.scale <= 0)
        return Error{ErrorKind::refused, "--repeats must be 1 or more, and --scale more than 0"};
    if (!options.case_file.empty()) {
        FB_TRY_ASSIGN(of, read_case(options.case_file));
        outcome.of = std::move(of);
    }
    auto sweeps = outcome.of.sweeps;
    sweeps.insert(sweeps.end(), options.sweeps.begin(), options.sweeps.end());
    std::vector<Words> rows;
    for (const auto& own : outcome.of.rows.empty() ? std::vector<Words>{{}} : outcome.of.rows) {
        // The command line comes last and has priority.
        auto words = outcome.of.words;
        for (const auto& [key, value] : own) put_word(words, key, value);
        for (const auto& [key, value] : options.given)
            if (!value.empty()) put_word(words, key, value);
        FB_TRY_ASSIGN(swept, rows_of(words, sweeps));
        rows.insert(rows.end(), swept.begin(), swept.end());
    }
    for (const auto& row : rows) {
        FB_TRY_ASSIGN(of_this_size, scaled(row, options.scale));
        FB_TRY_ASSIGN(setting, setting_from(of_this_size));
        auto why = why_not(setting);
        const auto not_here = why_not_here(setting);
        if (rows.size() == 1 && !why.empty())
            return Error{ErrorKind::refused, "the options cannot be combined: " + why};
        if (rows.size() == 1 && not_here) return *not_here;
        if (why.empty() && not_here) why = not_here->what;
        outcome.rows.push_back({.setting = std::move(setting), .skipped = std::move(why)});
    }
    return plan;
}

format::AdviceSetting environment_of(Ranks& ranks, const BenchDirectories& directories) {
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(mpi, &length);
    std::string library(mpi, static_cast<std::size_t>(length));
    library.resize(std::min({library.size(), library.find('\n'), library.find(',')}));
    double loads[1] = {0};
    const bool known = ::getloadavg(loads, 1) == 1;
    format::AdviceSetting environment{{"forebay", fmt::format("{} on {}", fb_version(), sys::host_name())},
                                      {"processor", sys::processor_name()},
                                      {"cpus", std::to_string(sys::cpus_online())},
                                      {"kernel", crc32c_kernel()},
                                      {"load", known ? fmt::format("{:.2f}", loads[0]) : "unknown"},
                                      {"ranks", std::to_string(ranks.size())},
                                      {"mpi", library}};
    if (const auto hdf5 = hdf5_version(); !hdf5.empty()) environment.emplace_back("hdf5", hdf5);
    for (const auto& directory : directories.all())
        environment.emplace_back("mount of " + directory, sys::mount_of(directory));
    return environment;
}

std::uint64_t planned_bytes(const RowSetting& setting, int ranks) {
    if (!setting.operations.write) return 0;
    const Content content(setting, setting.ranks > 0 ? std::min(setting.ranks, ranks) : ranks);
    return content.bytes_of_all(0) * static_cast<std::uint64_t>(setting.dumps);
}

// Measures each row once, then each again: a change of the machine affects all rows.
Result<> measure(Ranks& ranks, const BenchDirectories& directories, RunPlan& plan) {
    cli::Progress progress("bench run", ranks.rank() != 0);
    std::uint64_t done = 0, all = 0;
    auto& rows = plan.outcome.rows;
    for (const auto& row : rows)
        if (row.skipped.empty())
            all += planned_bytes(row.setting, ranks.size()) * static_cast<std::uint64_t>(plan.repeats);
    for (int repeat = 0; repeat < plan.repeats; ++repeat)
        for (std::size_t number = 0; number < rows.size(); ++number) {
            auto& row = rows[number];
            if (!row.skipped.empty()) continue;
            progress.show(done, all);
            const int wish = row.setting.ranks > 0 ? row.setting.ranks : ranks.size();
            if (wish > ranks.size()) {
                row.skipped = fmt::format("{} ranks are needed, but {} run", wish, ranks.size());
                if (rows.size() > 1) continue;
                return Error{ErrorKind::refused, row.skipped, "", fmt::format("mpiexec -n {}", wish)};
            }
            const auto part = ranks.first(wish);
            const auto place = directories.place_of(row.setting, fmt::format("r{}-{}", number, repeat));
            const auto measured = part ? run_trial(*part, place, row) : Result<>();
            ranks.rest();
            FB_TRY(ranks.agree(measured));
            done += planned_bytes(row.setting, ranks.size());
        }
    return {};
}

Result<> tell(const RowOutcome& outcome, const std::vector<std::string>& outputs) {
    for (const auto& output : outputs) {
        const auto [kind, file] = kind_and_file(output);
        std::string text;
        if (kind == "table") text = table_of(outcome).text;
        else if (kind == "csv") text = csv_of(outcome);
        else if (kind == "ior") text = ior_tables_of(outcome);
        else if (kind == "html") text = page_of(outcome);
        else text = format::encode(advice_of(outcome));
        if (!text.ends_with('\n')) text += '\n';
        if (file.empty()) cli::say({text});
        else FB_TRY(sys::write_text_durable(sys::posix_store(), file, text));
    }
    return {};
}

Result<> run_on(MPI_Comm world, RunPlan& plan, const std::string& victim, std::shared_ptr<SignalRemovals> removals) {
    Ranks ranks(world);
    FB_TRY(ranks.agree(ranks.rank() == 0 && victim.empty() ? check_files(plan) : Result<>()));
    FB_TRY_ASSIGN(directories, BenchDirectories::make(ranks, plan.outcome.rows, victim, std::move(removals)));
    plan.outcome.environment = environment_of(ranks, directories);
    FB_TRY(measure(ranks, directories, plan));
    return ranks.agree(ranks.rank() == 0 && victim.empty() ? tell(plan.outcome, plan.outputs) : Result<>());
}

// Dedicated ranks are split off once, for all rows.
Result<MPI_Comm> compute_ranks(const RunPlan& plan) {
    const auto dedicated = [](const RowResult& row) {
        return row.skipped.empty() && row.setting.via == Via::forebay && row.setting.agent == AgentMode::dedicated;
    };
    if (!std::ranges::any_of(plan.outcome.rows, dedicated)) return MPI_COMM_WORLD;
    Options options{.run = temporary_directory() + "/forebay-bench"};
    options.agent.mode = AgentMode::dedicated;
    return forebay::dedicate(MPI_COMM_WORLD, options);
}

Result<Exit> run(const RunOptions& options) {
    FB_TRY_ASSIGN(plan, plan_of(options));
    FB_TRY_ASSIGN(removals, SignalRemovals::watch());
    const MpiUse mpi;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const auto done = [&]() -> Result<> {
        try {
            Ranks all(MPI_COMM_WORLD);
            FB_TRY(check_alike(all));
            FB_TRY_ASSIGN(world, compute_ranks(plan));
            if (world == MPI_COMM_NULL) return {};  // an agent, whose ranks are done
            return run_on(world, plan, options.victim, removals);
        } catch (const std::bad_alloc&) {
            return Error{ErrorKind::full, "there is not enough memory for the data", "", "use a smaller --size"};
        }
    }();
    if (done) return Exit::good;
    const auto error = after_removal(done.error());
    // All ranks have the error, and one prints it before MPI ends: mpiexec ends a job when its first rank has ended.
    if (rank == 0) cli::print_error(error);
    return cli::exit_of(error.kind);
}

constexpr const char* examples =
    "  mpiexec -n 4 forebay bench run --size 1G --xfer 16M --sweep via=posix,mpiio,forebay --sweep "
    "layout=shared,rank\n  mpiexec -n 4 forebay bench run --via mpiio --sweep sync=independent,collective --durable "
    "fsync --out ior\n  mpiexec -n 4 forebay bench run --via forebay --layout node --stage /dev/shm,slots=1 --data "
    "particles:8M \\\n      --dumps 5 --compute 2:burn --durable fsync --out table --out html=hacc.html --out "
    "json=hacc.json\n  mpiexec -n 4 forebay bench run --via forebay --dumps 3 --op write,kill,restart:3\n  mpiexec -n "
    "4 forebay bench run --op metadata --tree n=10000:z=1:b=4 --out ior\n  mpiexec -n 2 forebay bench run --case "
    "bench/cases/hacc.toml --scale 0.01\nAmounts: 4096, 64M, 2G (powers of 1024).\nEach row is measured once, then "
    "each again. docs/explanation/benchmarks.md explains the measures.\n";

}  // namespace

void add_run(cli::Verb& bench) {
    const auto options = std::make_shared<RunOptions>();
    auto verb = bench.verb(
        "run", "Measure writes, reads, restarts and file operations for any combination of I/O library and layout");
    for (const auto& option : matrix_options()) {
        const std::string value = option.value;
        verb.option(std::string("--") + option.key, options->given[option.key],
                    option.help + (value.empty() ? "" : " [" + value + "]"));
    }
    verb.option("--sweep", options->sweeps, "Vary an option: KEY=A,B,C. For values with commas: KEY=A;B");
    verb.option("--case", options->case_file, "Take options, sweeps and published figures from this file: bench/cases");
    verb.option("--scale", options->scale, "Multiply bytes and seconds of computing by this number");
    verb.option("--repeats", options->repeats, "Measure each row so many times");
    verb.option("--out", options->outputs,
                "Print as table (default), ior, csv, json or html, perhaps to a file: =FILE");
    verb.flag("--replace", options->replace, "With --out: replace a file that no bench run has written");
    verb.option("--victim", options->victim, "Run as the job that kill ends (the bench starts this)");
    verb.json(options->json,
              "  As --out json: advice of kind \"bench\" (docs/formats/advice.md), a row a setting. Each measure "
              "also\n  with _min, _max, _p95, _interval_low, _interval_high and _ratio_to_first.\n");
    verb.action([options] { return run(*options); });
    verb.examples(examples);
}

}  // namespace forebay::bench
