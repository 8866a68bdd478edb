#include "path/telemetry/chronicle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/try.hpp"
#include "core/format/json_read.hpp"
#include "path/catalog/run.hpp"

namespace forebay::telemetry {

namespace {

// An agent renames a node's file to .old at 4 MiB (agent/event_sinks.hpp), so a larger file is not ours.
constexpr std::uint64_t file_bytes_max = 8u << 20;

std::optional<EventLine> event_from(std::string_view line) {
    const auto document = format::json::Document::parse(line);
    if (!document || document->root().member("forebay").text() != "event" ||
        document->root().member("version").u64() != 1)
        return {};
    const auto root = document->root();
    const auto unix_ns = root.member("unix_ns").i64(), step = root.member("step").i64();
    const auto event = root.member("event").text(), host = root.member("host").text(),
               stream = root.member("stream").text();
    const auto bytes = root.member("bytes").u64();
    const auto seconds = root.member("seconds").f64();
    if (!unix_ns || !step || !event || !host || !stream || !bytes || !seconds) return {};
    return EventLine{*unix_ns, *event, *host,   *stream, root.member("text").text().value_or(""),
                     *step,    *bytes, *seconds};
}

class Reader {
public:
    Reader(sys::Store& store, const ChronicleOptions& options, Chronicle& into)
        : store_(store), options_(options), into_(into) {}

    void read(const std::string& path, const std::string& name) {
        const bool timings = name.starts_with("timings-") && name.ends_with(".bin");
        const bool status = name.starts_with("status-") && name.ends_with(".json");
        const bool events = name.starts_with("events-") && name.ends_with(".jsonl");
        if (!status && (options_.statuses_alone || (!timings && !events))) return;
        if (events && options_.session != 0) return;  // events have no session
        auto text = sys::read_text(store_, path, file_bytes_max);
        // An agent may rename a full file to .old between the list and this read.
        if (!text && text.error().kind == ErrorKind::missing) return;
        if (!text) return into_.problems.push_back(text.error().line());
        if (timings) take_timings(path, *text);
        if (status) take_status(path, *text);
        if (events) take_events(path, *text);
    }

private:
    bool wanted(std::uint32_t session) const { return options_.session == 0 || session == options_.session; }

    void take_timings(const std::string& path, const std::string& text) {
        auto timings = format::decode_timings(bytes_of(text), options_.with_timings);
        if (timings.damaged_bytes > 0)
            into_.problems.push_back(fmt::format("{} bytes of {} are damaged", timings.damaged_bytes, path));
        std::erase_if(timings.batches, [&](const auto& batch) { return !wanted(batch.session); });
        std::ranges::move(timings.batches, std::back_inserter(into_.batches));
    }

    // A torn status is just being written: a second read finds it whole.
    void take_status(const std::string& path, const std::string& text) {
        auto status = format::decode_status(text, path);
        if (!status) {
            const auto again = sys::read_text(store_, path, file_bytes_max);
            if (again && *again != text) status = format::decode_status(*again, path);
        }
        if (!status) return into_.problems.push_back(status.error().line());
        status->path = path;
        if (wanted(status->session)) into_.statuses.push_back(std::move(*status));
    }

    void take_events(const std::string& path, std::string_view text) {
        std::uint64_t wrong = 0;
        while (!text.empty()) {
            const auto end = text.find('\n');
            auto event = event_from(text.substr(0, end));
            if (event) into_.events.push_back(std::move(*event));
            else ++wrong;
            text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        }
        if (wrong > 0) into_.problems.push_back(fmt::format("{} lines of {} are not events", wrong, path));
    }

    sys::Store& store_;
    const ChronicleOptions& options_;
    Chronicle& into_;
};

}  // namespace

Result<Chronicle> read_chronicle(sys::Store& store, const std::string& run, const ChronicleOptions& options) {
    Chronicle chronicle{.run = run};
    FB_TRY_ASSIGN(there, store.exists(run));
    if (!there) return Error{ErrorKind::missing, fmt::format("there is no run {}: no such directory.", run)};
    const auto own = fmt::format("{}/{}", run, catalog::own_directory);
    const auto entries = store.list(own);
    if (!entries && entries.error().kind == ErrorKind::missing)
        return Error{ErrorKind::missing, fmt::format("{} has no directory forebay for the records of agents", run), "",
                     "forebay ls " + run};
    FB_TRY(entries);
    Reader reader(store, options, chronicle);
    // Files that were renamed to .old are older, so they come first.
    for (const bool aside : {true, false})
        for (const auto& entry : *entries)
            if (!entry.is_directory && (entry.name.find(".old.") != std::string::npos) == aside)
                reader.read(own + "/" + entry.name, entry.name);
    std::ranges::stable_sort(chronicle.batches, {}, [](const format::TimingBatch& batch) {
        return std::tuple(batch.saved_unix_ns, batch.node, batch.host);
    });
    std::ranges::stable_sort(chronicle.statuses, {},
                             [](const format::StatusLine& line) { return std::tie(line.host, line.virtual_node); });
    std::ranges::stable_sort(chronicle.events, {}, &EventLine::unix_ns);
    return chronicle;
}

std::string node_name(const std::string& host, const std::string& virtual_node) {
    return virtual_node.empty() || virtual_node == "0" ? host : host + "/" + virtual_node;
}
std::string node_name(const format::TimingBatch& batch) { return node_name(batch.host, batch.virtual_node); }
std::string node_name(const format::StatusLine& status) { return node_name(status.host, status.virtual_node); }

}  // namespace forebay::telemetry
