// forebay copy and forebay sync: one tree becomes the copy of another.

#include <memory>

#include "cli/tree_copy_run.hpp"
#include "cli/verbs.hpp"

namespace forebay::cli {

namespace {

Result<Exit> copy(const CopyArguments& options, const char* label) {
    return run_copy(options, label,
                    [&](const tree::TreeCopyOptions& wished, tree::Remarks& remarks, tree::CopyCounts& counts) {
                        return tree::copy_tree(options.source, options.target, wished, remarks, counts);
                    });
}

constexpr const char* keys =
    "  An object: source, target, dry_run, entries, folders, copied, linked, adjusted, equal, removed, bytes,\n"
    "  resumed_bytes, seconds, remarks (how many of each kind), first (the first 1,000 of them: kind, path, path_hex\n"
    "  where it is no UTF-8, why).\n";

Verb add_verb(CommandLine& line, const std::shared_ptr<CopyArguments>& options, const char* name, const char* summary) {
    auto verb = line.verb(name, summary);
    verb.argument("SOURCE", options->source, "A directory");
    verb.argument("TARGET", options->target, "The directory that becomes its copy; made if missing");
    add_tree_options(verb, options->tree);
    add_filter_options(verb, options->tree);
    verb.option("--files-from", options->files_from, "A file with the paths below SOURCE that are meant, one a line");
    verb.flag("--null", options->nul, "Paths of the list end with a zero byte, not with a line");
    verb.option("--preserve", options->tree.preserve,
                "all, or some of owner,permissions,times,attributes,hard-links; or none");
    add_cannot_keep(verb, *options);
    verb.flag("--verify", options->verify, "Read each file back from storage and compare it before it gets its name");
    verb.flag("--durable", options->durable,
              "Each file is on storage before it gets its name, not all at the end alone");
    add_run_options(verb, *options);
    verb.json(options->tree.json, keys);
    return verb;
}

}  // namespace

void add_copy(CommandLine& line) {
    const auto options = std::make_shared<CopyArguments>();
    auto verb = add_verb(line, options, "copy", "Copy a tree of files with all that it has: links, holes, ACLs, times");
    verb.examples(
        "  forebay copy /scratch/me/case /archive/me/case\n"
        "  forebay copy /scratch/me /archive/me --exclude '*.tmp' --rate 500M --report left.jsonl\n"
        "  forebay copy big other --cannot-keep manifest --manifest kept-beside.jsonl\n"
        "The same command again goes on after a kill, within large files too. What TARGET has and SOURCE has not\n"
        "stays. Exit code 1 where not all of the source is at the target.\n");
    verb.action([options] { return copy(*options, "copy"); });
}

void add_sync(CommandLine& line) {
    const auto options = std::make_shared<CopyArguments>();
    auto verb = add_verb(line, options, "sync", "Make a tree of files equal to another; copies what differs");
    verb.flag("--delete", options->remove, "Remove what TARGET has and SOURCE has not; never after an error");
    verb.flag("--checksum", options->checksum, "Compare bytes of files that look equal");
    verb.flag("--quick", options->quick,
              "Do not compare ACLs and other extended attributes of entries that the source changed before the target");
    verb.examples(
        "  forebay sync /scratch/me/case /archive/me/case --delete --dry-run\n"
        "  forebay sync /scratch/me/case /archive/me/case --delete\n"
        "Files of the same size and time of modification count as equal. Exit code 1 where not all of the source is\n"
        "at the target.\n");
    verb.action([options] { return copy(*options, "sync"); });
}

}  // namespace forebay::cli
