// Which verbs are those of trees.

#include <algorithm>
#include <array>
#include <utility>

#include "cli/verbs.hpp"

namespace forebay::cli {

namespace {

constexpr std::array<std::pair<std::string_view, void (*)(CommandLine&)>, 5> tree_verbs{
    {{"walk", add_walk}, {"copy", add_copy}, {"sync", add_sync}, {"compare", add_compare}, {"delete", add_delete}}};

}  // namespace

bool is_tree_verb(std::string_view name) {
    return std::ranges::any_of(tree_verbs, [&](const auto& verb) { return verb.first == name; });
}

void add_tree_verbs(CommandLine& line) {
    for (const auto& [name, add] : tree_verbs) add(line);
}

}  // namespace forebay::cli
