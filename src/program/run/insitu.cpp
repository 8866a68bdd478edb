// forebay insitu: runs a stream's analyses on committed snapshots.

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "core/format/packed.hpp"
#include "core/sys/program.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"
#include "forebay/forebay.hpp"
#include "insight/insitu/afterwards.hpp"
#include "insight/insitu/judge.hpp"
#include "path/agent/hosts.hpp"
#include "path/node/analysis_rules.hpp"
#include "program/snapshot_words.hpp"
#include "program/steps.hpp"
#include "program/verbs.hpp"

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
    std::int64_t time_limit_seconds = -1;  // -1: the value of the configuration
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
                     fmt::format("add [streams.{}.insitu.NAME] to it: docs/how-to/analyse-while-it-runs.md", stream)};
    return own->second.insitu;
}

// The run for the results. The run of the snapshots is RUN in RUN/STREAM/step-000120.
std::string results_run(const InsituArguments& options, const catalog::Snapshot& snapshot) {
    if (!options.to.empty()) return options.to;
    return snapshot.directory.substr(0, snapshot.directory.rfind('/', snapshot.directory.rfind('/') - 1));
}

// The work on a snapshot.
struct InsituStep {
    insitu::Afterwards afterwards;                       // results made now
    std::vector<insitu::AnalysisResults> made_before{};  // earlier results of analyses with conditions
    std::size_t pictures = 0;
    std::vector<format::Mark> fulfilled{};
    bool would_be_marked = false;
};

class InsituReport {
public:
    explicit InsituReport(const InsituArguments& options) : options_(options) {}

    void add(const catalog::Snapshot& snapshot, const InsituStep& step, bool is_made_before) {
        const auto& problems = step.afterwards.problems;
        is_found_ = is_found_ || !problems.empty();
        is_empty_ = false;
        if (options_.json) return add_json(snapshot, step, is_made_before);
        const auto count = options_.only_report ? 0 : step.afterwards.results.size();
        say("{}@{}  ", snapshot.stream, snapshot.step);
        if (is_made_before) say("exists already{}\n", options_.only_report ? "" : "; --again makes it again");
        else if (options_.only_report) say("checked only\n");
        else
            say("{} result{}, {} picture{}\n", count, count == 1 ? "" : "s", step.pictures,
                step.pictures == 1 ? "" : "s");
        for (const auto& mark : step.fulfilled) say("  fulfils {}\n", Message{format::words_of(mark)});
        if (step.would_be_marked) say("  would be marked without --only-report\n");
        for (const auto& problem : problems) say("  {}\n", Message{problem});
    }
    /// A snapshot whose analysis failed. The rest is still analysed.
    void add_failed(const catalog::Snapshot& snapshot, const Error& error) {
        InsituStep step;
        step.afterwards.problems.push_back(error.line());
        add(snapshot, step, false);
    }
    bool has_found() const { return is_found_; }
    Result<Exit> finish() const {
        if (is_empty_)
            return Error{ErrorKind::refused, "no analysis applies to any of these steps", "",
                         "check their option every in " + options_.configuration};
        if (options_.json) array_.print();
        return is_found_ ? Exit::found : Exit::good;
    }

private:
    void add_json(const catalog::Snapshot& snapshot, const InsituStep& step, bool is_made_before) {
        auto object = json_of(snapshot);
        if (is_made_before) {
            object.set("made_before", true);
        } else {
            auto array = Json::array();
            if (!options_.only_report)
                for (const auto& results : step.afterwards.results)
                    array.push(describe::result_stream(snapshot.stream, results.analysis));
            object.set("made", array).set("pictures", step.pictures);
        }
        auto problems = Json::array();
        for (const auto& problem : step.afterwards.problems) problems.push(problem);
        object.set("problems", problems).set("fulfilled", json_of(step.fulfilled));
        if (options_.only_report) object.set("would_be_marked", step.would_be_marked);
        array_.push(object);
    }

    const InsituArguments& options_;
    bool is_found_ = false;
    bool is_empty_ = true;
    Json array_ = Json::array();
};

// Evaluates the conditions on the results. The snapshot is marked before new results are written.
void judge(sys::Store& store, const InsituArguments& options, const std::string& run, InsituStep& step) {
    for (const auto* const all : {&step.made_before, &step.afterwards.results}) {
        for (const auto& results : *all) {
            auto judgement = insitu::judge(results.analysis, results.variables);
            if (!options.only_report) insitu::mark_snapshot(store, run, step.afterwards.source, judgement);
            else if (!judgement.fulfilled.empty())
                step.would_be_marked |= std::ranges::count(judgement.actions, Analysis::Action::mark) > 0;
            std::ranges::move(judgement.fulfilled, std::back_inserter(step.fulfilled));
            std::ranges::move(judgement.problems, std::back_inserter(step.afterwards.problems));
        }
    }
}

std::string run_of(const catalog::Snapshot& snapshot) {  // of RUN/STREAM/step-000120
    return directory_of(directory_of(snapshot.directory));
}

Result<> write(sys::Store& store, const InsituArguments& options, const std::string& to, InsituStep& step) {
    for (const auto& results : step.afterwards.results) {
        for (const auto& picture : results.pictures) {
            if (options.pictures.empty()) continue;
            FB_TRY(insitu::write_picture(store, options.pictures,
                                         insitu::picture_file(step.afterwards.source, results, picture), picture));
            ++step.pictures;
        }
        FB_TRY(insitu::write_results(store, to, step.afterwards.source, results));
    }
    return {};
}

// A running simulation may save the step again meanwhile, or its agent may remove it.
Result<> check_there(sys::Store& store, const catalog::Snapshot& snapshot, std::uint64_t snapshot_id) {
    const auto now = catalog::load_manifest(store, snapshot.directory);
    if (now && now->snapshot_id == snapshot_id) return {};
    if (!now && now.error().kind != ErrorKind::missing) return now.error();
    return Error{ErrorKind::missing,
                 now ? "it was saved again during the analysis" : "it was removed during the analysis"};
}

Result<> analyse_one(sys::Store& store, const InsituArguments& options, const catalog::Snapshot& snapshot,
                     const std::vector<Analysis>& analyses, const std::string& to, InsituReport& report) {
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, snapshot.directory));
    InsituStep step{.afterwards = {{snapshot.stream, {manifest.step, manifest.time}, manifest.snapshot_id}, {}, {}}};
    std::vector<Analysis> missing;
    bool is_due = false;
    for (const auto& analysis : analyses) {
        if (manifest.step % analysis.every != 0) continue;
        is_due = true;
        const auto& source = step.afterwards.source;
        FB_TRY_ASSIGN(is_made, options.again ? Result<bool>(false) : insitu::has_results(store, to, source, analysis));
        if (!is_made) missing.push_back(analysis);
        if (!is_made || analysis.condition.empty()) continue;
        FB_TRY_ASSIGN(results, insitu::read_results(store, to, source, analysis));
        step.made_before.push_back(std::move(results));
    }
    if (!is_due) return {};
    if (!missing.empty()) {
        Progress progress(fmt::format("{}@{}", snapshot.stream, snapshot.step), options.json);
        FB_TRY_ASSIGN(results, insitu::analyse_snapshot(
                                   store, snapshot, manifest, missing,
                                   [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); }));
        step.afterwards = std::move(results);
    }
    FB_TRY(check_there(store, snapshot, manifest.snapshot_id));
    judge(store, options, run_of(snapshot), step);
    if (!options.only_report) FB_TRY(write(store, options, to, step));
    report.add(snapshot, step, missing.empty());
    return {};
}

// Seconds for a call of each script, in Python's form.
std::string time_limits_of(const InsituArguments& options, const std::vector<Analysis>& scripts) {
    std::vector<double> limits;
    limits.reserve(scripts.size());
    for (const auto& script : scripts)
        limits.push_back(options.time_limit_seconds < 0 ? std::chrono::duration<double>(script.time_limit).count()
                                                        : static_cast<double>(options.time_limit_seconds));
    return fmt::format("{}", fmt::join(limits, ","));
}

// Python replaces this process and handles the same snapshots. Returns only if it could not be started.
Error analyse_by_python(const InsituArguments& options, const std::vector<catalog::Snapshot>& snapshots,
                        const std::vector<Analysis>& scripts, const std::string& to, bool has_found) {
    const auto place = agent::python_place(scripts.front().python);
    std::vector<std::string> words{
        "-m",     "forebay.insitu_afterwards",  "--to",          to,
        "--jobs", std::to_string(options.jobs), "--time-limits", time_limits_of(options, scripts)};
    if (!options.pictures.empty()) words.insert(words.end(), {"--pictures", options.pictures});
    for (const auto& [is_given, word] :
         {std::pair(options.again, "--again"), std::pair(options.only_report, "--only-report"),
          std::pair(options.json, "--json"), std::pair(has_found, "--found")})
        if (is_given) words.emplace_back(word);
    words.insert(words.end(), {"--analyses", node::encode_analyses(scripts)});
    words.emplace_back("--");
    for (const auto& snapshot : snapshots) words.push_back(snapshot.directory);
    auto failed = sys::become(place.program, words, place.environment);
    return with_context(failed, fmt::format("the scripts cannot run: {}", failed.what), "",
                        "give a Python that has the package forebay, with --python or the option python");
}

// Runs a script as the only analysis. For a run without a stream: on all streams without results.
Result<Exit> script_of(const InsituArguments& options) {
    auto& store = sys::target_store();
    std::vector<catalog::Snapshot> snapshots;
    if (options.place.find('@') != std::string::npos) {
        FB_TRY_ASSIGN(steps, find_steps(store, options.place, std::chrono::seconds(0)));
        snapshots = std::move(steps.snapshots);
    } else {
        FB_TRY_ASSIGN(place, find_place(store, options.place));
        for (const auto& stream : place.streams) {
            // STREAM.NAME holds results of STREAM. They are no input.
            const bool is_result = std::ranges::any_of(
                place.streams, [&](const std::string& other) { return stream.starts_with(other + "."); });
            if (!place.stream_named && (is_result || format::is_packed_stream(stream))) continue;
            FB_TRY_ASSIGN(steps,
                          find_steps(store, fmt::format("{}/{}@all", place.run, stream), std::chrono::seconds(0)));
            std::ranges::move(steps.snapshots, std::back_inserter(snapshots));
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
    auto given = options;
    given.time_limit_seconds = std::max<std::int64_t>(options.time_limit_seconds, 0);  // no configuration sets it
    return analyse_by_python(given, snapshots, {script}, results_run(options, snapshots.front()), false);
}

std::string names_of(const std::vector<Analysis>& analyses) {
    std::vector<std::string> names;
    names.reserve(analyses.size());
    for (const auto& analysis : analyses) names.push_back(analysis.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

Result<Exit> insitu_of(const InsituArguments& options) {
    if (options.only_report && !options.pictures.empty())
        return Error{ErrorKind::refused, "--only-report makes no pictures", "",
                     "leave out --only-report or --pictures"};
    auto& store = sys::target_store();
    if (!options.to.empty()) FB_TRY(run_to_make(store, options.to));
    if (options.configuration.ends_with(".py")) return script_of(options);
    FB_TRY_ASSIGN(steps, find_steps(store, options.place, std::chrono::seconds(0), StreamNeed::required));
    const auto& first = steps.snapshots.front();
    FB_TRY_ASSIGN(analyses, analyses_of(options, first.stream));
    const auto is_script = [](const Analysis& analysis) { return analysis.kind == Analysis::Kind::script; };
    const auto scripts = std::stable_partition(analyses.begin(), analyses.end(), std::not_fn(is_script));
    const std::vector<Analysis> of_python(scripts, analyses.end());
    analyses.erase(scripts, analyses.end());
    if (options.json && !analyses.empty() && !of_python.empty())
        return Error{ErrorKind::refused,
                     fmt::format("{} has built-in analyses and scripts, which need two reports", options.configuration),
                     "", "leave out --json, or give the script instead of the configuration"};
    const auto to = results_run(options, first);
    if (!options.pictures.empty()) FB_TRY(store.make_directories(options.pictures));
    InsituReport report(options);
    if (!analyses.empty() && !of_python.empty()) say("by built-in analyses: {}\n", names_of(analyses));
    if (!analyses.empty())
        for (const auto& snapshot : steps.snapshots)
            if (const auto done = analyse_one(store, options, snapshot, analyses, to, report); !done) {
                // A problem with one snapshot does not stop the rest.
                const auto kind = done.error().kind;
                if (kind != ErrorKind::corrupt && kind != ErrorKind::missing) return done.error();
                report.add_failed(snapshot, done.error());
            }
    if (!analyses.empty() && !of_python.empty()) say("by scripts: {}\n", names_of(of_python));
    if (!of_python.empty()) return analyse_by_python(options, steps.snapshots, of_python, to, report.has_found());
    return report.finish();
}

}  // namespace

void add_insitu(CommandLine& line) {
    const auto options = std::make_shared<InsituArguments>();
    auto verb = line.verb("insitu", "Run the analyses of a stream on committed snapshots");
    verb.argument("CONFIGURATION", options->configuration,
                  "The configuration with [streams.NAME.insitu.ANALYSIS], or a SCRIPT.py");
    verb.argument("RUN/STREAM@STEPS", options->place,
                  "Snapshots: one step, a list, a range or all. For a script also RUN and RUN/STREAM for all");
    verb.option("--to", options->to, "Write the results to another run");
    verb.option("--pictures", options->pictures,
                "Write pictures and files to this directory. Default: none are written");
    verb.flag("--again", options->again, "Make existing results again");
    verb.option("--jobs", options->jobs, "Give so many snapshots to scripts at a time. 0: one a CPU");
    verb.option("--name", options->name, "Store a script's results under STREAM.NAME. Default: the name of its file");
    verb.option("--python", options->python, "Run scripts with this Python");
    verb.number("--time-limit", options->time_limit_seconds,
                "Limit a call of a script to so many seconds. 0: no limit. Default: time_limit_seconds of the "
                "configuration, no limit for SCRIPT.py");
    verb.flag("--only-report", options->only_report,
              "Make and mark nothing. Report the conditions that a snapshot fulfils");
    verb.json(
        options->json,
        "  An array with an object for each snapshot: stream, step, directory, made_before (true: nothing was made),\n"
        "  else made and pictures; problems, fulfilled (as marks of ls); with --only-report would_be_marked.\n");
    verb.examples(
        "  forebay insitu forebay.toml run7/fields@all --pictures pictures\n  forebay insitu look.py run7 --jobs "
        "8\nThe results are equal, to the bit, to results of an agent during the run: "
        "docs/how-to/analyse-while-it-runs.md.\nExit code 1 if an analysis failed, also because its snapshot is "
        "damaged or was removed meanwhile.\n");
    verb.action([options] { return insitu_of(*options); });
}

}  // namespace forebay::cli
