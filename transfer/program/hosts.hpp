// Other processes that share a verb's work: hosts of --hosts, started by this program, or ranks of MPI's launcher
// (module bench).

#pragma once

#include <array>
#include <functional>
#include <utility>

#include "transfer/program/options.hpp"
#include "transfer/team/coordinator.hpp"

namespace forebay::cli {

/// The verbs with their summaries.
inline constexpr std::array<std::pair<const char*, const char*>, 5> tree_summaries{{
    {"walk", "Count the files of a tree, and list them"},
    {"copy", "Copy a tree of files with its links, holes, ACLs and times"},
    {"sync", "Make one tree of files equal to another, and copy only differences"},
    {"compare", "List the differences of two trees of files"},
    {"delete", "Remove a tree of files"},
}};
/// Declares one of the verbs.
Verb tree_verb(CommandLine& line, const char* name);

/// A verb of trees; the coordinator is null for a single process.
using TreeVerb = std::function<Result<Exit>(tree::Coordinator*)>;
/// Runs a verb with the available processes.
using TreeRunner = std::function<Result<Exit>(const TreeArguments&, const TreeVerb&)>;

/// Uses the hosts of --hosts, if any.
Result<Exit> run_with_hosts(const TreeArguments& arguments, const TreeVerb& verb);

/// A group of workers over `port`, with the options of the arguments.
tree::TeamSetup team_setup(const TreeArguments& arguments, std::unique_ptr<tree::TeamPort> port);
/// All processes of a group must have this version.
const char* team_version();

/// Sets the key "processes": the work of each process.
void set_team(Json& object, const tree::Coordinator* lead);

void add_walk(CommandLine& line, const TreeRunner& run);
void add_copy(CommandLine& line, const TreeRunner& run);
void add_sync(CommandLine& line, const TreeRunner& run);
void add_compare(CommandLine& line, const TreeRunner& run);
void add_delete(CommandLine& line, const TreeRunner& run);

}  // namespace forebay::cli
