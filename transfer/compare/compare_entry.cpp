#include <fmt/format.h>

#include <bit>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "transfer/compare/compare_walk.hpp"
#include "transfer/copy/file_data.hpp"

namespace forebay::tree {

namespace {

// A value for two equal inodes in their present state. Later inodes with the same numbers, or other states, have
// another value.
std::uint64_t equal_of(const BothStatuses& both) {
    std::uint64_t all = 0;
    for (const auto& status : {both.source, both.target})
        for (const bool by_birth : {true, false}) all = std::rotl(all, 1) ^ proof_of(status, by_birth);
    return all | 1;
}

}  // namespace

Result<> CompareWalk::compare_entry(TreeWorker& worker, const DirNodeRef& dir_node, const BothFolders& folders,
                                    const ListedName& named) {
    auto kind = named.kind;
    if (kind == sys::EntryKind::unknown) {
        FB_TRY_ASSIGN(status, folders.source->status_of(named.name));
        kind = status.kind;
    }
    if (!options_.filter.takes(*dir_node, named.name, kind)) {
        auto other = named.other_kind;
        if (other == sys::EntryKind::unknown)
            if (const auto status = folders.target->status_of(named.name)) other = status->kind;
        // Only the target has a directory there.
        if (kind != other && other == sys::EntryKind::folder)
            only(EntryEvent::extra_in_target, *dir_node, named.name, other);
        return {};
    }
    if (kind != sys::EntryKind::folder) note_wanted(dir_node.get());
    if (kind == sys::EntryKind::file && options_.reads_bytes) {
        FB_TRY_ASSIGN(is_left,
                      stored_.leaves(*dir_node, folders.source.get(), folders.target.get(), named.name, entry_log_));
        if (!is_left) return compare_files(worker, dir_node, folders, named);
    }
    FB_TRY_ASSIGN(source, folders.source->status_of(named.name));
    FB_TRY_ASSIGN(counterpart, target_of(*dir_node, folders, named.name, kind));
    if (!counterpart) return {};
    const auto& target = *counterpart;
    if (source.kind == sys::EntryKind::folder && target.kind == sys::EntryKind::folder) {
        const auto child = std::make_shared<DirNode>(dir_node, named.name);
        // Count first: another worker may finish the child before add() returns.
        ++dir_node->pending;
        share_.add(worker, [this, child](TreeWorker& other) { enter(other, child); },
                   {.dir_node = dir_node, .name = named.name});
        return {};
    }
    FB_TRY_ASSIGN(difference, other_difference(folders, named.name, {source, target}));
    if (!difference.empty()) differs(dir_node, named.name, difference);
    else say_names(dir_node, named.name, {source, target});
    return {};
}

// Nothing: only the source has the entry, and this was reported.
Result<std::optional<sys::EntryStatus>> CompareWalk::target_of(const DirNode& dir_node, const BothFolders& folders,
                                                               const std::string& name, sys::EntryKind kind) {
    const auto status = folders.target->status_of(name);
    if (status) return std::optional(*status);
    if (status.error().kind != ErrorKind::missing) return status.error();
    only(EntryEvent::missing_in_target, dir_node, name, kind);
    return std::optional<sys::EntryStatus>();
}

Result<std::string> CompareWalk::other_difference(const BothFolders& folders, const std::string& name,
                                                  const BothStatuses& both) {
    if (both.source.kind != both.target.kind) return std::string("the kinds differ");
    if (both.source.kind == sys::EntryKind::file && both.source.bytes != both.target.bytes)
        return fmt::format("{} and {}", show_count(both.source.bytes, "byte"), both.target.bytes);
    if (both.source.device_number != both.target.device_number) return std::string("another device");
    if (both.source.kind == sys::EntryKind::link) {
        FB_TRY_ASSIGN(text, folders.source->link_text(name));
        FB_TRY_ASSIGN(other_text, folders.target->link_text(name));
        if (text != other_text) return std::string("the links lead to different places");
    }
    auto difference = difference_of(both.source, both.target, options_.preserve);
    if (difference.empty()) {
        FB_TRY_ASSIGN(of_names, name_difference(both, false));
        difference = of_names;
    }
    if (!difference.empty() || !options_.preserve.attributes) return difference;
    FB_TRY_ASSIGN(attributes, attributes_of(*folders.source, name));
    FB_TRY_ASSIGN(others, attributes_of(*folders.target, name));
    return difference_of(attributes, others);
}

// True for a further name of an inode that was found equal under another name: no file is read twice. The listing's
// inode number may be wrong (mounted files), so the status of both names is checked too.
Result<bool> CompareWalk::was_compared(const DirNode& dir_node, const BothFolders& folders, const ListedName& named) {
    if (team_ != nullptr || !options_.preserve.hard_links) return false;
    {
        const std::lock_guard lock(mutex_);
        if (!inodes_.holds({dir_node.status(TreeSide::source).id.device, named.number})) return false;
    }
    const auto source = folders.source->status_of(named.name), target = folders.target->status_of(named.name);
    if (!source || !target || source->bytes != target->bytes) return false;
    if (!difference_of(*source, *target, options_.preserve).empty()) return false;
    const std::lock_guard lock(mutex_);
    FB_TRY_ASSIGN(known, inodes_.find(source->id));
    FB_TRY_ASSIGN(known_source, reverse_.find(target->id));
    const bool is_equal = known && known->equal == equal_of({*source, *target}) && known->target == target->id &&
                          known_source == source->id;
    if (is_equal) counts_.bytes += source->bytes;
    return is_equal;
}

// If both listings show a file, it is opened without a lookup. If that fails, the status shows the reason.
Result<std::optional<OpenedTarget>> CompareWalk::open_target(const DirNode& dir_node, const BothFolders& folders,
                                                             const ListedName& named) {
    if (named.other_kind == sys::EntryKind::file) {
        if (auto file = folders.target->open_file(named.name)) {
            FB_TRY_ASSIGN(status, (*file)->status());
            return std::optional(OpenedTarget{std::move(*file), status});
        }
    }
    FB_TRY_ASSIGN(counterpart, target_of(dir_node, folders, named.name, sys::EntryKind::file));
    return counterpart ? std::optional(OpenedTarget{nullptr, *counterpart}) : std::nullopt;
}

Result<> CompareWalk::compare_files(TreeWorker& worker, const DirNodeRef& dir_node, const BothFolders& folders,
                                    const ListedName& named) {
    FB_TRY_ASSIGN(is_known, was_compared(*dir_node, folders, named));
    if (is_known) return {};
    FB_TRY_ASSIGN(target, open_target(*dir_node, folders, named));
    if (!target) return {};
    if (target->status.kind != sys::EntryKind::file) {
        differs(dir_node, named.name, "the kinds differ");
        return {};
    }
    FB_TRY_ASSIGN(file, folders.source->open_file(named.name));
    FB_TRY_ASSIGN(source, file->status());
    if (source.bytes != target->status.bytes) {
        differs(dir_node, named.name, fmt::format("{} and {}", show_count(source.bytes, "byte"), target->status.bytes));
        return {};
    }
    if (!target->file) {
        FB_TRY_ASSIGN(opened, folders.target->open_file(named.name));
        target->file = std::move(opened);
    }
    FB_TRY_ASSIGN(difference, data_difference(worker, *file, *target, source,
                                              difference_of(source, target->status, options_.preserve)));
    FB_TRY_ASSIGN(of_names, name_difference({source, target->status}, difference.empty()));
    if (difference.empty()) difference = of_names;
    if (!difference.empty()) differs(dir_node, named.name, difference);
    else say_names(dir_node, named.name, {source, target->status});
    return {};
}

// Compares bytes always, and extended attributes only if `difference` is empty.
Result<std::string> CompareWalk::data_difference(TreeWorker& worker, sys::OpenFile& file, OpenedTarget& other,
                                                 const sys::EntryStatus& source, std::string difference) {
    if (difference.empty() && options_.preserve.attributes) {
        FB_TRY_ASSIGN(attributes, attributes_of(file));
        FB_TRY_ASSIGN(others, attributes_of(*other.file));
        FB_TRY_ASSIGN(extended, difference_of(attributes, others));
        difference = extended;
    }
    FB_TRY_ASSIGN(at, first_difference(file, *other.file, {0, source.bytes},
                                       has_holes(source) || has_holes(other.status), worker.buffer));
    if (at < source.bytes) difference += fmt::format("{}bytes from {} on", difference.empty() ? "" : ", ", at);
    counts_.bytes += source.bytes;
    return difference;
}

Result<std::string> CompareWalk::folder_difference(const DirNodeRef& dir_node) {
    auto difference =
        difference_of(dir_node->status(TreeSide::source), dir_node->status(TreeSide::target), options_.preserve);
    if (!difference.empty() || !options_.preserve.attributes) return difference;
    FB_TRY_ASSIGN(source, folders_.get(dir_node, TreeSide::source));
    FB_TRY_ASSIGN(target, folders_.get(dir_node, TreeSide::target));
    FB_TRY_ASSIGN(attributes, attributes_of(*source));
    FB_TRY_ASSIGN(others, attributes_of(*target));
    return difference_of(attributes, others);
}

// Names of one inode in one tree must be names of one inode in the other tree. In a group only the coordinator knows
// all names: workers send it names without another difference.
Result<std::string> CompareWalk::name_difference(const BothStatuses& both, bool is_equal) {
    if (team_ != nullptr || !options_.preserve.hard_links || (both.source.names == 1 && both.target.names == 1))
        return std::string();
    return difference_of_names(both.source.id, both.target.id, is_equal ? equal_of(both) : 0);
}

Result<std::string> CompareWalk::difference_of_names(const sys::EntryId& source, const sys::EntryId& target,
                                                     std::uint64_t equal) {
    const std::lock_guard lock(mutex_);
    const auto known_target = inodes_.get_or_put(source, {target, equal});
    const auto known_source = reverse_.get_or_put(target, source);
    if (known_target && known_source)
        return std::string(known_target->target == target && *known_source == source ? "" : "its hard links differ");
    const auto& error = known_target ? known_source.error() : known_target.error();
    if (ended_) ended_ = error;
    share_.stop();
    return error;
}

void CompareWalk::say_names(const DirNodeRef& dir_node, const std::string& name, const BothStatuses& both) {
    if (team_ == nullptr || !options_.preserve.hard_links || (both.source.names == 1 && both.target.names == 1)) return;
    team_->say({.kind = TeamKind::name_pair,
                .id = team_id(*dir_node, TreeSide::source, both.source.id),
                .other_id = team_id(*dir_node, TreeSide::target, both.target.id),
                .path = path_of(*dir_node, name)});
}

}  // namespace forebay::tree
