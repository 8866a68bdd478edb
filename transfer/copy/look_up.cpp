#include "transfer/copy/look_up.hpp"

#include <utility>

#include "core/base/try.hpp"
#include "transfer/copy/copy_entry_log.hpp"
#include "transfer/copy/file_data.hpp"
#include "transfer/copy/settled.hpp"

namespace forebay::tree {

namespace {

// The clock of one machine ticks every 4 ms. Clocks of two servers may differ.
constexpr std::int64_t clock_seconds = 2;
constexpr const char* capabilities = "security.capability";

enum class TimesFit { no, yes, if_bytes_do };

// If the target keeps only whole seconds, or times are not preserved, the ctime decides: an older file that took this
// name was renamed since. For a snapshot the ctime proves less.
TimesFit times_of(const EntrySight& sight, bool has_times, const Freshness& freshness) {
    const auto &source = sight.source, &existing = *sight.existing;
    if (has_times && source.modified == existing.modified) return TimesFit::yes;
    const bool is_cut = is_far(source.modified) && existing.modified.nanoseconds == 0;
    const bool may_fit = has_times ? is_cut || is_same_time(source, existing) : source.modified <= existing.modified;
    if (!may_fit || !freshness.is_older(source, existing)) return TimesFit::no;
    return freshness.source_may_be_older() ? TimesFit::if_bytes_do : TimesFit::yes;
}

}  // namespace

Result<FoundEntry> Lookup::look_up(const CopyEntry& entry, sys::EntryKind kind, std::uint64_t listed_number) {
    FoundEntry match;
    if (!entry.dir_node->was_made && entry.target) {
        auto looked = entry.target->status_of(entry.name);
        if (!looked && looked.error().kind != ErrorKind::missing) return looked.error();
        if (looked) match.sight.existing = *looked;
    }
    const auto& existing = match.sight.existing;
    if (existing) FB_TRY(claim_name(entry, *existing));
    // Opening the file first saves a call, and nobody can replace it between status and open.
    if (kind == sys::EntryKind::file && !existing && !use_.options.is_dry && !use_.links.knows(listed_number)) {
        FB_TRY_ASSIGN(is_left, leaves(entry));
        if (is_left) return FoundEntry{.step = CopyStep::reported};
        FB_TRY_ASSIGN(opened, entry.source->open_file(entry.name));
        match.file = std::move(opened);
    }
    FB_TRY_ASSIGN(status, match.file ? match.file->status() : entry.source->status_of(entry.name));
    if (status.kind == sys::EntryKind::folder || (match.file && status.kind != sys::EntryKind::file))
        match.step = report_changes(use_.entry_log, entry.path());
    match.sight.source = status;
    return match;
}

Result<> Lookup::claim_name(const CopyEntry& entry, const sys::EntryStatus& existing) {
    auto* case_fold_names = CaseFoldNames::of(*entry.dir_node, *entry.target);
    if (case_fold_names == nullptr) return {};
    FB_TRY_ASSIGN(would_rename, case_fold_names->claim(*entry.target, *entry.source, entry.name, existing,
                                                       use_.names.name_for(entry.name), use_.options.is_dry));
    if (would_rename)
        use_.entry_log.add(EntryEvent::would_adjust, entry.path(), "the target spells its name differently");
    return {};
}

Result<bool> Lookup::leaves(const CopyEntry& entry) {
    return use_.stored.leaves(*entry.dir_node, entry.source.get(), nullptr, entry.name, use_.entry_log);
}

DecideRules Lookup::rules() const {
    return {.preserve = use_.options.preserve,
            .removes_extra = use_.options.removes_extra,
            .folders_are_gone = use_.options.is_dry && use_.deferred.were_cleared(),
            .is_root = use_.new_entries.owner().user == 0};
}

Result<EntryDecision> Lookup::look_and_decide(TreeWorker& worker, const CopyEntry& entry, EntrySight& sight) {
    while (true) {
        const auto decision = tree::decide(sight, rules());
        if (decision == EntryDecision::ask_inode) {
            FB_TRY_ASSIGN(is_its, use_.links.claim_target(sight.existing->id, use_.links.id_of(sight.source)));
            sight.is_its_inode = is_its;
        } else if (decision == EntryDecision::ask_content) {
            FB_TRY_ASSIGN(is_same, has_same_content(worker, entry, sight));
            sight.has_content = is_same;
        } else if (decision == EntryDecision::ask_attributes) {
            look_at_attributes(entry, sight);
        } else {
            return decision;
        }
    }
}

Result<bool> Lookup::has_same_content(TreeWorker& worker, const CopyEntry& entry, const EntrySight& sight) {
    const auto &source = sight.source, &existing = *sight.existing;
    if (source.kind == sys::EntryKind::link) {
        FB_TRY_ASSIGN(text, entry.source->link_text(entry.name));
        FB_TRY_ASSIGN(other_text, entry.target->link_text(entry.name));
        return text == other_text;
    }
    if (source.kind != sys::EntryKind::file) return source.device_number == existing.device_number;
    if (source.bytes != existing.bytes) return false;
    const auto times = times_of(sight, use_.options.preserve.times, use_.freshness);
    if (!use_.options.compares_bytes && times != TimesFit::if_bytes_do) return times == TimesFit::yes;
    // A file that cannot be compared counts as equal and is reported.
    FB_TRY_ASSIGN(is_left, use_.stored.leaves(*entry.dir_node, entry.source.get(), entry.target.get(), entry.name,
                                              use_.entry_log));
    if (is_left) return times != TimesFit::no;
    return has_same_bytes(worker, entry, sight);
}

Result<bool> Lookup::has_same_bytes(TreeWorker& worker, const CopyEntry& entry, const EntrySight& sight) {
    const auto& source = sight.source;
    const bool has_other_time = times_of(sight, use_.options.preserve.times, use_.freshness) == TimesFit::no;
    FB_TRY_ASSIGN(file, entry.source->open_file(entry.name));
    // If it will get this time without a copy, nobody may write to it while it is compared.
    auto before = source;
    if (has_other_time) {
        FB_TRY_ASSIGN(settled, settled_status(*file, source));
        if (!settled) return false;
        before = *settled;
    }
    FB_TRY_ASSIGN(other, entry.target->open_file(entry.name));
    FB_TRY_ASSIGN(at, first_difference(*file, *other, {0, source.bytes},
                                       has_holes(source) || has_holes(*sight.existing), worker.buffer));
    if (at != source.bytes || !has_other_time) return at == source.bytes;
    FB_TRY_ASSIGN(after, file->status());
    return is_unchanged(source, before) && is_unchanged(before, after);
}

void Lookup::look_at_attributes(const CopyEntry& entry, EntrySight& sight) {
    auto difference = attribute_difference(entry, sight);
    if (!difference) {
        sight.attributes = SeenAttributes::unread;
        sight.unread_because = difference.error();
        return;
    }
    sight.difference = std::move(*difference);
    const bool is_of_rights = sight.difference.find(capabilities) != sight.difference.npos;
    sight.attributes = sight.difference.empty() ? SeenAttributes::same
                       : is_of_rights           ? SeenAttributes::differ_in_rights
                                                : SeenAttributes::differ;
}

Result<std::string> Lookup::attribute_difference(const CopyEntry& entry, const EntrySight& sight) {
    const auto &source = sight.source, &existing = *sight.existing;
    if (!use_.options.preserve.attributes) return std::string();
    if (use_.options.trusts_attributes && source.changed.seconds + clock_seconds < existing.changed.seconds)
        return std::string();
    if (use_.freshness.is_untouched(*entry.dir_node, source, existing)) return std::string();
    FB_TRY_ASSIGN(attributes, attributes_of(*entry.source, entry.name));
    FB_TRY_ASSIGN(others, attributes_of(*entry.target, entry.name));
    if (attributes.names.empty() && others.names.empty()) return std::string();
    return difference_of(attributes, others);
}

}  // namespace forebay::tree
