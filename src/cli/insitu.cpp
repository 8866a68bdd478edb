// forebay insitu: the analyses of a stream, of snapshots that are committed already.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>

#include "agent/hosts.hpp"
#include "base/path.hpp"
#include "base/try.hpp"
#include "cli/progress.hpp"
#include "cli/say.hpp"
#include "cli/steps.hpp"
#include "cli/verbs.hpp"
#include "cli/words.hpp"
#include "describe/analysis_list.hpp"
#include "forebay/forebay.hpp"
#include "format/packed.hpp"
#include "insitu/afterwards.hpp"
#include "insitu/judge.hpp"
#include "node/analysis_rules.hpp"
#include "sys/program.hpp"

namespace forebay::cli {

namespace {

struct InsituArguments {
    std::string configuration;
    std::string place;
    std::string to;
    std::string pictures;
    std::string name;
    std::string python;
    int jobs = 0;
    bool again = false;
    bool only_report = false;
    bool json = false;
};

Result<std::vector<Analysis>> analyses_of(const InsituArguments& options, const std::string& stream) {
    FB_TRY_ASSIGN(loaded, load_options(options.configuration));
    const auto own = std::ranges::find(loaded.streams, stream, &std::pair<std::string, StreamOptions>::first);
    if (own == loaded.streams.end() || own->second.insitu.empty())
        return Error{ErrorKind::missing,
                     fmt::format("{} has no analyses of stream '{}'", options.configuration, stream), "",
                     fmt::format("add [streams.{}.insitu.NAME] to it: docs/guide/in-situ.md", stream)};
    return own->second.insitu;
}

// The run of the results; of the snapshots it is RUN in RUN/STREAM/step-000120.
std::string results_run(const InsituArguments& options, const catalog::Snapshot& one) {
    if (!options.to.empty()) return options.to;
    return one.directory.substr(0, one.directory.rfind('/', one.directory.rfind('/') - 1));
}

class InsituReport {
public:
    explicit InsituReport(bool json) : json_(json) {}

    void add(const catalog::Snapshot& snapshot, const insitu::Afterwards& afterwards, std::size_t pictures,
             const std::vector<format::Mark>& fulfilled) {
        auto made = Json::array();
        for (const auto& results : afterwards.results)
            made.push(describe::result_stream(snapshot.stream, results.analysis));
        auto problems = Json::array();
        for (const auto& problem : afterwards.problems) problems.push(problem);
        array_.push(json_of(snapshot)
                        .set("made", made)
                        .set("pictures", pictures)
                        .set("problems", problems)
                        .set("fulfilled", json_of(fulfilled)));
        found_ = found_ || !afterwards.problems.empty();
        if (json_) return;
        say("{}@{}  {} result{}, {} picture{}\n", snapshot.stream, snapshot.step, afterwards.results.size(),
            afterwards.results.size() == 1 ? "" : "s", pictures, pictures == 1 ? "" : "s");
        for (const auto& mark : fulfilled) say("  fulfils {}\n", Message{format::words_of(mark)});
        for (const auto& problem : afterwards.problems) say("  {}\n", Message{problem});
    }
    void add_made(const catalog::Snapshot& snapshot) {
        array_.push(json_of(snapshot).set("made_before", true));
        if (!json_) say("{}@{}  made before; --again makes it anew\n", snapshot.stream, snapshot.step);
    }
    bool has_found() const { return found_; }
    Exit finish() const {
        if (json_) array_.print();
        return found_ ? Exit::found : Exit::good;
    }

private:
    bool json_;
    bool found_ = false;
    Json array_ = Json::array();
};

// Those of this step that are not made yet.
Result<std::vector<Analysis>> missing_of(sys::Store& store, const std::string& run, const insitu::SeenSnapshot& source,
                                         const std::vector<Analysis>& analyses, bool again) {
    std::vector<Analysis> missing;
    for (const auto& analysis : analyses) {
        if (source.moment.step % analysis.every != 0) continue;
        FB_TRY_ASSIGN(made, again ? Result<bool>(false) : insitu::has_results(store, run, source, analysis));
        if (!made) missing.push_back(analysis);
    }
    return missing;
}

// Those conditions that the snapshot fulfils. It is marked before its results are there: then nobody looks again.
std::vector<format::Mark> judge(sys::Store& store, const InsituArguments& options, const std::string& run,
                                insitu::Afterwards& afterwards) {
    std::vector<format::Mark> fulfilled;
    for (const auto& results : afterwards.results) {
        auto judgement = insitu::judge(results.analysis, results.variables);
        if (!options.only_report) insitu::mark_snapshot(store, run, afterwards.source, judgement);
        std::ranges::move(judgement.fulfilled, std::back_inserter(fulfilled));
        std::ranges::move(judgement.problems, std::back_inserter(afterwards.problems));
    }
    return fulfilled;
}

std::string run_of(const catalog::Snapshot& snapshot) {  // of RUN/STREAM/step-000120
    return directory_of(directory_of(snapshot.directory));
}

Result<> analyse_one(sys::Store& store, const InsituArguments& options, const catalog::Snapshot& snapshot,
                     const std::vector<Analysis>& analyses, const std::string& to, InsituReport& report) {
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, snapshot.directory));
    const insitu::SeenSnapshot source{snapshot.stream, {manifest.step, manifest.time}, manifest.snapshot_id};
    FB_TRY_ASSIGN(missing, missing_of(store, to, source, analyses, options.again));
    if (missing.empty()) {
        report.add_made(snapshot);
        return {};
    }
    auto afterwards = [&] {
        Progress progress(fmt::format("{}@{}", snapshot.stream, snapshot.step), options.json);
        return insitu::analyse_snapshot(store, snapshot, manifest, missing,
                                        [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
    }();
    FB_TRY(afterwards);
    const auto fulfilled = judge(store, options, run_of(snapshot), *afterwards);
    std::size_t pictures = 0;
    for (const auto& results : afterwards->results) {
        for (const auto& picture : results.pictures) {
            if (options.pictures.empty()) continue;
            FB_TRY(insitu::write_picture(store, options.pictures,
                                         insitu::picture_file(afterwards->source, results, picture), picture));
            ++pictures;
        }
        FB_TRY(insitu::write_results(store, to, afterwards->source, results));
    }
    report.add(snapshot, *afterwards, pictures, fulfilled);
    return {};
}

// Python goes on in this process, over the same snapshots. Returns only where it could not be started.
Error analyse_by_python(const InsituArguments& options, const std::vector<catalog::Snapshot>& snapshots,
                        const std::vector<Analysis>& scripts, const std::string& to, bool has_found) {
    const auto place = agent::python_place(scripts.front().python);
    std::vector<std::string> words{"-m",     "forebay.insitu_afterwards", "--to", to,
                                   "--jobs", std::to_string(options.jobs)};
    if (!options.pictures.empty()) words.insert(words.end(), {"--pictures", options.pictures});
    for (const auto& [is_given, word] :
         {std::pair(options.again, "--again"), std::pair(options.only_report, "--only-report"),
          std::pair(options.json, "--json"), std::pair(has_found, "--found")})
        if (is_given) words.emplace_back(word);
    words.insert(words.end(), {"--analyses", node::encode_analyses(scripts)});
    words.emplace_back("--");
    for (const auto& snapshot : snapshots) words.push_back(snapshot.directory);
    auto failed = sys::become(place.program, words, place.environment);
    return because(failed, fmt::format("the scripts are not run: {}", failed.what), "",
                   "name an interpreter that has the package forebay, by --python or by the option python");
}

// A script by itself, as its only analysis; of a run without a stream all that is no result.
Result<Exit> script_of(const InsituArguments& options) {
    auto& store = sys::posix_store();
    std::vector<catalog::Snapshot> snapshots;
    if (options.place.find('@') != std::string::npos) {
        FB_TRY_ASSIGN(steps, find_steps(store, options.place, std::chrono::seconds(0)));
        snapshots = std::move(steps.snapshots);
    } else {
        FB_TRY_ASSIGN(place, find_place(store, options.place));
        for (const auto& stream : place.streams) {
            const bool is_result = std::ranges::any_of(
                place.streams, [&](const std::string& other) { return stream.starts_with(other + "."); });
            if (!place.stream_named && (is_result || format::is_packed_stream(stream))) continue;
            FB_TRY_ASSIGN(found,
                          find_steps(store, fmt::format("{}/{}@all", place.run, stream), std::chrono::seconds(0)));
            std::ranges::move(found.snapshots, std::back_inserter(snapshots));
        }
    }
    if (snapshots.empty())
        return Error{ErrorKind::missing, fmt::format("{} has no committed snapshot", options.place), "",
                     fmt::format("forebay ls {}", options.place)};
    if (!options.pictures.empty()) FB_TRY(store.make_directories(options.pictures));
    const auto stem = std::filesystem::path(options.configuration).stem().string();
    const Analysis script{.name = options.name.empty() ? stem : options.name,
                          .kind = Analysis::Kind::script,
                          .script = options.configuration,
                          .python = options.python};
    FB_TRY(describe::check_values(snapshots.front().stream, std::vector{script}));
    return analyse_by_python(options, snapshots, {script}, results_run(options, snapshots.front()), false);
}

Result<Exit> insitu_of(const InsituArguments& options) {
    if (options.configuration.ends_with(".py")) return script_of(options);
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(steps, find_steps(store, options.place, std::chrono::seconds(0)));
    const auto& first = steps.snapshots.front();
    FB_TRY_ASSIGN(analyses, analyses_of(options, first.stream));
    const auto is_script = [](const Analysis& one) { return one.kind == Analysis::Kind::script; };
    const auto scripts = std::ranges::stable_partition(analyses, std::not_fn(is_script));
    const std::vector<Analysis> of_python(scripts.begin(), scripts.end());
    analyses.erase(scripts.begin(), scripts.end());
    if (options.json && !analyses.empty() && !of_python.empty())
        return Error{ErrorKind::refused,
                     fmt::format("{} has built-in analyses and scripts, whose reports are two", options.configuration),
                     "", "leave out --json, or name the script instead of the configuration"};
    const auto to = results_run(options, first);
    if (!options.pictures.empty()) FB_TRY(store.make_directories(options.pictures));
    InsituReport report(options.json);
    if (!analyses.empty())
        for (const auto& snapshot : steps.snapshots)
            FB_TRY(analyse_one(store, options, snapshot, analyses, to, report));
    if (!of_python.empty()) return analyse_by_python(options, steps.snapshots, of_python, to, report.has_found());
    return report.finish();
}

}  // namespace

void add_insitu(CommandLine& line) {
    const auto options = std::make_shared<InsituArguments>();
    auto verb = line.verb("insitu", "Make the analyses of a stream from snapshots that are committed");
    verb.argument("CONFIGURATION", options->configuration, "File with [streams.NAME.insitu.ANALYSIS], or a SCRIPT.py");
    verb.argument("RUN/STREAM@STEPS", options->place,
                  "Snapshots: one step, a list, a range or all; of a script also RUN and RUN/STREAM for all");
    verb.option("--to", options->to, "Another run for the results");
    verb.option("--pictures", options->pictures, "Directory for pictures and files; without it there are none");
    verb.flag("--again", options->again, "Make results anew that are there");
    verb.option("--jobs", options->jobs, "Snapshots that scripts look at at a time; 0: one a CPU");
    verb.option("--name", options->name, "Of a script's results, STREAM.NAME; else the name of its file");
    verb.option("--python", options->python, "Of a script: the interpreter");
    verb.flag("--only-report", options->only_report, "Mark no snapshot, whatever it fulfils");
    verb.json(options->json, "made, pictures, problems, fulfilled (as marks of ls), of each snapshot");
    verb.examples(
        "  forebay insitu forebay.toml run7/fields@all --pictures pictures\n"
        "  forebay insitu look.py run7 --jobs 8\n"
        "The results are those that an agent makes beside the simulation, to the bit: docs/guide/in-situ.md.\n"
        "Exit code 1 when an analysis could not be made.\n");
    verb.action([options] { return insitu_of(*options); });
}

}  // namespace forebay::cli
