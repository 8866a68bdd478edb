// Verbs of the transfer tool. `forebay VERB` starts that program in place of itself.

#pragma once

#include <string_view>

#include "core/terminal/command_line.hpp"

namespace forebay::cli {

/// walk, copy, sync, compare, delete, archive, restore-archive or migrate.
bool is_transfer_verb(std::string_view name);
/// Whether `forebay compare` gets a snapshot, whose variables this program compares.
bool compares_snapshots(int count, char** arguments);
/// All of them. `add_compare` adds another verb in place of compare.
void add_transfer_verbs(CommandLine& line, void (*add_compare)(CommandLine&) = nullptr);

}  // namespace forebay::cli
