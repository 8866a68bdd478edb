#include "transfer/copy/copy_context.hpp"

#include <fmt/format.h>

#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/format/run_identity.hpp"
#include "core/sys/clock.hpp"
#include "transfer/copy/copy_entry.hpp"

namespace forebay::tree {

namespace {

// The target does not hold it, or this user may not make it.
bool cannot_be_kept(ErrorKind kind) { return kind == ErrorKind::refused || kind == ErrorKind::unsupported; }

}  // namespace

std::string CopyContext::temporary_name(const std::string& name) const {
    return fmt::format("{}{:016x}{}", places_.temporary_prefix, siphash({}, std::as_bytes(std::span(name))),
                       places_.temporary_end);
}

bool CopyContext::is_untouched(const Branch& branch, const sys::EntryStatus& source,
                               const sys::EntryStatus& target) const {
    const auto& since = places_.last_copy.untouched();
    return since && branch.seen.is_untouched && is_before(source.changed, since->entries[0]) &&
           is_before(target.changed, since->entries[1]);
}

bool CopyContext::is_untouched(const Branch& branch) const {
    const auto& since = places_.last_copy.untouched();
    if (!since || !branch.parent) return since.has_value();       // the root is known by its inode
    for (const auto side : {TreeSide::source, TreeSide::target})  // what is mounted there may be another each time
        if (is_other_file_system(branch.status(side), branch.parent->status(side).id.device)) return false;
    return branch.parent->seen.is_untouched && is_before(branch.status(TreeSide::source).changed, since->entries[0]) &&
           is_before(branch.status(TreeSide::target).changed, since->target_folders);
}

bool CopyContext::keeps_attributes(const Branch& branch) const {
    const bool is_there = !branch.is_new && !branch.was_made && !branch.had_loss;
    return is_there && !options.filter.include.empty() && !branch.holds_wanted;
}

std::vector<std::string> CopyContext::others_temporaries(const std::string& name,
                                                         std::span<const std::string> leftovers) const {
    const auto own = temporary_name(name);
    const auto common = own.substr(0, own.size() - places_.temporary_end.size());
    std::vector<std::string> others;
    for (const auto& one : leftovers)
        if (one.starts_with(common) && one != own && one.find('.', common.size()) == one.npos) others.push_back(one);
    return others;
}

bool CopyContext::is_older(const sys::EntryStatus& source, const sys::EntryStatus& target) const {
    auto changed = source.changed;
    changed.seconds += places_.clocks.margin_seconds;
    // What was changed ahead of now got its time from a clock that was set back since.
    constexpr std::int64_t ns_per_second = 1'000'000'000;
    const auto latest = sys::unix_ns() / ns_per_second + places_.clocks.margin_seconds;
    return is_before(changed, target.changed) && target.changed.seconds <= latest;
}

void CopyContext::tell_run(const Branch& branch, const std::string& name) const {
    if (!branch.parent || branch.name != format::own_directory || !format::identity_in(name)) return;
    if (options.is_run && !branch.parent->parent) return;
    remarks.add(RemarkKind::as_files, path_of(*branch.parent), "a run of Forebay, taken like any files");
}

void CopyContext::tell_flags(const Branch& branch, const std::string& name, const sys::EntryStatus& status) const {
    if (!status.is_immutable && !status.is_append_only) return;
    remarks.add(
        RemarkKind::flags_left, name.empty() ? path_of(branch) : path_of(branch, name),
        fmt::format("it is {} (lsattr), and its copy is not", status.is_immutable ? "immutable" : "append-only"));
}

Result<> CopyContext::settle(const std::string& path, const sys::EntryStatus& status, const std::string& part,
                             const std::string& value, Result<> done) {
    if (done || !cannot_be_kept(done.error().kind)) return done;
    const auto why = fmt::format("the target cannot keep {}: {}", part, done.error().what);
    switch (options.cannot_keep) {
        case CannotKeep::refuse: return Error{ErrorKind::unsupported, why};
        case CannotKeep::drop: remarks.add(RemarkKind::not_kept, path, why); return {};
        case CannotKeep::manifest: break;
    }
    remarks.add(RemarkKind::kept_beside, path, why);
    return take_unkept({.path = path, .part = part, .value = value, .status = status});
}

Result<> CopyContext::check_present(const Branch& branch, sys::Folder& source, const std::string& name) {
    FB_TRY_ASSIGN(is_left, layouts.stored.leaves(branch, &source, nullptr, name, remarks));
    return is_left ? Result<>(Error{ErrorKind::retry, ""}) : Result<>();
}

Result<> CopyContext::take_unkept(const Unkept& unkept) {
    const std::lock_guard lock(mutex_);
    return options.manifest ? options.manifest(unkept)
                            : Result<>(Error{ErrorKind::refused, "no manifest was given to keep " + unkept.part});
}

Result<> CopyContext::publish(TemporaryName& temporary, const EntryPlace& place, sys::Folder& folder, RemarkKind kind) {
    const bool was_there =
        remarks.records(RemarkKind::replaced) && !place.branch->was_made && folder.status_of(place.name);
    if (was_there) FB_TRY(check_told());
    FB_TRY(temporary.publish(place.name, Spellings::of(*place.branch, folder)));
    count(place, kind, was_there);
    return {};
}

// What is replaced is no more: nothing else is, once the report cannot say so.
Result<> CopyContext::check_told() {
    const auto taken = remarks.taken();
    if (taken) return {};
    end_by(taken.error());
    return Error{ErrorKind::retry, ""};
}

void CopyContext::count(const EntryPlace& place, RemarkKind kind, bool has_replaced) {
    place.branch->was_changed = true;
    ++(kind == RemarkKind::linked ? counts.linked : counts.copied);
    record(has_replaced ? RemarkKind::replaced : kind, *place.branch, place.name);
}

void CopyContext::report(const std::string& path, const Error& error) {
    if (share.is_stopped() && error.kind == ErrorKind::retry) return;  // an entry that the end has cut off
    if (outcome_.take_failed) outcome_.take_failed(path);
    if (error.what.empty()) return;  // it was reported where more was known
    if (error.kind == ErrorKind::unsupported) remarks.add(RemarkKind::not_kept, path, error.what);
    else remarks.add_error(path, error);
    if (error.kind == ErrorKind::full)
        end_by({error.kind, error.what, "all that has its final name is whole", error.next});
}

void CopyContext::report(const BranchRef& branch, const std::string& name, const Error& error) {
    report(name.empty() ? path_of(*branch) : path_of(*branch, name), folders.with_side(branch, name, error));
}

void CopyContext::end_by(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (outcome_.fatal) outcome_.fatal = error;
    share.stop();
}

Result<> CopyContext::fatal() const {
    const std::lock_guard lock(mutex_);
    return outcome_.fatal;
}

void CopyContext::put_off(EntryPlace place) {
    if (team != nullptr && team->process() != 0)  // the first process does all of these, at the end
        return team->say({.kind = TeamKind::put_off, .path = team_path(*place.branch), .text = place.name});
    const std::lock_guard lock(mutex_);
    if (outcome_.put_off.size() < options.tables.put_off) outcome_.put_off.push_back(std::move(place));
    else outcome_.has_put_off_later = true;
}

void CopyContext::put_off_later() {
    const std::lock_guard lock(mutex_);
    outcome_.has_put_off_later = true;
}

bool CopyContext::has_put_off_later() const {
    const std::lock_guard lock(mutex_);
    return outcome_.has_put_off_later;
}

std::vector<EntryPlace> CopyContext::take_put_off() {
    const std::lock_guard lock(mutex_);
    return std::exchange(outcome_.put_off, {});
}

DataWay CopyContext::way() {
    return {.pace = &flow_.pace,
            .stop = &share.stopped(),
            .by_kernel = &flow_.by_kernel,
            .moved =
                [this](std::uint64_t bytes) {
                    counts.bytes += bytes;
                    tick();
                },
            .resumed = [this](std::uint64_t bytes) { counts.resumed_bytes += bytes; }};
}

void CopyContext::tick() {
    if (options.watch) flow_.pulse.beat([&] { options.watch(counts); });
}

void CopyContext::done_in(BranchRef branch) {
    if (count_done(std::move(branch), folders, finish_branch) && team != nullptr) team->root_done();
}

}  // namespace forebay::tree
