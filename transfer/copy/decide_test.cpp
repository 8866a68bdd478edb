// Goal: the known facts decide about an entry. No fact is asked for in vain, and no user gets new rights by a target
// entry.
// Method: a table of facts with their decision. Each row differs in one fact from an entry that is kept.

#include "transfer/copy/decide.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <span>
#include <string>

using namespace forebay;
using tree::DecideRules;
using tree::EntryDecision;
using tree::EntrySight;
using tree::SeenAttributes;

namespace {

// A file of root that the target has, with all facts known.
EntrySight kept() {
    const sys::EntryStatus status{.kind = sys::EntryKind::file, .permissions = 0644, .bytes = 10, .modified = {5, 6}};
    return {.source = status,
            .existing = status,
            .is_its_inode = true,
            .has_content = true,
            .attributes = SeenAttributes::same};
}

struct Row {
    std::string is;
    std::function<void(EntrySight&, DecideRules&)> change;
    EntryDecision decision;
};

using Kind = sys::EntryKind;

// The existing entry, and its inode.
const Row places[] = {
    {"the same", [](EntrySight&, DecideRules&) {}, EntryDecision::keep},
    {"not at the target", [](EntrySight& sight, DecideRules&) { sight.existing.reset(); }, EntryDecision::make},
    {"a further name", [](EntrySight& sight, DecideRules&) { sight.has_copy = true; }, EntryDecision::link},
    {"a further name, in whose place a folder stands",
     [](EntrySight& sight, DecideRules&) {
         sight.has_copy = true;
         sight.existing->kind = Kind::folder;
     },
     EntryDecision::link},
    {"a folder in its place", [](EntrySight& sight, DecideRules&) { sight.existing->kind = Kind::folder; },
     EntryDecision::refuse},
    {"a folder that may go",
     [](EntrySight& sight, DecideRules& rules) {
         sight.existing->kind = Kind::folder;
         rules.removes_extra = true;
     },
     EntryDecision::defer},
    {"a folder that would be gone",
     [](EntrySight& sight, DecideRules& rules) {
         sight.existing->kind = Kind::folder;
         rules.removes_extra = rules.folders_are_gone = true;
     },
     EntryDecision::replace},
    {"another kind", [](EntrySight& sight, DecideRules&) { sight.existing->kind = Kind::link; },
     EntryDecision::replace},
    {"a name of other files, too", [](EntrySight& sight, DecideRules&) { sight.existing->names = 2; },
     EntryDecision::replace},
    {"a name of other files, where names are not kept",
     [](EntrySight& sight, DecideRules& rules) {
         sight.existing->names = 2;
         rules.preserve.hard_links = false;
     },
     EntryDecision::keep},
    {"names on both sides, whose inode is not known",
     [](EntrySight& sight, DecideRules&) {
         sight.source.names = sight.existing->names = 2;
         sight.is_its_inode.reset();
         sight.has_content.reset();
     },
     EntryDecision::ask_inode},
    {"the inode of another file",
     [](EntrySight& sight, DecideRules&) {
         sight.source.names = sight.existing->names = 2;
         sight.is_its_inode = false;
     },
     EntryDecision::replace},
};

// Entries of equal kind.
const Row contents[] = {
    {"content that is not known",
     [](EntrySight& sight, DecideRules&) {
         sight.has_content.reset();
         sight.attributes.reset();
     },
     EntryDecision::ask_content},
    {"other content, of which nothing else is asked",
     [](EntrySight& sight, DecideRules&) {
         sight.has_content = false;
         sight.attributes.reset();
     },
     EntryDecision::replace},
    {"attributes that are not known", [](EntrySight& sight, DecideRules&) { sight.attributes.reset(); },
     EntryDecision::ask_attributes},
    {"other attributes", [](EntrySight& sight, DecideRules&) { sight.attributes = SeenAttributes::differ; },
     EntryDecision::adjust},
    {"another mode", [](EntrySight& sight, DecideRules&) { sight.existing->permissions = 0600; },
     EntryDecision::adjust},
    {"another mode, which is not kept",
     [](EntrySight& sight, DecideRules& rules) {
         sight.existing->permissions = 0600;
         rules.preserve.permissions = false;
     },
     EntryDecision::keep},
    {"another mode, and one name too many",
     [](EntrySight& sight, DecideRules&) {
         sight.source.names = 2;
         sight.existing->names = 3;
         sight.existing->permissions = 0600;
     },
     EntryDecision::replace},
};

// Attributes that are unknown or give rights.
const Row rights[] = {
    {"attributes that cannot be read",
     [](EntrySight& sight, DecideRules&) { sight.attributes = SeenAttributes::unread; }, EntryDecision::refuse},
    {"attributes that cannot be read, of what is adjusted anyway",
     [](EntrySight& sight, DecideRules&) {
         sight.attributes = SeenAttributes::unread;
         sight.existing->permissions = 0600;
     },
     EntryDecision::adjust},
    {"setuid for a file that others may write to",
     [](EntrySight& sight, DecideRules& rules) {
         rules.is_root = true;
         sight.source.permissions = 04755;
         sight.existing->permissions = 0777;
     },
     EntryDecision::replace},
    {"setuid for a file of another user, by a user who cannot give rights",
     [](EntrySight& sight, DecideRules&) {
         sight.source.permissions = 04755;
         sight.existing->user = 7;
     },
     EntryDecision::adjust},
    {"capabilities for a file of another user",
     [](EntrySight& sight, DecideRules& rules) {
         rules.is_root = true;
         sight.existing->user = 7;
         sight.attributes = SeenAttributes::differ_in_rights;
     },
     EntryDecision::replace},
    {"capabilities for a file of its own",
     [](EntrySight& sight, DecideRules& rules) {
         rules.is_root = true;
         sight.attributes = SeenAttributes::differ_in_rights;
     },
     EntryDecision::adjust},
    {"a link of another owner, which gives no rights",
     [](EntrySight& sight, DecideRules& rules) {
         rules.is_root = true;
         sight.source.kind = sight.existing->kind = Kind::link;
         sight.existing->user = 7;
     },
     EntryDecision::adjust},
};

}  // namespace

TEST_CASE("decide: each row of the tables") {
    for (const auto rows : {std::span<const Row>(places), std::span<const Row>(contents), std::span<const Row>(rights)})
        for (const auto& row : rows) {
            CAPTURE(row.is);
            auto sight = kept();
            DecideRules rules;
            row.change(sight, rules);
            CHECK(tree::decide(sight, rules) == row.decision);
        }
}
