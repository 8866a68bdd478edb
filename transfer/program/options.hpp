// Options shared by the verbs of trees.

#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/terminal/command_line.hpp"
#include "core/terminal/progress.hpp"
#include "transfer/copy/attributes.hpp"
#include "transfer/program/report.hpp"
#include "transfer/walk/filter.hpp"
#include "transfer/walk/tree_count.hpp"

namespace forebay::cli {

struct TreeArguments {
    std::uint64_t threads = 0;
    std::vector<std::string> include, exclude;
    std::string preserve = "all";
    std::string report;
    bool report_all = false;
    bool one_file_system = false;
    bool recall = false;
    bool json = false;
    std::string hosts, ssh = "ssh";
    std::uint64_t timeout = 15;

    mutable std::shared_ptr<tree::PatternUse> use{};  // of the patterns; set by the first filter()

    tree::EntryFilter filter() const;
    /// True if there are include patterns and no entry matched any.
    bool includes_nothing() const;
    /// The requested number; otherwise one for each CPU of this process, or 16 if a tree is remote.
    std::uint32_t thread_count(std::initializer_list<std::string_view> places) const;
};

/// Adds --threads and --report; --include and --exclude; and these with --one-file-system.
void add_tree_options(Verb& verb, TreeArguments& arguments);
/// For verbs that several processes can share.
void add_hosts_options(Verb& verb, TreeArguments& arguments);
/// Adds --report-all, for verbs that make trees.
void add_report_all(Verb& verb, TreeArguments& arguments);
void add_entry_options(Verb& verb, TreeArguments& arguments);
void add_filter_options(Verb& verb, TreeArguments& arguments);
/// Adds --recall, for verbs that read files.
void add_recall(Verb& verb, TreeArguments& arguments);

/// Returns `refused` for remote addresses: archives are files, made from directories and restored to directories.
Result<> check_for_archive(std::initializer_list<std::string_view> places);

/// Replaces each place by the place of its tree (sys::find_tree). Prints a line if they differ.
Result<> find_trees(std::initializer_list<std::string*> places);

/// The texts printed if SIGINT or SIGTERM ends a verb.
struct WordsAtEnd {
    const char* safe;
    const char* next;
};
/// For a verb that only reads.
inline constexpr WordsAtEnd nothing_changed{"nothing was changed", ""};

/// As exit_of(), and 1 if no entry matched any --include: nothing was done or compared.
Result<Exit> exit_of(const tree::EntryLog& entry_log, const TreeArguments& arguments);

/// Prints a line for each pattern that matched no entry.
void say_unused(const TreeArguments& arguments);

/// Continues a count and sets the totals when it is done.
void set_all(TreeFlow& flow, tree::TreeCount& count);

/// Makes the entry log. With --report it also writes to that file: `report` owns it, and the caller closes it.
Result<std::unique_ptr<tree::EntryLog>> make_entry_log(const TreeArguments& arguments,
                                                       std::unique_ptr<LinesFile>& report);

}  // namespace forebay::cli
