// forebay metrics: prints the numbers of a run for Prometheus.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/base/try.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/say.hpp"
#include "path/telemetry/metrics.hpp"
#include "program/own_output.hpp"
#include "program/run_argument.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct MetricsArguments {
    std::string run;
    std::string out;
    bool openmetrics = false, replace = false;
};

bool is_metrics(std::string_view text) { return text.starts_with("# ") && text.find("forebay_") != text.npos; }

Result<Exit> tell_metrics(const MetricsArguments& options) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(match, find_run(store, options.run));
    FB_TRY_ASSIGN(run, match.whole());
    FB_TRY_ASSIGN(chronicle, telemetry::read_chronicle(store, run, {.with_timings = false}));
    std::uint32_t session = 0;
    for (const auto& status : chronicle.statuses) session = std::max(session, status.session);
    std::erase_if(chronicle.statuses, [&](const auto& status) { return status.session != session; });
    const auto form = options.openmetrics ? telemetry::MetricsForm::openmetrics : telemetry::MetricsForm::prometheus;
    const auto text = telemetry::metrics_text(telemetry::summarize(chronicle), chronicle.statuses, form);
    for (const auto& problem : chronicle.problems) print_error({ErrorKind::corrupt, problem});
    if (options.out.empty()) {
        say(Shown{text});
    } else {
        FB_TRY(check_own_output(store, options.out, options.replace, is_metrics, "file of metrics of Forebay"));
        FB_TRY(sys::write_text_durable(store, options.out, text));
    }
    return chronicle.problems.empty() ? Exit::good : Exit::found;
}

}  // namespace

void add_metrics(CommandLine& line) {
    const auto options = std::make_shared<MetricsArguments>();
    auto verb = line.verb("metrics", "Print the figures of a run for Prometheus");
    verb.argument("RUN", options->run, "The directory of the run");
    verb.option("--out", options->out, "Write this file, by a rename, instead of printing");
    verb.flag("--replace", options->replace, "Replace a file without metrics of Forebay");
    verb.flag("--openmetrics", options->openmetrics,
              "Print OpenMetrics 1.0 instead of the text for node-exporter's textfile collector");
    verb.examples(
        "  forebay metrics /scratch/me/run7\n  forebay metrics /scratch/me/run7 --out "
        "/var/lib/node_exporter/run7.prom\nThe figures cover all sessions of the run, and the nodes of the newest "
        "session. Exit code 1 if a part of the run\ncannot be read.\n");
    verb.action([options] { return tell_metrics(*options); });
}

}  // namespace forebay::cli
