// Options that the verbs of trees share, and what follows from them.

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

    mutable std::shared_ptr<tree::PatternUse> use{};  // of the patterns, from the first filter() on

    tree::EntryFilter filter() const;
    /// With patterns to include: no entry fitted any.
    bool includes_nothing() const;
    /// As many as this process may use CPUs, where the caller does not say; 16 where one of the trees is far away.
    std::uint32_t thread_count(std::initializer_list<std::string_view> places) const;
};

/// --threads, --report; --include, --exclude; and with these --one-file-system.
void add_tree_options(Verb& verb, TreeArguments& arguments);
/// Of verbs that several processes can share.
void add_hosts_options(Verb& verb, TreeArguments& arguments);
/// --report-all, of verbs that make trees.
void add_report_all(Verb& verb, TreeArguments& arguments);
void add_entry_options(Verb& verb, TreeArguments& arguments);
void add_filter_options(Verb& verb, TreeArguments& arguments);
/// --recall, of verbs that read files.
void add_recall(Verb& verb, TreeArguments& arguments);

/// `refused` for addresses: archives are files made of directories, and restored to directories.
Result<> check_for_archive(std::initializer_list<std::string_view> places);

/// Each of the places that a verb was given becomes the one where its tree lies (sys::find_tree). Where it is another,
/// a line says so.
Result<> find_trees(std::initializer_list<std::string*> places);

/// What is said where SIGINT or SIGTERM ends a verb.
struct WordsAtEnd {
    const char* safe;
    const char* next;
};
/// Of one that only looks.
inline constexpr WordsAtEnd nothing_changed{"nothing was changed", ""};

/// As exit_of(), and 1 where no entry fitted any of --include: nothing was done or compared.
Result<Exit> exit_of(const tree::EntryLog& entry_log, const TreeArguments& arguments);

/// A line for each pattern that fitted no entry.
void say_unused(const TreeArguments& arguments);

/// Lets a count of all go on, and takes it where it is done.
void set_all(TreeFlow& flow, tree::TreeCount& count);

/// Remarks that also go to the file of --report, where one is wished: `report` owns it and is closed by the caller.
Result<std::unique_ptr<tree::EntryLog>> make_entry_log(const TreeArguments& arguments,
                                                       std::unique_ptr<LinesFile>& report);

}  // namespace forebay::cli
