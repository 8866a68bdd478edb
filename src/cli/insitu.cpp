// forebay insitu: the analyses of a stream, of snapshots that are committed already.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/path.hpp"
#include "base/try.hpp"
#include "cli/progress.hpp"
#include "cli/say.hpp"
#include "cli/steps.hpp"
#include "cli/verbs.hpp"
#include "cli/words.hpp"
#include "describe/analysis_list.hpp"
#include "forebay/forebay.hpp"
#include "insitu/afterwards.hpp"
#include "insitu/judge.hpp"

namespace forebay::cli {

namespace {

struct InsituArguments {
    std::string configuration;
    std::string place;
    std::string to;
    std::string pictures;
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

Result<Exit> insitu_of(const InsituArguments& options) {
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(steps, find_steps(store, options.place, std::chrono::seconds(0)));
    const auto& first = steps.snapshots.front();
    FB_TRY_ASSIGN(analyses, analyses_of(options, first.stream));
    const auto to = options.to.empty() ? run_of(first) : options.to;
    if (!options.pictures.empty()) FB_TRY(store.make_directories(options.pictures));
    InsituReport report(options.json);
    for (const auto& snapshot : steps.snapshots) FB_TRY(analyse_one(store, options, snapshot, analyses, to, report));
    return report.finish();
}

}  // namespace

void add_insitu(CommandLine& line) {
    const auto options = std::make_shared<InsituArguments>();
    auto verb = line.verb("insitu", "Make the analyses of a stream from snapshots that are committed");
    verb.argument("CONFIGURATION", options->configuration, "File with [streams.NAME.insitu.ANALYSIS]");
    verb.argument("RUN/STREAM@STEPS", options->place, "Snapshots: one step, a list, a range or all");
    verb.option("--to", options->to, "Another run for the results");
    verb.option("--pictures", options->pictures, "Directory for pictures; without it there are none");
    verb.flag("--again", options->again, "Make results anew that are there");
    verb.flag("--only-report", options->only_report, "Mark no snapshot that fulfils a condition");
    verb.json(options->json, "made, pictures, problems, fulfilled (as marks of ls), of each snapshot");
    verb.examples(
        "  forebay insitu forebay.toml run7/fields@all --pictures pictures\n"
        "The results are those that an agent makes beside the simulation, to the bit: docs/guide/in-situ.md.\n"
        "Exit code 1 when an analysis could not be made.\n");
    verb.action([options] { return insitu_of(*options); });
}

}  // namespace forebay::cli
