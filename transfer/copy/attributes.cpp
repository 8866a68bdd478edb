#include "transfer/copy/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "core/base/try.hpp"

namespace forebay::tree {

namespace {

constexpr std::uint32_t special_bits = 07000;

std::string show_time(sys::FileTime time) { return fmt::format("{}.{:09}", time.seconds, time.nanoseconds); }

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

void join(std::string& text, const std::string& more) { text += (text.empty() ? "" : ", ") + more; }

// setuid and setgid run a program with its owner's rights. A copy with another owner must not pass on that owner's
// rights.
std::uint32_t permissions_for(const sys::EntryStatus& status, bool has_owner) {
    constexpr std::uint32_t sets_owner = 06000;
    const bool keeps = has_owner || status.kind == sys::EntryKind::folder;
    return keeps ? status.permissions : status.permissions & ~sets_owner;
}

// State of the access ACL. Each change of it is also a change of the permissions.
enum class AclChange { none, given, lost };

Result<AclChange> give_extended(const AttributeSource& source, sys::OpenEntry& target, const Held& held,
                                const Settle& settle) {
    auto acl = AclChange::none;
    for (const auto& name : source.names) {
        const auto value = source.value(name);
        if (!value && value.error().kind == ErrorKind::missing)
            continue;  // removed since; the source's status shows it
        if (!value) return value.error();
        if (has(held.attributes, name)) {  // setting an equal value would change the ctime
            const auto old = target.attribute(name);
            if (old && *old == *value) continue;
        }
        auto set = target.set_attribute(name, *value);
        if (name == access_acl) acl = set ? AclChange::given : AclChange::lost;
        FB_TRY(settle("attribute " + name, *value, std::move(set)));
    }
    for (const auto& name : held.attributes) {
        if (has(source.names, name)) continue;
        FB_TRY(settle("absence of attribute " + name, "", target.remove_attribute(name)));
        if (name == access_acl) acl = AclChange::lost;
    }
    return acl;
}

// Some file systems lack a time and silently store the last time that they have.
Result<> give_times(const sys::EntryStatus& status, sys::OpenEntry& target) {
    FB_TRY(target.set_times(status.accessed, status.modified));
    if (!is_far(status.modified)) return {};
    FB_TRY_ASSIGN(now, target.status());
    return check_time(status, now);
}

}  // namespace

Result<> check_time(const sys::EntryStatus& source, const sys::EntryStatus& target) {
    if (is_same_time(source, target)) return {};
    return Error{ErrorKind::unsupported, fmt::format("its time of modification is {}, and the target stores {}",
                                                     show_time(source.modified), show_time(target.modified))};
}

Result<Preserve> preserve_from(std::string_view words) {
    if (words.empty()) return Error{ErrorKind::refused, "--preserve is empty: to preserve nothing, write none"};
    Preserve preserve{
        .owner = false, .group = false, .permissions = false, .times = false, .attributes = false, .hard_links = false};
    while (!words.empty()) {
        const auto word = words.substr(0, words.find(','));
        words.remove_prefix(std::min(words.size(), word.size() + 1));
        if (word == "all") preserve = {};
        else if (word == "owner") preserve.owner = preserve.group = true;
        else if (word == "group") preserve.group = true;
        else if (word == "permissions") preserve.permissions = true;
        else if (word == "times") preserve.times = true;
        else if (word == "attributes") preserve.attributes = true;
        else if (word == "hard-links") preserve.hard_links = true;
        else if (word != "none")
            return Error{ErrorKind::refused,
                         fmt::format("--preserve {}: write owner, group, permissions, times, attributes, hard-links, "
                                     "all or none, with commas between them",
                                     word)};
    }
    return preserve;
}

std::string words_of(const Preserve& preserve) {
    std::string words;
    if (preserve.owner) join(words, "owner");
    else if (preserve.group) join(words, "group");
    if (preserve.permissions) join(words, "permissions");
    if (preserve.times) join(words, "times");
    if (preserve.attributes) join(words, "attributes");
    if (preserve.hard_links) join(words, "hard-links");
    std::erase(words, ' ');
    return words.empty() ? "none" : words;
}

Result<AttributeSource> attributes_of(sys::OpenEntry& entry) {
    FB_TRY_ASSIGN(names, entry.attribute_names());
    drop_those_of_file_system(names);
    return AttributeSource{std::move(names), [&entry](const std::string& name) { return entry.attribute(name); }};
}

Result<AttributeSource> attributes_of(sys::Folder& folder, const std::string& name) {
    FB_TRY_ASSIGN(names, folder.attribute_names_of(name));
    drop_those_of_file_system(names);
    return AttributeSource{std::move(names), [&folder, name](const std::string& attribute) {
                               return folder.attribute_of(name, attribute);
                           }};
}

Result<AttributeSource> wished_attributes(sys::Folder& folder, const std::string& name, const Preserve& preserve) {
    return preserve.attributes ? attributes_of(folder, name) : AttributeSource{};
}

Result<bool> has_default_acl(sys::Folder& folder) {
    FB_TRY_ASSIGN(names, folder.attribute_names());
    return has(names, default_acl);
}

bool is_of_file_system(const std::string& attribute_name) {
    static constexpr std::array prefixes{"lustre.",     "trusted.lov",      "trusted.lma",    "trusted.link",
                                         "trusted.fid", "trusted.lmv",      "trusted.som",    "trusted.hsm",
                                         "trusted.dmv", "security.selinux", "security.SMACK", "security.ima",
                                         "security.evm"};
    return std::ranges::any_of(prefixes, [&](const char* prefix) { return attribute_name.starts_with(prefix); });
}

void drop_those_of_file_system(std::vector<std::string>& names) { std::erase_if(names, is_of_file_system); }

std::optional<WishedOwner> wished_owner(const sys::EntryStatus& status, const Held& held, const Preserve& preserve) {
    const bool is_group_other = preserve.group && held.group != status.group;
    if (preserve.owner && (held.user != status.user || is_group_other))
        return WishedOwner{status.user, status.group, fmt::format("owner {}:{}", status.user, status.group)};
    if (!is_group_other) return {};
    return WishedOwner{held.user, status.group, fmt::format("group {}", status.group)};
}

Result<> give_attributes(const sys::EntryStatus& status, const AttributeSource& source, sys::OpenEntry& target,
                         const Held& held, const Preserve& preserve, const Settle& settle) {
    bool is_mode_known = !held.is_new || !has(held.attributes, access_acl);  // an inherited ACL brings a mode
    bool has_owner = held.user == status.user && held.group == status.group;
    if (const auto owner = wished_owner(status, held, preserve)) {
        auto given = target.set_owner(owner->user, owner->group);
        const bool is_given = given.has_value();
        has_owner = is_given && owner->user == status.user;
        FB_TRY(settle(owner->part, "", std::move(given)));
        // A user who may not give files away may still set the group.
        if (!is_given && held.group != status.group) static_cast<void>(target.set_owner(held.user, status.group));
        // Which of these bits are cleared depends on the kind and the file system. Most clear none on directories.
        is_mode_known = is_mode_known && (held.permissions & special_bits) == 0;
    }
    const auto wished = permissions_for(status, has_owner);
    auto acl = AclChange::none;
    if (preserve.attributes) {
        FB_TRY_ASSIGN(changed, give_extended(source, target, held, settle));
        acl = changed;
    }
    const bool is_link = status.kind == sys::EntryKind::link;  // symbolic links have no permissions of their own
    const auto usual = status.permissions & 0777u & ~held.umask;
    if (!preserve.permissions && held.is_new && !is_link && acl != AclChange::given)  // it would change the ACL
        FB_TRY(settle(fmt::format("mode {:04o}", usual), "", target.set_permissions(usual)));
    const bool is_other = !is_mode_known || acl != AclChange::none || held.permissions != wished;
    if (preserve.permissions && !is_link && is_other)
        FB_TRY(settle(fmt::format("mode {:04o}", wished), "", target.set_permissions(wished)));
    if (preserve.times && !held.times && status.has_times) FB_TRY(settle("times", "", give_times(status, target)));
    return target.keep_set();
}

bool is_far(sys::FileTime time) { return time.seconds < 0 || time.seconds > INT32_MAX; }

bool is_same_time(const sys::EntryStatus& source, const sys::EntryStatus& target) {
    if (!source.has_times || !target.has_times || source.modified == target.modified) return true;
    return target.modified.nanoseconds == 0 && source.modified.seconds == target.modified.seconds;
}

std::string difference_of(const sys::EntryStatus& status, const sys::EntryStatus& other, const Preserve& preserve) {
    std::string text;
    if (preserve.owner && (status.user != other.user || status.group != other.group))
        join(text, fmt::format("owner {}:{} and {}:{}", status.user, status.group, other.user, other.group));
    else if (preserve.group && status.group != other.group)
        join(text, fmt::format("group {} and {}", status.group, other.group));
    const bool has_owner = status.user == other.user && status.group == other.group;
    if (preserve.permissions && permissions_for(status, has_owner) != other.permissions &&
        status.kind != sys::EntryKind::link)
        join(text, fmt::format("mode {:04o} and {:04o}", status.permissions, other.permissions));
    if (preserve.times && !is_same_time(status, other))
        join(text, fmt::format("modified at {} and {}", show_time(status.modified), show_time(other.modified)));
    return text;
}

Result<std::string> difference_of(const AttributeSource& source, const AttributeSource& other) {
    std::string text;
    for (const auto& name : source.names) {
        if (!has(other.names, name)) {
            join(text, name);
            continue;
        }
        FB_TRY_ASSIGN(value, source.value(name));
        FB_TRY_ASSIGN(other_value, other.value(name));
        if (value != other_value) join(text, name);
    }
    for (const auto& name : other.names)
        if (!has(source.names, name)) join(text, name);
    return text;
}

}  // namespace forebay::tree
