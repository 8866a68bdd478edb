#include "transfer/copy/remarks.hpp"

#include <algorithm>
#include <utility>

#include "core/base/path.hpp"

#include "core/sys/tree_place.hpp"

namespace forebay::tree {

namespace {

// What a screen or a mail shows; the report has all.
constexpr std::size_t first_max = 1'000;
// A line names three.
constexpr std::uint64_t runs_max = 10;
// More than a screen shows; each remark is compared with all of them.
constexpr std::size_t causes_max = 32;
constexpr std::size_t cause_paths_max = 3;

bool has_cause(const Remark& remark) {
    switch (remark.kind) {
        case RemarkKind::vanished:
        case RemarkKind::changed:
        case RemarkKind::failed:
        case RemarkKind::not_kept:
        case RemarkKind::kept_beside:
        case RemarkKind::passed_over:
        case RemarkKind::released:
        case RemarkKind::flags_left:
        case RemarkKind::adjusted:
        case RemarkKind::would_adjust: return !remark.why.empty() && !remark.why.starts_with(owner_not_kept);
        default: return false;
    }
}

}  // namespace

const char* name_of(RemarkKind kind) {
    switch (kind) {
        case RemarkKind::vanished: return "vanished";
        case RemarkKind::changed: return "changed";
        case RemarkKind::failed: return "failed";
        case RemarkKind::not_kept: return "not_kept";
        case RemarkKind::kept_beside: return "kept_beside";
        case RemarkKind::passed_over: return "passed_over";
        case RemarkKind::released: return "released";
        case RemarkKind::as_files: return "as_files";
        case RemarkKind::flags_left: return "flags_left";
        case RemarkKind::adjusted: return "adjusted";
        case RemarkKind::differs: return "differs";
        case RemarkKind::only_source: return "only_source";
        case RemarkKind::only_target: return "only_target";
        case RemarkKind::would_copy: return "would_copy";
        case RemarkKind::would_adjust: return "would_adjust";
        case RemarkKind::would_remove: return "would_remove";
        case RemarkKind::removed: return "removed";
        case RemarkKind::replaced: return "replaced";
        case RemarkKind::copied: return "copied";
        case RemarkKind::linked: return "linked";
        case RemarkKind::count: break;
    }
    return "unknown";
}

bool is_error(RemarkKind kind) {
    return kind == RemarkKind::failed || kind == RemarkKind::vanished || kind == RemarkKind::changed;
}

Error of_target(const Error& error) {
    // What is not kept says so itself; of what is gone OpenFolders::with_side() says where.
    if (error.kind == ErrorKind::unsupported || error.kind == ErrorKind::missing) return error;
    return because(error, std::string(at_target) + ": " + error.what);
}

bool is_given_up(std::string_view why) { return why.ends_with(sys::given_up); }

namespace {

// All is at the target: room is kept for what is not.
bool is_fine(RemarkKind kind) { return kind == RemarkKind::adjusted || kind == RemarkKind::flags_left; }

}  // namespace

std::string cause_of(const Remark& remark) {
    if (!has_cause(remark)) return "";
    auto cause = remark.why;
    const auto leaf = leaf_of(remark.path);
    const auto ends_as_name = [&](std::size_t end) {
        return end < cause.size() && (cause[end] == ':' || cause[end] == ' ');
    };
    const auto at = cause.find(remark.path);
    const bool begins_as_path = at == 0 || (at != cause.npos && cause[at - 1] == '/');
    if (begins_as_path && ends_as_name(at + remark.path.size())) cause.replace(at, remark.path.size(), "*");
    else if (const auto at_leaf = cause.find(": " + leaf + ":"); at_leaf != cause.npos)
        cause.replace(at_leaf + 2, leaf.size(), "*");
    return cause;
}

void Remarks::add(RemarkKind kind, std::string path, std::string why) {
    const Remark remark{.kind = kind, .path = std::move(path), .why = std::move(why)};
    const std::lock_guard lock(mutex_);
    if (take_ && taken_) taken_ = take_(remark);
    if (is_record(kind)) return;
    const auto count_of_kind = ++counts_[static_cast<std::size_t>(kind)];
    const bool is_owner = remark.why.starts_with(owner_not_kept);
    if (is_owner) ++owners_;
    if (kind == RemarkKind::failed && is_given_up(remark.why)) ++given_up_;
    if (kind == RemarkKind::as_files && count_of_kind > runs_max) return;
    if (is_error(kind) && remark.why.starts_with(at_target)) ++at_target_;
    if (first_.size() < (is_owner || is_fine(kind) ? first_max / 2 : first_max)) first_.push_back(remark);
    count_cause(remark);
}

void Remarks::count_cause(const Remark& remark) {
    const auto why = cause_of(remark);
    if (why.empty()) return;
    const auto is_same = [&](const Cause& cause) { return cause.kind == remark.kind && cause.why == why; };
    auto cause = std::ranges::find_if(causes_, is_same);
    if (cause == causes_.end() && causes_.size() >= (is_fine(remark.kind) ? causes_max / 2 : causes_max)) return;
    if (cause == causes_.end()) cause = causes_.insert(cause, {.kind = remark.kind, .why = why});
    ++cause->count;
    if (cause->paths.size() < cause_paths_max) cause->paths.push_back(remark.path);
}

void Remarks::add_error(std::string path, const Error& error) {
    add(error.kind == ErrorKind::missing ? RemarkKind::vanished : RemarkKind::failed, std::move(path), error.what);
}

std::uint64_t Remarks::count_of(RemarkKind kind) const {
    const std::lock_guard lock(mutex_);
    return counts_[static_cast<std::size_t>(kind)];
}

std::uint64_t Remarks::owners() const {
    const std::lock_guard lock(mutex_);
    return owners_;
}

std::uint64_t Remarks::errors() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t errors = 0;
    for (std::size_t kind = 0; kind < counts_.size(); ++kind)
        if (is_error(static_cast<RemarkKind>(kind))) errors += counts_[kind];
    return errors;
}

std::uint64_t Remarks::errors_at_target() const {
    const std::lock_guard lock(mutex_);
    return at_target_;
}

std::uint64_t Remarks::given_up() const {
    const std::lock_guard lock(mutex_);
    return given_up_;
}

bool Remarks::has_errors() const { return errors() > 0 || !taken(); }

bool Remarks::are_all(std::initializer_list<RemarkKind> kinds) const {
    const std::lock_guard lock(mutex_);
    for (std::size_t other = 0; other < counts_.size(); ++other)
        if (counts_[other] > 0 && std::ranges::find(kinds, static_cast<RemarkKind>(other)) == kinds.end()) return false;
    return true;
}

std::vector<Remark> Remarks::first() const {
    const std::lock_guard lock(mutex_);
    return first_;
}

std::vector<Cause> Remarks::causes() const {
    const std::lock_guard lock(mutex_);
    return causes_;
}

Result<> Remarks::taken() const {
    const std::lock_guard lock(mutex_);
    return taken_;
}

}  // namespace forebay::tree
