// The verbs of `forebay-transfer`, one file each. Verbs that several processes can share are in hosts.hpp.

#pragma once

#include "core/terminal/command_line.hpp"

namespace forebay::cli {

inline constexpr const char* transfer_summary = "Copy, compare, archive and remove whole trees of files, in parallel.";

/// walk, copy, sync, compare and delete: in this process, with hosts of --hosts, or on ranks of MPI.
void add_tree_verbs(CommandLine& line);
void add_archive(CommandLine& line);
void add_restore_archive(CommandLine& line);
void add_migrate(CommandLine& line);
void add_tree_worker(CommandLine& line);

}  // namespace forebay::cli
