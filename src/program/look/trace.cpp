// forebay trace: writes the timeline of a run for Perfetto.

#include "insight/report/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <memory>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/move/export_place.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "path/catalog/output.hpp"
#include "program/run_argument.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

constexpr std::size_t told_nodes_max = 4;

struct TraceArguments {
    std::string run;
    std::string out;
    std::string format = "pftrace";
    std::string steps;
    std::int64_t session = 0;
    bool all = false;
    bool replace = false;
    bool json = false;
};

// "120", "120:240", "120:" or ":240".
Result<> take_steps(const std::string& text, report::TraceRequest& request) {
    if (text.empty()) return {};
    const auto refusal =
        Error{ErrorKind::refused, fmt::format("--steps is FIRST:LAST, as in 120:240, 120: or :240, not '{}'", text)};
    const auto number = [](std::string_view digits, std::int64_t& into) {
        if (digits.empty()) return true;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
        return error == std::errc{} && end == digits.data() + digits.size() && into >= 0;
    };
    const auto colon = text.find(':');
    const auto first = std::string_view(text).substr(0, colon);
    const auto last = colon == std::string::npos ? first : std::string_view(text).substr(colon + 1);
    if (text == ":" || !number(first, request.first_step) || !number(last, request.last_step)) return refusal;
    if (request.first_step > request.last_step)
        return Error{ErrorKind::refused, fmt::format("--steps {}: the first step is after the last step", text)};
    return {};
}

Result<report::TraceRequest> request_of(sys::Store& store, const TraceArguments& options) {
    report::TraceRequest request{.all = options.all};
    if (options.format != "pftrace" && options.format != "json")
        return Error{ErrorKind::refused, fmt::format("--format must be pftrace or json, not '{}'", options.format)};
    request.format = options.format == "json" ? report::TraceFormat::chrome : report::TraceFormat::perfetto;
    if (options.session < 0 || options.session > std::numeric_limits<std::uint32_t>::max())
        return Error{ErrorKind::refused, fmt::format("--session {} is not the number of a session", options.session)};
    request.session = static_cast<std::uint32_t>(options.session);
    FB_TRY(take_steps(options.steps, request));
    FB_TRY_ASSIGN(run, find_run(store, options.run));
    request.run = run.path;
    request.to = options.out;
    if (request.to.empty()) {
        const auto name = std::filesystem::weakly_canonical(run.path).filename().string();
        request.to = fmt::format("{}.{}", name.empty() ? "run" : name, options.format);
    }
    FB_TRY(catalog::check_output(store, request.to));
    FB_TRY_ASSIGN(is_there, store.exists(request.to));
    if (is_there && !options.replace)
        return Error{ErrorKind::refused, fmt::format("{} exists", request.to), "the file is unchanged",
                     "give --replace, or another name with --out"};
    FB_TRY(move::check_target(store, request.to, options.replace, "the file is unchanged"));
    return request;
}

Json names_of(const std::vector<std::string>& names) {
    auto array = Json::array();
    for (const auto& name : names) array.push(name);
    return array;
}

void print_json(const report::TraceRequest& request, const report::TraceReport& report) {
    auto object = Json::object();
    object.set("file", request.to).set("bytes", report.bytes).set("nodes", report.nodes_of_run);
    object.set("slices", report.counts.slices).set("points", report.counts.points).set("tracks", report.counts.tracks);
    object.set("left_out", report.counts.left_out).set("dropped", report.dropped).set("seed", report.seed);
    object.set("slowest", names_of(report.slowest)).set("others", names_of(report.others));
    object.set("problems", names_of(report.problems)).print();
}

std::string some_of(const std::vector<std::string>& names) {
    const auto count = std::min(told_nodes_max, names.size());
    const std::vector<std::string> some(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(count));
    return fmt::format("{}{}", fmt::join(some, ", "),
                       count < names.size() ? fmt::format(" and {} more", names.size() - count) : "");
}

void print_text(const report::TraceRequest& request, const report::TraceReport& report) {
    const auto shown = report.slowest.size() + report.others.size();
    say("{}  {}, {} of {} of {}\n", request.to, show_bytes(report.bytes), show_count(report.counts.slices, "slice"),
        shown, show_count(report.nodes_of_run, "node"));
    if (!report.slowest.empty() && shown < report.nodes_of_run) {
        say("  the slowest {}: {}\n", report.slowest.size(), some_of(report.slowest));
        say("  and {} chosen at random (seed {:08x}): {}\n  --all shows every node.\n", report.others.size(),
            report.seed, some_of(report.others));
    }
    if (report.counts.left_out > 0)
        say("  {} timings are left out: their times are impossible, or too many overlap.\n", report.counts.left_out);
    if (report.dropped > 0) say("  {} timings were lost, as their buffer was full.\n", report.dropped);
    for (const auto& problem : report.problems) say("  {}\n", problem);
    say("Open it in {}. The data stay on your machine.\n", request.format == report::TraceFormat::perfetto
                                                               ? "https://ui.perfetto.dev"
                                                               : "https://ui.perfetto.dev or chrome://tracing");
}

Result<Exit> trace_of(const TraceArguments& options) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(request, request_of(store, options));
    Progress progress("trace", options.json);
    const auto report =
        report::write_trace(store, request, [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
    FB_TRY(report);
    if (options.json) print_json(request, *report);
    else print_text(request, *report);
    return report->problems.empty() ? Exit::good : Exit::found;
}

}  // namespace

void add_trace(CommandLine& line) {
    const auto options = std::make_shared<TraceArguments>();
    auto verb = line.verb("trace", "Write the timeline of a run for Perfetto: saves, drains, writes, commits");
    verb.argument("RUN", options->run, "A finished or active run");
    verb.option("--out", options->out, "Write FILE. Default: the name of the run, in the current directory");
    verb.option("--format", options->format, "Write pftrace (Perfetto) or json (Chrome's trace viewer, larger)");
    verb.flag("--all", options->all, "Show every node, not only the 16 slowest nodes and 16 chosen at random");
    verb.option("--session", options->session, "Show only this session. 0: all");
    verb.option("--steps", options->steps, "Show only these steps: FIRST:LAST, FIRST: or :LAST");
    verb.flag("--replace", options->replace, "Replace FILE when the new file is whole");
    verb.json(options->json,
              "  file, bytes, nodes (of the run), slices, points (of counters), tracks, left_out (timings with "
              "impossible times),\n  dropped (by agents, as their buffer was full), seed, slowest and others (names of "
              "nodes), problems.\n");
    verb.examples(
        "  forebay trace run7\n  forebay trace run7 --steps 120:240 --out late.pftrace\n  forebay trace run7 --all "
        "--format json\nEach node is a process. Below it are tracks for its snapshots, its agent, its writing threads "
        "and its ranks.\nExit code 1 if a file of timings is damaged. Its undamaged part is shown.\n");
    verb.action([options] { return trace_of(*options); });
}

}  // namespace forebay::cli
