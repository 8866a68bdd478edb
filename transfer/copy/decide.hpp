// Decides how the target gets an entry of the source. It makes no system call: it asks for each fact that it needs, so
// nothing is read in vain.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "forebay/result.hpp"
#include "transfer/copy/attributes.hpp"

namespace forebay::tree {

enum class EntryDecision : std::uint8_t {
    ask_inode,       // does the target's inode stand for the source's one, and for no other?
    ask_content,     // has the target's entry the same bytes, text or device?
    ask_attributes,  // are the extended attributes the same?

    keep,     // the target has it
    adjust,   // the target has it, with other attributes
    make,     // the target has nothing of that name
    replace,  // the target has something else
    link,     // it is a further name of an inode that has its copy
    defer,    // a folder stands there, and may go: at the end of the copy
    refuse,   // a folder stands there, and stays; or attributes that must be compared cannot be read
};

enum class SeenAttributes : std::uint8_t { same, differ, differ_in_rights, unread };

struct EntrySight {
    sys::EntryStatus source;
    std::optional<sys::EntryStatus> existing{};  // what the target has under its name
    bool has_copy = false;                       // its inode, under another name
    std::optional<bool> is_its_inode{};          // the answers
    std::optional<bool> has_content{};
    std::optional<SeenAttributes> attributes{};
    std::string difference{};               // of extended attributes, for people
    std::optional<Error> unread_because{};  // them
};

struct DecideRules {
    Preserve preserve{};
    bool removes_extra = false;
    bool folders_are_gone = false;  // in a dry run: those that stand there would have been removed
    bool is_root = false;           // this process, which can give rights to files of others
};

EntryDecision decide(const EntrySight& sight, const DecideRules& rules);

/// The differences of the target's entry, for people.
std::string difference_in(const EntrySight& sight, const Preserve& preserve);

/// The same for a folder of the target in the place of an entry. Empty: no folder is in the way.
std::optional<EntryDecision> decide_folder(const std::optional<sys::EntryStatus>& existing, const DecideRules& rules);

}  // namespace forebay::tree
