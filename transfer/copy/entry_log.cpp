#include "transfer/copy/entry_log.hpp"

#include <algorithm>
#include <utility>

#include "core/base/path.hpp"

#include "core/sys/tree_place.hpp"

namespace forebay::tree {

namespace {

// For a screen or a mail. The report has all.
constexpr std::size_t first_max = 1'000;
// A line names three of these.
constexpr std::uint64_t runs_max = 10;
// More than a screen shows. Each entry is compared with all of them.
constexpr std::size_t causes_max = 32;
constexpr std::size_t cause_paths_max = 3;

bool has_cause(const LogEntry& log_entry) {
    switch (log_entry.kind) {
        case EntryEvent::vanished:
        case EntryEvent::changed:
        case EntryEvent::failed:
        case EntryEvent::not_kept:
        case EntryEvent::saved_in_manifest:
        case EntryEvent::skipped:
        case EntryEvent::released:
        case EntryEvent::flags_not_copied:
        case EntryEvent::adjusted:
        case EntryEvent::would_adjust: return !log_entry.why.empty() && !log_entry.why.starts_with(owner_not_kept);
        default: return false;
    }
}

}  // namespace

const char* name_of(EntryEvent kind) {
    switch (kind) {
        case EntryEvent::vanished: return "vanished";
        case EntryEvent::changed: return "changed";
        case EntryEvent::failed: return "failed";
        case EntryEvent::not_kept: return "not_kept";
        case EntryEvent::saved_in_manifest: return "kept_beside";
        case EntryEvent::skipped: return "passed_over";
        case EntryEvent::released: return "released";
        case EntryEvent::as_files: return "as_files";
        case EntryEvent::flags_not_copied: return "flags_left";
        case EntryEvent::adjusted: return "adjusted";
        case EntryEvent::differs: return "differs";
        case EntryEvent::missing_in_target: return "only_source";
        case EntryEvent::extra_in_target: return "only_target";
        case EntryEvent::would_copy: return "would_copy";
        case EntryEvent::would_adjust: return "would_adjust";
        case EntryEvent::would_remove: return "would_remove";
        case EntryEvent::removed: return "removed";
        case EntryEvent::replaced: return "replaced";
        case EntryEvent::copied: return "copied";
        case EntryEvent::linked: return "linked";
        case EntryEvent::count: break;
    }
    return "unknown";
}

bool is_error(EntryEvent kind) {
    return kind == EntryEvent::failed || kind == EntryEvent::vanished || kind == EntryEvent::changed;
}

Error of_target(const Error& error) {
    // An unsupported part has its own text. For a missing entry OpenFolders::with_side() adds the side.
    if (error.kind == ErrorKind::unsupported || error.kind == ErrorKind::missing) return error;
    return with_context(error, std::string(at_target) + ": " + error.what);
}

bool is_given_up(std::string_view why) { return why.ends_with(sys::given_up); }

namespace {

// The entry is complete at the target. Half of the room is reserved for real problems.
bool is_fine(EntryEvent kind) { return kind == EntryEvent::adjusted || kind == EntryEvent::flags_not_copied; }

}  // namespace

std::string cause_of(const LogEntry& log_entry) {
    if (!has_cause(log_entry)) return "";
    auto cause = log_entry.why;
    const auto leaf = leaf_of(log_entry.path);
    const auto ends_as_name = [&](std::size_t end) {
        return end < cause.size() && (cause[end] == ':' || cause[end] == ' ');
    };
    const auto at = cause.find(log_entry.path);
    const bool begins_as_path = at == 0 || (at != cause.npos && cause[at - 1] == '/');
    if (begins_as_path && ends_as_name(at + log_entry.path.size())) cause.replace(at, log_entry.path.size(), "*");
    else if (const auto at_leaf = cause.find(": " + leaf + ":"); at_leaf != cause.npos)
        cause.replace(at_leaf + 2, leaf.size(), "*");
    return cause;
}

void EntryLog::add(EntryEvent kind, std::string path, std::string why) {
    const LogEntry log_entry{.kind = kind, .path = std::move(path), .why = std::move(why)};
    const std::lock_guard lock(mutex_);
    if (take_ && taken_) taken_ = take_(log_entry);
    if (is_record(kind)) return;
    const auto count_of_kind = ++counts_[static_cast<std::size_t>(kind)];
    const bool is_owner = log_entry.why.starts_with(owner_not_kept);
    if (is_owner) ++owners_;
    if (kind == EntryEvent::failed && is_given_up(log_entry.why)) ++given_up_;
    // Only the first few runs are kept: a tree of many runs would fill the list.
    if (kind == EntryEvent::as_files && count_of_kind > runs_max) return;
    if (is_error(kind) && log_entry.why.starts_with(at_target)) ++at_target_;
    if (first_.size() < (is_owner || is_fine(kind) ? first_max / 2 : first_max)) first_.push_back(log_entry);
    count_cause(log_entry);
}

void EntryLog::count_cause(const LogEntry& log_entry) {
    const auto why = cause_of(log_entry);
    if (why.empty()) return;
    const auto is_same = [&](const Cause& cause) { return cause.kind == log_entry.kind && cause.why == why; };
    auto cause = std::ranges::find_if(causes_, is_same);
    if (cause == causes_.end() && causes_.size() >= (is_fine(log_entry.kind) ? causes_max / 2 : causes_max)) return;
    if (cause == causes_.end()) cause = causes_.insert(cause, {.kind = log_entry.kind, .why = why});
    ++cause->count;
    if (cause->paths.size() < cause_paths_max) cause->paths.push_back(log_entry.path);
}

void EntryLog::add_error(std::string path, const Error& error) {
    add(error.kind == ErrorKind::missing ? EntryEvent::vanished : EntryEvent::failed, std::move(path), error.what);
}

std::uint64_t EntryLog::count_of(EntryEvent kind) const {
    const std::lock_guard lock(mutex_);
    return counts_[static_cast<std::size_t>(kind)];
}

std::uint64_t EntryLog::owners() const {
    const std::lock_guard lock(mutex_);
    return owners_;
}

std::uint64_t EntryLog::errors() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t errors = 0;
    for (std::size_t kind = 0; kind < counts_.size(); ++kind)
        if (is_error(static_cast<EntryEvent>(kind))) errors += counts_[kind];
    return errors;
}

std::uint64_t EntryLog::errors_at_target() const {
    const std::lock_guard lock(mutex_);
    return at_target_;
}

std::uint64_t EntryLog::given_up() const {
    const std::lock_guard lock(mutex_);
    return given_up_;
}

bool EntryLog::has_errors() const { return errors() > 0 || !taken(); }

bool EntryLog::are_all(std::initializer_list<EntryEvent> kinds) const {
    const std::lock_guard lock(mutex_);
    for (std::size_t other = 0; other < counts_.size(); ++other)
        if (counts_[other] > 0 && std::ranges::find(kinds, static_cast<EntryEvent>(other)) == kinds.end()) return false;
    return true;
}

std::vector<LogEntry> EntryLog::first() const {
    const std::lock_guard lock(mutex_);
    return first_;
}

std::vector<Cause> EntryLog::causes() const {
    const std::lock_guard lock(mutex_);
    return causes_;
}

Result<> EntryLog::taken() const {
    const std::lock_guard lock(mutex_);
    return taken_;
}

}  // namespace forebay::tree
