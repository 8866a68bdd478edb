// What verbs that make a tree of something share: options, the run with its bar and reports, and what is printed.

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
    std::map<std::string, std::string> words;    // values of its other options, by their names
    std::map<std::string, std::int64_t> counts;  // no_count where it was not given
    std::map<std::string, bool> switches;        // of those that take a default away
    std::string manifest, files_from, rate_group;
    bool nul = false;
    bool as_files = false;        // a run of ours too
    bool make_container = false;  // of DAOS
};

/// All options of each_copy_option() that the verbs of `verb_bits` have, and what belongs to them: --manifest and
/// --rate-group.
void add_copy_options(Verb& verb, CopyArguments& options, unsigned verb_bits);
/// What the command line asks for, with the list of paths that it names.
Result<tree::TreeCopyOptions> copy_options(const CopyArguments& options);

/// What the share that is done is told of.
enum class Counted {
    nothing,  // it is not told
    tree,     // the entries of the source, which are counted meanwhile
    file,     // the bytes of the source, which is a file
};

/// What is told beside the usual: `more` adds to the object of --json, `say` says to people what became of it, instead
/// of counts, `when_ended` is for a signal that ends what is no dry run, and `say_after` says more after them.
struct CopyTelling {
    std::function<void(Json&)> more = {};
    std::function<void()> say = {};
    WordsAtEnd when_ended{"every file with its final name at the target is whole", "the same command continues"};
    std::function<void(const CopyArguments&, const tree::EntryLog&)> say_after = {};
    bool is_one_file = false;  // an error leaves nothing of it
};

/// Does `work` with what the options say, shows how far it is, and prints what became of it, or gives it to `answer`.
using CopyWork = std::function<Result<>(const tree::TreeCopyOptions&, tree::EntryLog&, tree::CopyCounts&, Progress&)>;
Result<Exit> run_copy(const CopyArguments& options, const char* label, Counted counted, const CopyWork& work,
                      Json& answer, const CopyTelling& telling = {});

}  // namespace forebay::cli
