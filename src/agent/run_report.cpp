#include "agent/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/try.hpp"
#include "catalog/run.hpp"
#include "telemetry/chronicle.hpp"
#include "telemetry/summary.hpp"
#include "telemetry/summary_json.hpp"
#include "telemetry/summary_text.hpp"

namespace forebay::agent {

namespace {

constexpr std::size_t rate_bins = 60;

}  // namespace

Result<> write_run_report(sys::Store& store, const NodeFileOfRun& file, std::uint32_t session) {
    FB_TRY(catalog::check_identity(store, file.run, file.run_id));
    FB_TRY_ASSIGN(chronicle, telemetry::read_chronicle(store, file.run, {.session = session}));
    if (chronicle.batches.empty()) return {};
    const auto summary = telemetry::summarize(chronicle);
    const telemetry::TextOptions options{.plain = true,
                                         .bytes_over_time = telemetry::bytes_over_time(chronicle, summary.begin_unix_ns,
                                                                                       summary.end_unix_ns, rate_bins)};
    const auto still_ours = [&] { return catalog::check_identity(store, file.run, file.run_id); };
    const auto own = fmt::format("{}/{}", file.run, catalog::own_directory);
    FB_TRY(sys::write_text_durable(store, own + "/summary.json", telemetry::summary_json(summary), still_ours));
    return sys::write_text_durable(store, own + "/report.txt", telemetry::summary_text(summary, options), still_ours);
}

}  // namespace forebay::agent
