// POSIX ACLs as tar has them, "user::rw-,user:1000:r--,group::r--,mask::r--,other::---", and as the kernel has them in
// an extended attribute: a version, and entries of tag, permissions and number.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace forebay::archive {

/// Empty where the bytes are no ACL that the text can say.
std::string acl_text_of(std::string_view value);
/// The kernel's bytes. A number stands in place of a name, or behind the permissions, as in "user:joe:rw-:1000"; else
/// the name is looked for on this machine. Nothing where there is none of it.
std::optional<std::string> acl_value_of(std::string_view text);

}  // namespace forebay::archive
