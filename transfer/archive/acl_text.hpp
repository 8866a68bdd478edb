// Converts POSIX ACLs between the text of tar, "user::rw-,user:1000:r--,group::r--,mask::r--,other::---", and the bytes
// of the kernel's extended attribute: a version, then entries of tag, permissions and number.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace forebay::archive {

/// Empty if the bytes are no ACL that the text can express.
std::string acl_text_of(std::string_view value);
/// The kernel's bytes; nothing if the text is invalid. A number may be in place of a name, or after the permissions as
/// in "user:joe:rw-:1000". Otherwise the name is looked up on this machine.
std::optional<std::string> acl_value_of(std::string_view text);

}  // namespace forebay::archive
