// Decides how the target gets an entry of the source. It makes no system call: it asks for each fact that it needs, so
// no read is wasted.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "forebay/result.hpp"
#include "transfer/copy/attributes.hpp"

namespace forebay::tree {

enum class EntryDecision : std::uint8_t {
    ask_inode,       // does the target's inode stand for this source inode, and for no other?
    ask_content,     // has the target's entry equal bytes, text or device?
    ask_attributes,  // are the extended attributes equal?

    keep,     // the target has it
    adjust,   // only attributes differ
    make,     // the target has no such name
    replace,  // the target has another entry there
    link,     // a further name of an inode with a copy
    defer,    // a directory is in the way and may go at the end of the copy
    refuse,   // a directory is in the way and stays; or attributes cannot be read
};

enum class SeenAttributes : std::uint8_t { same, differ, differ_in_rights, unread };

struct EntrySight {
    sys::EntryStatus source;
    std::optional<sys::EntryStatus> existing{};  // the target's entry of that name
    bool has_copy = false;                       // its inode has a copy under another name
    std::optional<bool> is_its_inode{};          // answers to the questions
    std::optional<bool> has_content{};
    std::optional<SeenAttributes> attributes{};
    std::string difference{};               // in extended attributes, for the user
    std::optional<Error> unread_because{};  // error of unread attributes
};

struct DecideRules {
    Preserve preserve{};
    bool removes_extra = false;
    bool folders_are_gone = false;  // in a dry run: directories in the way count as removed
    bool is_root = false;           // this process can give rights to other users' files
};

EntryDecision decide(const EntrySight& sight, const DecideRules& rules);

/// The differences of the target's entry, for the user.
std::string difference_in(const EntrySight& sight, const Preserve& preserve);

/// The same for a target directory in the place of an entry. Empty: no directory is in the way.
std::optional<EntryDecision> decide_folder(const std::optional<sys::EntryStatus>& existing, const DecideRules& rules);

}  // namespace forebay::tree
