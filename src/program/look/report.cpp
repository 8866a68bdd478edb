// forebay report: cost of a run, safety of its data, slow parts and nodes, and what to do.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/base/error_text.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/say.hpp"
#include "insight/report/html_page.hpp"
#include "path/catalog/run.hpp"
#include "path/telemetry/left_in_memory.hpp"
#include "path/telemetry/summary_json.hpp"
#include "path/telemetry/summary_text.hpp"
#include "program/look/report_png.hpp"
#include "program/own_output.hpp"
#include "program/python_tool.hpp"
#include "program/run_argument.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

// Timings are held in memory at their file size. Larger timings are left out; times then come from each node's first
// and last write to each target.
constexpr std::uint64_t timings_bytes_max = 512u << 20;
constexpr std::size_t bars_of_text = 60;

struct ReportArguments {
    std::vector<std::string> runs;
    std::string html, png, csv_targets, darshan, python, servers;
    std::int64_t session = 0;
    bool plain = false, json = false, replace = false;
};

struct ReportedRun {
    telemetry::Chronicle chronicle;
    telemetry::Summary summary;
    std::vector<telemetry::SealedLeft> left = {};  // sealed, and never committed
};

Result<bool> has_room_for_timings(sys::Store& store, const std::string& run) {
    const auto entries = store.list(fmt::format("{}/{}", run, catalog::own_directory));
    if (!entries && entries.error().kind == ErrorKind::missing) return true;
    FB_TRY(entries);
    std::uint64_t bytes = 0;
    for (const auto& entry : *entries)
        if (entry.name.starts_with("timings-")) bytes += entry.size;
    return bytes <= timings_bytes_max;
}

Result<ReportedRun> read_run(sys::Store& store, const std::string& given, std::uint32_t session) {
    FB_TRY_ASSIGN(match, find_run(store, given));
    FB_TRY_ASSIGN(run, match.whole());
    FB_TRY_ASSIGN(with_timings, has_room_for_timings(store, run));
    ReportedRun reported;
    FB_TRY_ASSIGN(chronicle, telemetry::read_chronicle(store, run, {.with_timings = with_timings, .session = session}));
    if (chronicle.batches.empty() && chronicle.statuses.empty())
        return Error{ErrorKind::missing,
                     session == 0 ? fmt::format("no agent has reported on {}", run)
                                  : fmt::format("no agent has reported on session {} of {}", session, run),
                     "", session == 0 ? "forebay ls " + run : "leave --session out for all sessions"};
    if (!with_timings)
        chronicle.problems.push_back(
            "there are more timings than the report reads: it takes the times of writes from the first and the last "
            "write of each node to each target");
    reported.summary = telemetry::summarize(chronicle);
    FB_TRY_ASSIGN(left, telemetry::left_in_memory(store, chronicle, sys::unix_ns()));
    reported.left = std::move(left);
    reported.chronicle = std::move(chronicle);
    return reported;
}

Result<> may_write(sys::Store& store, const std::string& path, std::string_view mark, bool replace) {
    return check_own_output(
        store, path, replace, [&](std::string_view text) { return !mark.empty() && text.starts_with(mark); },
        "file that forebay report has written");
}

constexpr std::string_view csv_head =
    "run,target,bytes,writes,busy_seconds,rate_bytes_per_second,last_write_seconds,ratio\n";

std::string csv_word(const std::string& text) {
    std::string quoted = "\"";
    for (const char letter : show_text(text)) quoted.append(letter == '"' ? 2 : 1, letter);
    return quoted + "\"";
}

std::string csv_of(const std::vector<ReportedRun>& runs) {
    std::string csv(csv_head);
    for (const auto& [chronicle, summary, left] : runs)
        for (const auto& row : summary.target_rows) {
            const auto slow = std::ranges::find(summary.slow_targets, row.name, &telemetry::Slow::name);
            csv += fmt::format("{},{},{},{},{},{},{},{}\n", csv_word(summary.run), csv_word(row.name), row.bytes,
                               row.writes, row.busy_seconds, row.rate, row.last_write_seconds,
                               slow == summary.slow_targets.end() ? std::string() : fmt::format("{}", slow->ratio));
        }
    return csv;
}

Result<> write_html(sys::Store& store, const ReportArguments& options, const std::vector<ReportedRun>& runs) {
    FB_TRY(may_write(store, options.html, report::html_mark, options.replace));
    std::vector<report::HtmlRun> shown;
    shown.reserve(runs.size());
    for (const auto& run : runs) shown.push_back({run.chronicle, run.summary});
    const auto page = report::html_page(shown, fmt::format("{:016x}{:016x}", sys::random_u64(), sys::random_u64()));
    FB_TRY(sys::write_text_durable(store, options.html, page));
    if (!options.json) say("{}  {} bytes\n", options.html, page.size());
    return {};
}

void print_text(const std::vector<ReportedRun>& runs, bool plain) {
    const int columns = sys::terminal_columns();
    Shown text;
    for (const auto& [chronicle, summary, left] : runs) {
        if (!text.text.empty()) text.text += "\n";
        text.text += telemetry::summary_text(
            summary, {.plain = plain,
                      .columns = columns > 0 ? columns : 100,
                      .bytes_over_time = telemetry::bytes_over_time(chronicle, summary.begin_unix_ns,
                                                                    summary.end_unix_ns, bars_of_text)});
        for (const auto& snapshot : left) text += lines("{}\n", Message{telemetry::text_of(snapshot)});
        if (!left.empty()) text += lines("  {}{}\n", next_label, Message{telemetry::next_of(left)});
    }
    say(text);
}

void print_summaries(const std::vector<ReportedRun>& runs) {
    std::string text;
    for (const auto& run : runs) text += (text.empty() ? "" : ",\n") + telemetry::summary_json(run.summary);
    say(Shown{runs.size() == 1 ? text : "[\n" + text + "]\n"});
}

Result<Exit> report_log(const ReportArguments& options) {
    if (!options.runs.empty() || !options.html.empty() || !options.png.empty() || !options.csv_targets.empty() ||
        options.session != 0 || options.plain || options.replace)
        return Error{ErrorKind::refused,
                     "--darshan LOG works only with --servers, --python and --json: the log is not a run", "",
                     "forebay report --darshan LOG"};
    FB_TRY(sys::posix_store().open(options.darshan, sys::Access::read));
    std::vector<std::string> arguments;
    if (options.json) arguments.push_back("--json");
    if (!options.servers.empty()) arguments.push_back("--servers=" + options.servers);
    arguments.insert(arguments.end(), {"--", options.darshan});
    auto error = become_tool("darshan_report", options.python, arguments, {});
    error.next =
        "--python PATH: Python 3.10 or newer, with PyDarshan (pip install darshan) if darshan-parser is not in PATH";
    return error;
}

Result<Exit> report_runs(const ReportArguments& options) {
    auto& store = sys::target_store();
    if (!options.darshan.empty()) return report_log(options);
    if ((!options.python.empty() && options.png.empty()) || !options.servers.empty())
        return Error{ErrorKind::refused, "--servers needs --darshan, and --python needs --darshan or --png"};
    if (options.runs.empty()) return Error{ErrorKind::refused, "no run is given", "", "forebay report RUN"};
    if (options.session < 0 || options.session > 0xffffffff)
        return Error{ErrorKind::refused, fmt::format("--session {} is not the number of a session", options.session)};
    std::vector<ReportedRun> runs;
    for (const auto& given : options.runs) {
        FB_TRY_ASSIGN(run, read_run(store, given, static_cast<std::uint32_t>(options.session)));
        runs.push_back(std::move(run));
    }
    if (!options.csv_targets.empty()) {
        FB_TRY(may_write(store, options.csv_targets, csv_head, options.replace));
        FB_TRY(sys::write_text_durable(store, options.csv_targets, csv_of(runs)));
        if (!options.json) say("{}  {} runs\n", options.csv_targets, runs.size());
    }
    if (!options.html.empty()) FB_TRY(write_html(store, options, runs));
    if (!options.png.empty()) {
        FB_TRY(may_write(store, options.png, {}, options.replace));  // a picture has no mark of its maker
        FB_TRY(write_report_png(store, {runs.front().chronicle, runs.front().summary}, options.png, options.python));
        if (!options.json) say("{}\n", options.png);
    }
    if (options.json) print_summaries(runs);
    else if (options.html.empty() && options.csv_targets.empty() && options.png.empty())
        print_text(runs, options.plain);
    const bool whole = std::ranges::all_of(runs, [](const auto& run) { return run.summary.problems.empty(); });
    return whole ? Exit::good : Exit::found;
}

}  // namespace

void add_report(CommandLine& line) {
    const auto options = std::make_shared<ReportArguments>();
    auto verb = line.verb(
        "report", "Report the cost of a run, the safety of its data, slow nodes and targets, and the next step");
    verb.arguments("RUN", options->runs,
                   "One or more runs. For several, the page shows the first run and the scaling over all");
    verb.option("--html", options->html, "Write a page, FILE.html, that opens without a network");
    verb.option("--png", options->png, "Write pictures of the first run, FILE.png, with Python and matplotlib");
    verb.option("--csv-targets", options->csv_targets, "Write the storage targets as a table, FILE.csv");
    verb.option("--session", options->session, "Report only on the session of this number. 0: all sessions");
    verb.option("--darshan", options->darshan, "Find slow storage targets in a Darshan log, instead of a run");
    verb.option("--servers", options->servers,
                "With --darshan: group targets by server with this file. It holds the output of lctl get_param "
                "'osc.*.ost_conn_uuid'");
    verb.option("--python", options->python,
                "Use this Python: for --png it needs matplotlib, for --darshan without darshan-parser in PATH it needs "
                "PyDarshan");
    verb.flag("--plain", options->plain, "Print only ASCII");
    verb.flag("--replace", options->replace, "Replace a file that forebay report has not written");
    verb.json(options->json,
              "  summary.json, see docs/formats/summary.md and its schema. For several runs an array of them.\n  With "
              "--darshan: log, reader, processes, seconds, partial, elsewhere, only_read, only_read_bytes (files on\n  "
              "Lustre without writes), mounts: an array of mount, files,\n  small_files, bytes, seconds, median_rate, "
              "told_apart, slow, seconds_without, setstripe, slow_servers,\n  targets: an array of target, name, slow, "
              "server, files, bytes, seconds, rate, ratio, file_ratio, z,\n  correlation.\n");
    verb.examples(
        "  forebay report /scratch/me/run7\n  forebay report /scratch/me/run7 --html report.html\n  forebay report "
        "run-64 run-128 run-256 --html scaling.html\n  forebay report /scratch/me/run7 --json > summary.json\n  "
        "forebay report --darshan me_ior_id7.darshan\nWithout --html, --png, --csv-targets and --json it prints a "
        "screen of text and writes nothing. It reads the records\nof the agents in RUN/forebay, also during the "
        "run.\n");
    verb.action([options] { return report_runs(*options); });
}

}  // namespace forebay::cli
