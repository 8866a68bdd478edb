// Other processes that share the work of a verb of trees: those of --hosts, which this program starts, or the ranks of
// MPI's launcher (room bench).

#pragma once

#include <array>
#include <functional>
#include <utility>

#include "transfer/program/options.hpp"
#include "transfer/team/coordinator.hpp"

namespace forebay::cli {

/// The verbs, and what each is for.
inline constexpr std::array<std::pair<const char*, const char*>, 5> tree_summaries{{
    {"walk", "Count the files of a tree, and list them"},
    {"copy", "Copy a tree of files with its links, holes, ACLs and times"},
    {"sync", "Make one tree of files equal to another, and copy only differences"},
    {"compare", "List the differences of two trees of files"},
    {"delete", "Remove a tree of files"},
}};
/// Declares one of them.
Verb tree_verb(CommandLine& line, const char* name);

/// A verb of trees, of one process or with others.
using TreeVerb = std::function<Result<Exit>(tree::Coordinator*)>;
/// Runs it with the others that there are.
using TreeRunner = std::function<Result<Exit>(const TreeArguments&, const TreeVerb&)>;

/// With the hosts of --hosts, if any.
Result<Exit> run_with_hosts(const TreeArguments& arguments, const TreeVerb& verb);

/// A team over `port`, as the arguments want it.
tree::TeamSetup team_setup(const TreeArguments& arguments, std::unique_ptr<tree::TeamPort> port);
/// What all processes of a team must have.
const char* team_version();

/// The key "processes": what each of them did.
void set_team(Json& object, const tree::Coordinator* lead);

void add_walk(CommandLine& line, const TreeRunner& run);
void add_copy(CommandLine& line, const TreeRunner& run);
void add_sync(CommandLine& line, const TreeRunner& run);
void add_compare(CommandLine& line, const TreeRunner& run);
void add_delete(CommandLine& line, const TreeRunner& run);

}  // namespace forebay::cli
