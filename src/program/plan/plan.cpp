// forebay plan: predicts the cost of a run and suggests settings from measurements. Compares predictions with a run.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/advice_file.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"
#include "forebay/forebay.h"
#include "insight/advice/plan/case.hpp"
#include "insight/advice/plan/plan.hpp"
#include "insight/advice/plan/run_measures.hpp"
#include "program/own_output.hpp"
#include "program/plan/plan_options.hpp"
#include "program/plan/plan_text.hpp"
#include "program/run_argument.hpp"
#include "program/snapshot_words.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

constexpr std::uint64_t case_bytes_read_max = 1u << 20;
constexpr double ranks_seconds_told = 1e-3;
constexpr std::size_t date_characters = 10;  // of show_utc()

struct PlanArguments {
    std::string run, stream, preflight, profile, bench, plan, case_file, check, out;
    std::map<std::string, std::string> inputs;  // by key
    std::vector<std::string> what_ifs;
    bool extrapolate = false, replace = false, json = false;
};

// The inputs of a plan.
struct PlanSources {
    advice::PlanInputs inputs;
    advice::PlanCase plan_case;  // empty without --case
    std::vector<std::string> what_ifs;
    double ranks_seconds = 0;  // ranks' waits for each other during a save of the run
};

std::string plan_option_of(const std::string& key) {
    auto option = "--" + key;
    std::ranges::replace(option, '_', '-');
    return option;
}

Result<std::vector<format::Measure>> read_run_measures(const std::string& given, const std::string& stream) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(match, find_run(store, given));
    FB_TRY_ASSIGN(run, match.whole());
    auto read = telemetry::read_chronicle(store, run, {.with_timings = false});
    if (!read && read.error().kind != ErrorKind::missing) return read.error();
    if (!read)
        return with_context(read.error(), read.error().what, "",
                            "give the directory of a run that has saved, as in --run /scratch/me/run7");
    auto& chronicle = *read;
    chronicle.run = given;  // in the user's spelling
    return advice::measures_of_run(chronicle, stream);
}

Result<> take_files(const PlanArguments& options, advice::PlanInputs& inputs) {
    const std::tuple<std::string, const char*, const char*> files[] = {{options.preflight, "preflight", "--preflight"},
                                                                       {options.bench, "bench", "--bench"},
                                                                       {options.profile, "profile", "--profile"},
                                                                       {options.plan, "plan", "--plan"}};
    for (const auto& [path, kind, option] : files) {
        if (path.empty()) continue;
        FB_TRY_ASSIGN(read, read_advice(option, path, kind));
        if (read.kind == "bench" && format::find(read.measures, "drain_rate_bytes_per_second") == nullptr)
            return Error{
                ErrorKind::refused,
                fmt::format("{} {} has no row for drains by forebay, and a plan needs one", option, input_name(path)),
                "", "forebay bench run --via forebay --stage /dev/shm,slots=1 --out json=FILE"};
        inputs.take(read,
                    fmt::format("{}, {}", input_name(path), show_utc(read.made_unix_ns).substr(0, date_characters)));
    }
    return {};
}

// A plan compared with a run uses the run's nodes, data and number of saves: these are inputs, not predictions.
void take_scale(const std::vector<format::Measure>& happened, advice::PlanInputs& inputs) {
    for (const auto* name : {"nodes", "node_bytes", "step_seconds", "save_every_steps", "slots", "agent_cost_ratio"})
        if (const auto* measure = format::find(happened, name)) {
            auto scale = *measure;
            if (const auto* known = inputs.find(name); known != nullptr && scale.name == "node_bytes")
                scale.cv = std::max(scale.cv, known->cv);
            inputs.take(scale);
        }
    // Compared runs have not failed.
    inputs.take({.name = "mtbf_seconds", .origin = format::MeasureOrigin::given, .from = "--check"});
}

Result<PlanSources> sources_of(const PlanArguments& options, const std::vector<format::Measure>& happened) {
    PlanSources sources;
    sources.what_ifs = options.what_ifs;
    if (!options.run.empty()) {
        FB_TRY_ASSIGN(measures, read_run_measures(options.run, options.stream));
        FB_TRY(take_files(options, sources.inputs));
        if (const auto* ranks = format::find(measures, "ranks_seconds")) sources.ranks_seconds = ranks->value;
        for (const auto& measure : measures)  // the run's own number of nodes is no request if a file has more
            if (measure.name != "nodes" || measure.value > sources.inputs.value("nodes")) sources.inputs.take(measure);
    } else {
        FB_TRY(take_files(options, sources.inputs));
    }
    if (!happened.empty()) take_scale(happened, sources.inputs);
    if (!options.case_file.empty()) {
        FB_TRY_ASSIGN(text, input_text("--case", options.case_file, case_bytes_read_max,
                                       "give --case bench/cases/plan-hacc.toml, or another file like it"));
        FB_TRY_ASSIGN(read, advice::read_case(text, input_name(options.case_file)));
        for (const auto& measure : read.inputs) sources.inputs.take(measure);
        sources.what_ifs.insert(sources.what_ifs.begin(), read.what_ifs.begin(), read.what_ifs.end());
        sources.plan_case = std::move(read);
    }
    for (const auto& [key, text] : options.inputs) {
        if (text.empty()) continue;
        FB_TRY_ASSIGN(measures, plan_input_from(key, text, plan_option_of(key)));
        for (const auto& measure : measures) sources.inputs.take(measure);
    }
    return sources;
}

format::AdviceRow compared_row(const advice::Compared& compared, const std::string& happened) {
    return {
        .setting = {{"compared", compared.name}},
        .measures = {{.name = "predicted", .value = compared.predicted, .origin = format::MeasureOrigin::predicted},
                     {.name = "happened",
                      .value = compared.happened,
                      .samples = 1,
                      .origin = format::MeasureOrigin::kept,
                      .from = happened},
                     {.name = "off_ratio", .value = compared.off, .origin = format::MeasureOrigin::predicted}},
        .remarks = compared.good() ? std::vector<std::string>{} : std::vector<std::string>{"off by more than 15 %"}};
}

bool plan_has_failed(const format::Advice& plan) {
    return std::ranges::any_of(plan.findings,
                               [](const auto& finding) { return finding.severity == format::Severity::fail; });
}

Result<format::Advice> plan_of(const PlanArguments& options, const PlanSources& sources) {
    Progress progress("plan", options.json);
    advice::PlanWishes wishes{
        .extrapolate = options.extrapolate,
        .progress = [&](std::uint64_t done, std::uint64_t all) { progress.show_count(done, all); }};
    for (const auto& text : sources.what_ifs) {
        FB_TRY_ASSIGN(what_if, what_if_from(text));
        wishes.what_ifs.push_back(std::move(what_if));
    }
    FB_TRY_ASSIGN(plan, advice::make_plan(sources.inputs, wishes));
    plan.made_unix_ns = sys::unix_ns();
    plan.made_by = fmt::format("{} on {}", fb_version(), sys::host_name());
    plan.key = {{"nodes", fmt::format("{:.0f}", format::find(plan.measures, "nodes")->value)}};
    if (!sources.plan_case.title.empty()) plan.key.emplace_back("case", sources.plan_case.title);
    if (sources.ranks_seconds >= ranks_seconds_told)
        plan.findings.push_back(
            {.check = "ranks",
             .subject = options.run,
             .severity = format::Severity::note,
             .text = fmt::format("ranks of {} waited {} a save (the median) for each other. The plan leaves this out, "
                                 "since the last rank computes until it arrives",
                                 options.run, show_seconds(sources.ranks_seconds))});
    return plan;
}

Result<Exit> run_plan(const PlanArguments& options) {
    if (!options.out.empty())
        FB_TRY(check_own_output(
            sys::posix_store(), options.out, options.replace,
            [](std::string_view text) { return is_advice(text, "plan"); }, "plan"));
    std::vector<format::Measure> happened;
    if (!options.check.empty()) {
        FB_TRY_ASSIGN(measures, read_run_measures(options.check, options.stream));
        happened = std::move(measures);
    }
    // A plan from a file is compared unchanged: its scale was a prediction too.
    FB_TRY_ASSIGN(sources, sources_of(options, options.plan.empty() ? happened : std::vector<format::Measure>{}));
    FB_TRY_ASSIGN(plan, plan_of(options, sources));
    const auto title = options.check.empty() ? std::string("published") : options.check;
    const auto compared =
        advice::compare(plan.measures, options.check.empty() ? sources.plan_case.published : happened);
    for (const auto& comparison : compared) plan.rows.push_back(compared_row(comparison, title));
    const bool failed = plan_has_failed(plan);
    if (options.json) say(Shown{format::encode(plan)});
    else if (options.check.empty() || failed) say(plan_text(plan, sources.plan_case.title));
    if (!options.json && !compared.empty()) say(comparison_text(compared, title));
    if (!options.out.empty()) FB_TRY(sys::write_text_durable(sys::posix_store(), options.out, format::encode(plan)));
    return !failed && std::ranges::all_of(compared, &advice::Compared::good) ? Exit::good : Exit::found;
}

}  // namespace

void add_plan(CommandLine& line) {
    const auto options = std::make_shared<PlanArguments>();
    auto verb =
        line.verb("plan", "Predict the cost of saves, drains and failures, and find the best interval and slots");
    verb.option("--run", options->run, "Take the measurements of this run");
    verb.option("--stream", options->stream,
                "With --run and --check: take this stream. Default: the stream with most bytes");
    verb.option("--preflight", options->preflight, "Take the measurements of forebay preflight: FILE.json, or -");
    verb.option("--bench", options->bench, "Take the measurements of forebay bench run: FILE.json, or -");
    verb.option("--profile", options->profile, "Take the measurements of forebay tune: FILE.json, or -");
    verb.option("--plan", options->plan, "Take the inputs of an earlier plan: FILE.json, or -");
    verb.option("--case", options->case_file, "Take the published figures of another run: FILE.toml");
    for (const auto& kind : advice::input_kinds())
        if (kind.key[0] != '\0') verb.option(plan_option_of(kind.key), options->inputs[kind.key], kind.help);
    verb.option("--slow-nodes", options->inputs["slow_nodes"],
                "Assume that a share of the nodes drains at a ratio of the normal rate: SHARE:RATIO");
    verb.option("--slow-targets", options->inputs["slow_targets"], "Assume the same for storage targets: SHARE:RATIO");
    verb.option("--what-if", options->what_ifs, "Add a row with another value of an input: KEY=VALUE[,VALUE...]");
    verb.option("--check", options->check,
                "Compare the prediction with this run. Exit code 1 if it is off by more than 15 %");
    verb.flag("--extrapolate", options->extrapolate, "Predict beyond 64 times the measured nodes or bytes");
    verb.option("--out", options->out, "Write the plan: FILE.json");
    verb.flag("--replace", options->replace, "With --out: replace a file that is not a plan");
    verb.json(options->json, "  Advice of kind \"plan\": see docs/formats/advice.md and its schema.\n");
    verb.examples(
        "  forebay plan --nodes 8100 --bytes-per-node 51432098765 --save-rate 29303703703 --drain-rate 463351000 \\\n  "
        "  --step-seconds 360 --mtbf 12h\n  forebay plan --run small --nodes 512 --target-rate 2T --what-if slots=1,2 "
        "--what-if slow_nodes=0.01:0.3\n  forebay plan --run /scratch/me/run7 --ends-in 30m\n  forebay plan --run "
        "small --check large\n  forebay plan --case bench/cases/plan-hacc.toml\nAmounts: 4096, 64M, 2G (powers of "
        "1024). Rates: amounts a second, with their coefficient of variation as in\n463M:0.1. Times: 90, 30m, 12h, 2d. "
        "Options go before files. Keys of --what-if are options: target_rate for\n--target-rate.\n");
    verb.action([options] { return run_plan(*options); });
}

}  // namespace forebay::cli
