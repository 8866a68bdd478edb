// Attributes of an entry: sets them in an order in which no step undoes another, and compares them.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sys/tree.hpp"

namespace forebay::tree {

/// Names of the POSIX ACLs as extended attributes. New entries inherit the default ACL of their directory.
inline constexpr const char* access_acl = "system.posix_acl_access";
inline constexpr const char* default_acl = "system.posix_acl_default";

struct Preserve {
    bool owner = true, group = true;  // never the owner without the group
    bool permissions = true, times = true, attributes = true, hard_links = true;
};

/// "owner,times" preserves only these; "all". Returns `refused` for other words.
Result<Preserve> preserve_from(std::string_view words);
/// Text from which preserve_from() makes an equal value.
std::string words_of(const Preserve& preserve);

/// The extended attributes of a source entry.
struct AttributeSource {
    std::vector<std::string> names;
    std::function<Result<std::string>(const std::string& name)> value;
};
Result<AttributeSource> attributes_of(sys::OpenEntry& entry);
Result<AttributeSource> attributes_of(sys::Folder& folder, const std::string& name);
/// The same; empty if attributes are not preserved.
Result<AttributeSource> wished_attributes(sys::Folder& folder, const std::string& name, const Preserve& preserve);

/// True if new entries of the directory inherit an ACL.
Result<bool> has_default_acl(sys::Folder& folder);

/// Attributes that belong to a file system and are not copied: Lustre layouts, and labels of security modules.
bool is_of_file_system(const std::string& attribute_name);
void drop_those_of_file_system(std::vector<std::string>& names);

/// Attributes of a target entry before it gets the source's attributes.
struct Held {
    std::uint32_t user = 0, group = 0;
    std::uint32_t permissions = 0;
    bool times = false;       // already equal to the source's times
    std::uint32_t umask = 0;  // for a new entry without preserved permissions
    bool is_new = false;
    std::vector<std::string> attributes;  // extended attributes; names missing in the source are removed
};

/// Owner and group to set, if they differ from `held`.
struct WishedOwner {
    std::uint32_t user = 0, group = 0;
    std::string part;  // name of the part for Settle
};
std::optional<WishedOwner> wished_owner(const sys::EntryStatus& status, const Held& held, const Preserve& preserve);

/// Sets owner, extended attributes, permissions and times, in this order: a change of owner clears setuid bits and
/// capabilities, and an ACL changes the group's permissions. If the owner cannot be set, it sets the group if this user
/// may. `settle` gets the result of each part, with the value of an extended attribute, and decides whether to
/// continue: see CannotKeep.
using Settle = std::function<Result<>(const std::string& part, const std::string& value, Result<> done)>;
Result<> give_attributes(const sys::EntryStatus& status, const AttributeSource& source, sys::OpenEntry& target,
                         const Held& held, const Preserve& preserve, const Settle& settle);

/// Differences in preserved attributes: "owner 0:0 and 5:5, mode 0644 and 0600"; empty if none. Does not compare
/// extended attributes, kinds and sizes.
std::string difference_of(const sys::EntryStatus& status, const sys::EntryStatus& other, const Preserve& preserve);

/// True if both modification times are equal as far as the target stores them. If the target's nanoseconds are 0, its
/// file system may keep whole seconds, as Lustre does.
bool is_same_time(const sys::EntryStatus& source, const sys::EntryStatus& target);

/// Before 1970 or after 2038. Some file systems lack such a time and store the last time that they have.
bool is_far(sys::FileTime time);

/// Returns `unsupported` if the target has another time than its source.
Result<> check_time(const sys::EntryStatus& source, const sys::EntryStatus& target);

/// The names of extended attributes that differ or are in only one list: "user.a, user.b".
Result<std::string> difference_of(const AttributeSource& source, const AttributeSource& other);

}  // namespace forebay::tree
