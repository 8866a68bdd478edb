// What verbs that make a tree of something share: options, the run with its bar and reports, and what is printed.

#pragma once

#include <functional>
#include <string>

#include "core/terminal/progress.hpp"
#include "transfer/copy/copy.hpp"
#include "transfer/program/options.hpp"

namespace forebay::cli {

struct CopyArguments {
    TreeArguments tree;
    std::string source, target;
    std::string cannot_keep, manifest, files_from, rate_group;
    std::string layout = "auto", exclude_targets;
    std::uint64_t rate = 0;
    bool nul = false, verify = false, dry_run = false, no_sync = false;
    bool as_files = false;         // a run of ours too
    std::uint64_t node_files = 0;  // of a run's snapshots
    bool make_container = false;   // of DAOS
    bool remove = false, allow_empty = false, allow_unlike = false, checksum = false, quick = false;  // of sync
    std::int64_t max_delete = INT64_MAX;  // of sync; the default is no limit
};

/// The words of --cannot-keep and its file.
void add_cannot_keep(Verb& verb, CopyArguments& options);
/// --layout and --exclude-targets, of verbs that make many files.
void add_layout(Verb& verb, CopyArguments& options);
/// --rate, --dry-run and --no-sync.
void add_run_options(Verb& verb, CopyArguments& options);

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
    WordsAtEnd when_ended{"what has its final name at the target is whole", "the same command goes on"};
    std::function<void(const CopyArguments&, const tree::Remarks&)> say_after = {};
    bool is_one_file = false;  // an error leaves nothing of it
};

/// Does `work` with what the options say, shows how far it is, and prints what became of it, or gives it to `answer`.
using CopyWork = std::function<Result<>(const tree::TreeCopyOptions&, tree::Remarks&, tree::CopyCounts&, Progress&)>;
Result<Exit> run_copy(const CopyArguments& options, const char* label, Counted counted, const CopyWork& work,
                      Json& answer, const CopyTelling& telling = {});

}  // namespace forebay::cli
