#include "insight/report/run_looker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/run.hpp"
#include "path/telemetry/here.hpp"

namespace forebay::report {

namespace {

constexpr std::size_t backlog_max = 600;  // samples for a late viewer: the last ten minutes of a quick agent
constexpr std::uint64_t status_file_max = 2 * format::status_bytes;

bool is_status(const sys::Entry& entry) {
    return !entry.is_directory && entry.name.starts_with("status-") && entry.name.ends_with(".json");
}

bool is_record(const sys::Entry& entry) {
    return !entry.is_directory && (entry.name.starts_with("timings-") || entry.name.starts_with("events-"));
}

}  // namespace

bool RunLooker::look(std::int64_t now_unix_ns) {
    const auto changed = read(now_unix_ns);
    const auto problem = changed ? std::string() : changed.error().line();
    const bool is_news = problem != problem_ || (changed && *changed);
    problem_ = problem;
    publish(now_unix_ns);
    return is_news;
}

Result<bool> RunLooker::read(std::int64_t now_unix_ns) {
    const auto own = fmt::format("{}/{}", where_.run, catalog::own_directory);
    auto entries = store_.list(own);
    if (!entries && entries.error().kind == ErrorKind::missing) {
        // A run without its own directory has no records yet; a missing run is an error.
        FB_TRY_ASSIGN(there, store_.exists(where_.run));
        if (!there) return entries.error();
        entries = std::vector<sys::Entry>();
    }
    FB_TRY(entries);
    Sizes sizes;
    for (const auto& entry : *entries)
        if (is_record(entry)) sizes[entry.name] = entry.size;
    // Records only grow, so equal sizes mean equal contents.
    const bool has_records = !sizes_ || sizes != *sizes_;
    if (has_records) {
        FB_TRY_ASSIGN(chronicle, telemetry::read_chronicle(store_, where_.run, {.with_timings = false}));
        chronicle_ = std::move(chronicle);
        sizes_ = std::move(sizes);
        // Forces read_statuses() to fill the new chronicle.
        statuses_.clear();
    }
    FB_TRY_ASSIGN(has_told, read_statuses(*entries));
    if (has_told) sample(now_unix_ns);
    FB_TRY_ASSIGN(has_kept, read_kept());
    if (has_records || has_told) {
        auto summary = telemetry::summarize(chronicle_);
        const std::lock_guard lock(mutex_);
        newest_ = {std::move(summary), chronicle_.statuses};
    }
    return has_records || has_told || has_kept;
}

// A torn line is still being written; the line read before stays until the next look.
Result<bool> RunLooker::read_statuses(const std::vector<sys::Entry>& entries) {
    std::map<std::string, std::string> texts;
    for (const auto& entry : entries) {
        if (!is_status(entry)) continue;
        const auto path = fmt::format("{}/{}/{}", where_.run, catalog::own_directory, entry.name);
        auto text = sys::read_text(store_, path, status_file_max);
        if (text && format::decode_status(*text, path)) texts[entry.name] = std::move(*text);
        else if (const auto before = statuses_.find(entry.name); before != statuses_.end()) texts.insert(*before);
    }
    if (texts == statuses_) return false;
    statuses_ = std::move(texts);
    chronicle_.statuses.clear();
    for (const auto& [name, text] : statuses_)
        if (auto status = format::decode_status(text, name)) chronicle_.statuses.push_back(std::move(*status));
    std::ranges::stable_sort(chronicle_.statuses, {},
                             [](const format::StatusLine& line) { return std::tie(line.host, line.virtual_node); });
    return true;
}

// Snapshots change only with the names in the streams' directories. Only then the heads of manifests are read.
Result<bool> RunLooker::read_kept() {
    FB_TRY_ASSIGN(streams, catalog::streams(store_, where_.run));
    std::map<std::string, std::string> listings;
    std::set<std::string> changed;
    for (const auto& stream : streams) {
        const auto entries = catalog::list_stream(store_, where_.run, stream);
        if (!entries && entries.error().kind == ErrorKind::missing) continue;  // removed after the list was read
        FB_TRY(entries);
        auto& names = listings[stream];
        for (const auto& entry : *entries) names += entry.name + '\n';
        const auto before = listings_.find(stream);
        if (before == listings_.end() || before->second != names) changed.insert(stream);
    }
    if (changed.empty() && listings.size() == listings_.size()) return false;
    std::erase_if(
        kept_, [&](const auto& entry) { return changed.contains(entry.stream) || !listings.contains(entry.stream); });
    for (const auto& stream : changed) {
        const auto history = catalog::history(store_, where_.run, stream);
        if (!history && history.error().kind == ErrorKind::missing) continue;
        FB_TRY(history);
        const auto add = [&](const std::vector<catalog::Version>& versions, const char* standing) {
            for (const auto& version : versions)
                kept_.push_back({stream, version.snapshot.step, version.readable ? standing : "unreadable",
                                 version.head.sealed_unix_ns});
        };
        add(history->living, "committed");
        add(history->abandoned, "abandoned");
        add(history->foreign, "of another run");
    }
    std::ranges::stable_sort(
        kept_, [](const auto& a, const auto& b) { return std::tie(a.stream, b.step) < std::tie(b.stream, a.step); });
    listings_ = std::move(listings);
    return true;
}

void RunLooker::sample(std::int64_t now_unix_ns) {
    BacklogSample sample{.unix_ns = now_unix_ns};
    for (const auto& status : chronicle_.statuses) {
        sample.bytes += status.counts.backlog_bytes;
        sample.rate_bytes_per_second += status.counts.rate_bytes_per_second;
    }
    backlog_.push_back(sample);
    if (backlog_.size() > backlog_max) backlog_.erase(backlog_.begin());
}

// The time of the state is in the text, but is no news by itself.
void RunLooker::publish(std::int64_t now_unix_ns) {
    auto summary = newest().summary;
    summary.problems.insert(summary.problems.begin(), problem_);
    if (problem_.empty()) summary.problems.erase(summary.problems.begin());
    chronicle_.run = where_.run;
    // Agents of this host are looked up directly.
    telemetry::look_here(chronicle_, where_.staging);
    auto state = page_state({chronicle_, summary, kept_, backlog_, now_unix_ns});
    if (state == state_) return;
    state_ = std::move(state);
    feed_.put(fmt::format("{{\"told\":{:.3f},{}", static_cast<double>(now_unix_ns) * 1e-9, state_.substr(1)));
}

void RunLooker::run() {
    while (true) {
        const auto begin = sys::Clock::now();
        static_cast<void>(look(sys::unix_ns()));
        const auto pause = std::max<sys::Clock::duration>(look_pause, look_share * (sys::Clock::now() - begin));
        std::unique_lock lock(mutex_);
        if (ending_.wait_for(lock, pause, [&] { return stopped_; })) return;
    }
}

void RunLooker::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    ending_.notify_all();
}

RunLooker::Newest RunLooker::newest() const {
    const std::lock_guard lock(mutex_);
    return newest_;
}

}  // namespace forebay::report
