#include "path/agent/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "path/catalog/run.hpp"
#include "path/telemetry/chronicle.hpp"
#include "path/telemetry/summary.hpp"
#include "path/telemetry/summary_json.hpp"
#include "path/telemetry/summary_text.hpp"

namespace forebay::agent {

namespace {

constexpr std::size_t rate_bins = 60;
// An agent lives in the memory of a computing node, so it reads no more than this. `forebay report` reads all.
constexpr std::uint64_t read_bytes_max = 64u << 20;

Result<> check_size(sys::Store& store, const std::string& run) {
    FB_TRY_ASSIGN(entries, store.list(fmt::format("{}/{}", run, catalog::own_directory)));
    std::uint64_t bytes = 0;
    for (const auto& entry : entries) bytes += entry.size;
    if (bytes <= read_bytes_max) return {};
    return Error{ErrorKind::unsupported,
                 fmt::format("the records of {} have {}: too much to read during a simulation", run, show_bytes(bytes)),
                 "all records", fmt::format("forebay report {}", run)};
}

}  // namespace

Result<> write_run_report(sys::Store& store, const NodeFileOfRun& file, std::uint32_t session) {
    FB_TRY(catalog::check_identity(store, file.run, file.run_id));
    FB_TRY(check_size(store, file.run));
    FB_TRY_ASSIGN(chronicle, telemetry::read_chronicle(store, file.run, {.session = session}));
    if (chronicle.batches.empty()) return {};
    const auto summary = telemetry::summarize(chronicle);
    const telemetry::TextOptions options{.plain = true,
                                         .bytes_over_time = telemetry::bytes_over_time(chronicle, summary.begin_unix_ns,
                                                                                       summary.end_unix_ns, rate_bins)};
    // The run may be moved or replaced while the report is computed.
    const auto still_ours = [&] { return catalog::check_identity(store, file.run, file.run_id); };
    const auto own = fmt::format("{}/{}", file.run, catalog::own_directory);
    FB_TRY(sys::write_text_durable(store, own + "/summary.json", telemetry::summary_json(summary), still_ours));
    return sys::write_text_durable(store, own + "/report.txt", telemetry::summary_text(summary, options), still_ours);
}

}  // namespace forebay::agent
