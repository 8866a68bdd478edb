// Verbs of the transfer tool. `forebay VERB` executes that program.

#pragma once

#include <string_view>

#include "core/terminal/command_line.hpp"

namespace forebay::cli {

/// walk, copy, sync, compare, delete, archive, restore-archive or migrate.
bool is_transfer_verb(std::string_view name);
/// True if `forebay compare` gets a snapshot: this program compares its variables.
bool compares_snapshots(int count, char** arguments);
/// Adds all of them. `add_compare` adds another verb in place of compare.
void add_transfer_verbs(CommandLine& line, void (*add_compare)(CommandLine&) = nullptr);

}  // namespace forebay::cli
