// What an entry has beside its name and bytes: given to a copy in the order in which one does not undo the other, and
// compared.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/sys/tree.hpp"

namespace forebay::tree {

/// As extended attributes POSIX ACLs have these names; new entries inherit from the default one of their folder.
inline constexpr const char* access_acl = "system.posix_acl_access";
inline constexpr const char* default_acl = "system.posix_acl_default";

struct Preserve {
    bool owner = true, group = true;  // the owner never without the group
    bool permissions = true, times = true, attributes = true, hard_links = true;
};

/// "owner,times": those that are named alone; "all". `refused` for other words.
Result<Preserve> preserve_from(std::string_view words);
/// From which preserve_from() makes the same.
std::string words_of(const Preserve& preserve);

/// The extended attributes of an entry of the source.
struct AttributeSource {
    std::vector<std::string> names;
    std::function<Result<std::string>(const std::string& name)> value;
};
Result<AttributeSource> attributes_of(sys::OpenEntry& entry);
Result<AttributeSource> attributes_of(sys::Folder& folder, const std::string& name);
/// The same; none where they are not preserved.
Result<AttributeSource> wished_attributes(sys::Folder& folder, const std::string& name, const Preserve& preserve);

/// Whether new entries of it inherit an ACL.
Result<bool> has_default_acl(sys::Folder& folder);

/// What a copy has of its own: layouts of Lustre, and labels of the machine's security modules.
bool is_of_file_system(const std::string& attribute_name);
void drop_those_of_file_system(std::vector<std::string>& names);

/// What a new or other entry has before it gets the source's.
struct Held {
    std::uint32_t user = 0, group = 0;
    std::uint32_t permissions = 0;
    bool times = false;       // already the source's
    std::uint32_t umask = 0;  // of a new entry whose permissions are not preserved
    bool is_new = false;
    std::vector<std::string> attributes;  // extended ones, of which those that the source has not are removed
};

/// What an entry is to be given of its source's owner and group, which is none of what `held` has.
struct WishedOwner {
    std::uint32_t user = 0, group = 0;
    std::string part;  // as Settle hears of it
};
std::optional<WishedOwner> wished_owner(const sys::EntryStatus& status, const Held& held, const Preserve& preserve);

/// Sets owner, extended attributes, permissions and times, in this order: a change of owner clears setuid bits and
/// capabilities, and an ACL changes the permissions of the group. An entry that goes on without its owner gets its
/// group, where this user may give it. `settle` hears how each part went, with the value of an extended attribute, and
/// says whether to go on: see CannotKeep.
using Settle = std::function<Result<>(const std::string& part, const std::string& value, Result<> done)>;
Result<> give_attributes(const sys::EntryStatus& status, const AttributeSource& source, sys::OpenEntry& target,
                         const Held& held, const Preserve& preserve, const Settle& settle);

/// "owner 0:0 and 5:5, mode 0644 and 0600": in what two entries differ, of what is preserved; empty where in nothing.
/// Extended attributes, kinds and sizes are not among them.
std::string difference_of(const sys::EntryStatus& status, const sys::EntryStatus& other, const Preserve& preserve);

/// Whether the target's time of modification is that of its source, as far as the target can have it: where its
/// nanoseconds are 0 its file system may keep whole seconds, as Lustre does.
bool is_same_time(const sys::EntryStatus& source, const sys::EntryStatus& target);

/// Before 1970 or after 2038: not every file system has such a time. Some put the last one that they have in its place.
bool is_far(sys::FileTime time);

/// `unsupported` where the target has another time in place of that of its source.
Result<> check_time(const sys::EntryStatus& source, const sys::EntryStatus& target);

/// The names of extended attributes that differ, or that one of both has alone: "user.a, user.b".
Result<std::string> difference_of(const AttributeSource& source, const AttributeSource& other);

}  // namespace forebay::tree
