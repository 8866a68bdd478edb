// What the target has already: whether it is the copy of an entry, and what it lacks to be one.

#include <algorithm>

#include "core/base/try.hpp"
#include "transfer/copy/copy_entry.hpp"
#include "transfer/copy/foresee.hpp"
#include "transfer/copy/make_file.hpp"

namespace forebay::tree {

namespace {

// Clocks of one machine tick every 4 ms, and those of two servers may differ.
constexpr std::int64_t clock_seconds = 2;
constexpr const char* capabilities = "security.capability";

enum class TimesFit { no, yes, if_bytes_do };

// Where the target's time has whole seconds alone, or none is preserved, the time of the last change says that the
// source is what was copied: an older file that took its name was renamed since. Of a snapshot it says less.
TimesFit times_of(const CopyContext& context, const sys::EntryStatus& status, const sys::EntryStatus& existing) {
    const bool has_times = context.options.preserve.times;
    if (has_times && status.modified == existing.modified) return TimesFit::yes;
    const bool is_cut = is_far(status.modified) && existing.modified.nanoseconds == 0;
    const bool may_fit = has_times ? is_cut || is_same_time(status, existing) : status.modified <= existing.modified;
    if (!may_fit || !context.is_older(status, existing)) return TimesFit::no;
    return context.source_may_be_older() ? TimesFit::if_bytes_do : TimesFit::yes;
}

}  // namespace

Result<bool> EntryCopier::keep_existing(const CopyEntry& entry, const sys::EntryStatus& status,
                                        const sys::EntryStatus& existing, bool was_adjusted) {
    std::string difference;
    FB_TRY_ASSIGN(found, look(entry, status, existing, difference));
    if (found == Found::other) return false;
    // More names than the source's has: some may lie outside of the target, and would be changed with it.
    const auto names = context_.options.preserve.hard_links ? status.names : 1;
    if (found == Found::adjust && existing.names > names) return false;
    if (found == Found::equal || was_adjusted) {
        ++context_.counts.equal;
    } else if (context_.options.is_dry) {
        FB_TRY_ASSIGN(attributes, source_attributes(entry));
        FB_TRY(foresee(context_, entry.path(), *entry.target, status,
                       {.user = existing.user, .group = existing.group, .attributes = {}}, attributes));
        context_.remarks.add(RemarkKind::would_adjust, entry.path(), difference);
    } else {
        FB_TRY(adjust(entry, status, existing));
        context_.remarks.add(RemarkKind::adjusted, entry.path(), difference);
    }
    return true;
}

// Whoever may write to a file could have made it look like its source: it gets no rights by setuid bits or capabilities
// that it has not yet, but is copied anew.
Result<EntryCopier::Found> EntryCopier::look(const CopyEntry& entry, const sys::EntryStatus& status,
                                             const sys::EntryStatus& existing, std::string& difference) {
    if (status.kind != existing.kind) return Found::other;
    if (context_.options.preserve.hard_links && existing.names > 1) {
        if (status.names == 1) return Found::other;
        FB_TRY_ASSIGN(is_its, context_.links.claim_target(existing.id, context_.links.id_of(status)));
        if (!is_its) return Found::other;
    }
    FB_TRY_ASSIGN(is_same, has_same_content(entry, status, existing));
    if (!is_same) return Found::other;
    difference = difference_of(status, existing, context_.options.preserve);
    const bool is_same_status = difference.empty();
    constexpr std::uint32_t sets_owner = 06000;
    constexpr std::uint32_t others_write = 022;
    const bool is_of_others = existing.user != status.user || (existing.permissions & others_write) != 0;
    const bool gives_rights = status.kind == sys::EntryKind::file && context_.owner.user == 0 && is_of_others;
    if (!is_same_status && gives_rights && (status.permissions & sets_owner) != 0) return Found::other;
    const auto of_attributes = attribute_difference(entry, status, existing);
    if (!of_attributes) return is_same_status || gives_rights ? of_attributes.error() : Result<Found>(Found::adjust);
    if (gives_rights && of_attributes->find(capabilities) != of_attributes->npos) return Found::other;
    if (!difference.empty() && !of_attributes->empty()) difference += ", ";
    difference += *of_attributes;
    return difference.empty() ? Found::equal : Found::adjust;
}

Result<bool> EntryCopier::has_same_content(const CopyEntry& entry, const sys::EntryStatus& status,
                                           const sys::EntryStatus& existing) {
    if (status.kind == sys::EntryKind::link) {
        FB_TRY_ASSIGN(text, entry.source->link_text(entry.name));
        FB_TRY_ASSIGN(other_text, entry.target->link_text(entry.name));
        return text == other_text;
    }
    if (status.kind != sys::EntryKind::file) return status.device_number == existing.device_number;
    if (status.bytes != existing.bytes) return false;
    const auto times = times_of(context_, status, existing);
    if (!context_.options.compares_bytes && times != TimesFit::if_bytes_do) return times == TimesFit::yes;
    // What cannot be compared counts as equal, and is named.
    FB_TRY_ASSIGN(is_left, context_.layouts.stored.leaves(*entry.branch, entry.source.get(), entry.target.get(),
                                                          entry.name, context_.remarks));
    if (is_left) return times != TimesFit::no;
    FB_TRY_ASSIGN(file, entry.source->open_file(entry.name));
    // Where it is given the time of the bytes that are read here, nobody may write to it meanwhile.
    auto before = status;
    if (times == TimesFit::no) {
        FB_TRY_ASSIGN(settled, settled_status(*file, status));
        if (!settled) return false;
        before = *settled;
    }
    FB_TRY_ASSIGN(other, entry.target->open_file(entry.name));
    FB_TRY_ASSIGN(at, first_difference(*file, *other, {0, status.bytes}, has_holes(status) || has_holes(existing),
                                       worker_.buffer));
    if (at != status.bytes || times != TimesFit::no) return at == status.bytes;
    FB_TRY_ASSIGN(after, file->status());
    return is_unchanged(status, before) && is_unchanged(before, after);
}

Result<std::string> EntryCopier::attribute_difference(const CopyEntry& entry, const sys::EntryStatus& status,
                                                      const sys::EntryStatus& existing) {
    if (!context_.options.preserve.attributes) return std::string();
    if (context_.options.trusts_attributes && status.changed.seconds + clock_seconds < existing.changed.seconds)
        return std::string();
    if (context_.is_untouched(*entry.branch, status, existing)) return std::string();
    FB_TRY_ASSIGN(attributes, source_attributes(entry));
    FB_TRY_ASSIGN(others, attributes_of(*entry.target, entry.name));
    if (attributes.names.empty() && others.names.empty()) return std::string();
    return difference_of(attributes, others);
}

Result<> EntryCopier::adjust(const CopyEntry& entry, const sys::EntryStatus& status, const sys::EntryStatus& existing) {
    FB_TRY_ASSIGN(opened, entry.target->open_entry(entry.name));
    FB_TRY_ASSIGN(now, opened->status());
    if (now.id != existing.id) return Error{ErrorKind::retry, "the target's entry was replaced while it was looked at"};
    Held held{.user = now.user, .group = now.group, .permissions = now.permissions};
    if (context_.options.preserve.attributes) {
        FB_TRY_ASSIGN(names, opened->attribute_names());
        held.attributes = std::move(names);
        drop_those_of_file_system(held.attributes);
    }
    FB_TRY_ASSIGN(attributes, source_attributes(entry));
    FB_TRY(give_attributes(status, attributes, *opened, held, context_.options.preserve,
                           settle_of(context_, entry, status)));
    ++context_.counts.adjusted;
    return {};
}

}  // namespace forebay::tree
