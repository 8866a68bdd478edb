// Which verbs are those of trees, and who does them: this process, alone or with others, or MPI's ranks.

#include <algorithm>

#include "transfer/program/hosts.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

constexpr std::string_view worker = "tree-worker";

}  // namespace

bool is_tree_verb(std::string_view name) {
    return name == worker || std::ranges::any_of(tree_summaries, [&](const auto& verb) { return verb.first == name; });
}

void add_tree_verbs(CommandLine& line) {
    if (started_by_launcher()) {
        for (const auto& [name, summary] : tree_summaries) line.elsewhere(name, summary, become_mpi_program);
        return;
    }
    add_walk(line, run_with_hosts);
    add_copy(line, run_with_hosts);
    add_sync(line, run_with_hosts);
    add_compare(line, run_with_hosts);
    add_delete(line, run_with_hosts);
}

}  // namespace forebay::cli
