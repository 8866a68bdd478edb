#include "transfer/copy/decide.hpp"

namespace forebay::tree {

namespace {

constexpr std::uint32_t sets_owner = 06000;
constexpr std::uint32_t others_write = 022;

// A user with write access to a file can make it look like its source. Such a file gets no new setuid bits or
// capabilities; it is copied again.
bool gives_rights(const EntrySight& sight, const DecideRules& rules) {
    const auto& existing = *sight.existing;
    const bool is_of_others = existing.user != sight.source.user || (existing.permissions & others_write) != 0;
    return sight.source.kind == sys::EntryKind::file && rules.is_root && is_of_others;
}

// For an entry with equal content.
EntryDecision decide_attributes(const EntrySight& sight, const DecideRules& rules) {
    const auto& source = sight.source;
    const auto& existing = *sight.existing;
    const bool is_same_status = difference_of(source, existing, rules.preserve).empty();
    const bool is_risky = gives_rights(sight, rules);
    if (!is_same_status && is_risky && (source.permissions & sets_owner) != 0) return EntryDecision::replace;
    if (!sight.attributes) return EntryDecision::ask_attributes;
    // If the status differs, all attributes are set anyway, and an unreadable attribute shows then.
    if (*sight.attributes == SeenAttributes::unread && (is_same_status || is_risky)) return EntryDecision::refuse;
    if (*sight.attributes == SeenAttributes::differ_in_rights && is_risky) return EntryDecision::replace;
    if (*sight.attributes == SeenAttributes::same && is_same_status) return EntryDecision::keep;
    // If it has more names than the source's inode, some names may lie outside the target and would change too.
    const auto names = rules.preserve.hard_links ? source.names : 1;
    return existing.names > names ? EntryDecision::replace : EntryDecision::adjust;
}

}  // namespace

std::optional<EntryDecision> decide_folder(const std::optional<sys::EntryStatus>& existing, const DecideRules& rules) {
    if (!existing || existing->kind != sys::EntryKind::folder || rules.folders_are_gone) return std::nullopt;
    return rules.removes_extra ? EntryDecision::defer : EntryDecision::refuse;
}

std::string difference_in(const EntrySight& sight, const Preserve& preserve) {
    auto difference = difference_of(sight.source, *sight.existing, preserve);
    if (!difference.empty() && !sight.difference.empty()) difference += ", ";
    return difference + sight.difference;
}

EntryDecision decide(const EntrySight& sight, const DecideRules& rules) {
    if (sight.has_copy) return EntryDecision::link;
    if (!sight.existing) return EntryDecision::make;
    if (const auto in_the_way = decide_folder(sight.existing, rules)) return *in_the_way;
    const auto& existing = *sight.existing;
    if (sight.source.kind != existing.kind) return EntryDecision::replace;
    if (rules.preserve.hard_links && existing.names > 1) {
        if (sight.source.names == 1) return EntryDecision::replace;
        if (!sight.is_its_inode) return EntryDecision::ask_inode;
        if (!*sight.is_its_inode) return EntryDecision::replace;
    }
    if (!sight.has_content) return EntryDecision::ask_content;
    return *sight.has_content ? decide_attributes(sight, rules) : EntryDecision::replace;
}

}  // namespace forebay::tree
