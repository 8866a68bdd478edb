// Shared by verbs that make a tree: options, the run with progress bar and reports, and the printed results.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/terminal/progress.hpp"
#include "transfer/copy/copy.hpp"
#include "transfer/program/options.hpp"

namespace forebay::cli {

inline constexpr std::int64_t no_count = INT64_MIN;

struct CopyArguments {
    TreeArguments tree;
    std::string source, target;
    tree::TreeCopyOptions copy;                  // flags and numbers of each_copy_option()
    std::map<std::string, std::string> words;    // values of its other options, by name
    std::map<std::string, std::int64_t> counts;  // no_count if not given
    std::map<std::string, bool> switches;        // options that turn a default off
    std::string manifest, files_from, rate_group;
    bool nul = false;
    bool as_files = false;        // also a run of Forebay
    bool make_container = false;  // of DAOS
};

/// Adds all options of each_copy_option() for the verbs in `verb_bits`, with --manifest and --rate-group.
void add_copy_options(Verb& verb, CopyArguments& options, unsigned verb_bits);
/// The options of the command line, with the list of paths read from its file.
Result<tree::TreeCopyOptions> copy_options(const CopyArguments& options);

/// The unit that the progress bar counts.
enum class Counted {
    nothing,  // no share is shown
    tree,     // entries of the source, counted meanwhile
    file,     // bytes of the source, a file
};

/// Extra output: `more` adds to the object of --json. `say` prints results instead of counts. `say_after` prints after
/// them. `when_ended` is for a signal, except in a dry run.
struct CopyTelling {
    std::function<void(Json&)> more = {};
    std::function<void()> say = {};
    WordsAtEnd when_ended{"every file with its final name at the target is whole", "the same command continues"};
    std::function<void(const CopyArguments&, const tree::EntryLog&)> say_after = {};
    bool is_one_file = false;  // an error leaves nothing of it
};

/// Runs `work` with the options, shows progress, and prints the results or adds them to `answer`.
using CopyWork = std::function<Result<>(const tree::TreeCopyOptions&, tree::EntryLog&, tree::CopyCounts&, Progress&)>;
Result<Exit> run_copy(const CopyArguments& options, const char* label, Counted counted, const CopyWork& work,
                      Json& answer, const CopyTelling& telling = {});

}  // namespace forebay::cli
