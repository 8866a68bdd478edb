// forebay copy and forebay sync: make one tree the copy of another.

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/format/run_identity.hpp"
#include "core/sys/tree_place.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "transfer/program/as_files.hpp"
#include "transfer/program/check.hpp"
#include "transfer/program/copy_run.hpp"
#include "transfer/program/hosts.hpp"
#include "transfer/program/verbs.hpp"
#include "transfer/runs/living_run.hpp"
#include "transfer/runs/run.hpp"

namespace forebay::cli {

namespace {

// A source that is no run has no snapshots: --delete would silently remove the target's.
Result<> check_no_run_goes(const CopyArguments& options, bool is_ours) {
    if (is_ours || !options.copy.removes_extra || options.as_files) return {};
    FB_TRY_ASSIGN(is_run_there, is_run(options.target));
    if (!is_run_there) return {};
    FB_TRY_ASSIGN(is_run_here, is_run(options.source));
    if (is_run_here) return {};
    return Error{
        ErrorKind::refused,
        fmt::format(
            "{} is a run of Forebay, and {} is not copied as a run: the snapshots of the target would be removed",
            show_text(options.target), show_text(options.source)),
        "nothing was changed", "choose another target. If you want to remove them: --as-files"};
}

// Ignores temporary names of a killed copy.
Result<bool> holds_more(sys::Folder& folder, std::string_view than) {
    bool more = false;
    FB_TRY(folder.list([&](std::span<const sys::NamedEntry> names) -> Result<> {
        for (const auto& entry : names) more = more || (entry.name != than && !entry.name.starts_with(".fb-"));
        return {};
    }));
    return more;
}

// A copy of a run writes the identity first. A target with entries but no identity is no copy of a run.
Result<> check_no_tree_goes(const CopyArguments& options, bool is_ours) {
    if (!is_ours || !options.copy.removes_extra) return {};
    FB_TRY_ASSIGN(is_run_there, is_run(options.target));
    if (is_run_there) return {};
    const auto target = sys::open_tree(options.target);
    if (!target && target.error().kind == ErrorKind::missing) return {};
    if (!target) return target.error();
    FB_TRY_ASSIGN(more, holds_more(**target, format::own_directory));
    const auto own = (*target)->open_folder(format::own_directory);
    FB_TRY_ASSIGN(more_below, own ? holds_more(**own, "") : Result<bool>(own.error().kind != ErrorKind::missing));
    if (!more && !more_below) return {};
    return Error{
        ErrorKind::refused,
        fmt::format(
            "{} is a run of Forebay, and {} is not a run and not empty: the entries of the target would be removed",
            show_text(options.source), show_text(options.target)),
        "nothing was changed",
        "choose another target. To keep them, leave --delete out. If you want to remove them: --as-files"};
}

Result<> check_max_delete(const CopyArguments& options, bool is_ours) {
    const auto given = options.counts.find("max-delete");
    if (given == options.counts.end() || given->second == no_count) return {};
    if (!options.copy.removes_extra) return Error{ErrorKind::refused, "give --max-delete a number of 0 or more"};
    if (is_ours)
        return Error{ErrorKind::refused,
                     fmt::format("{} is a run of Forebay: whole snapshots are removed, but --max-delete counts entries",
                                 show_text(options.source)),
                     "nothing was changed", "leave --max-delete out, and look with --dry-run first"};
    return {};
}

Result<Exit> copy(CopyArguments options, const char* label, tree::Coordinator* lead, Json& answer) {
    if (options.make_container && !options.copy.is_dry) FB_TRY(sys::make_container(options.target));
    FB_TRY(find_trees({&options.source, &options.target}));
    FB_TRY(check_path_list(options.files_from, options.source, options.target));
    FB_TRY(check_tree("SOURCE", options.source, true));
    std::optional<RunCopied> run;
    std::error_code none;
    const bool is_file = std::filesystem::is_regular_file(options.source, none);
    if (!is_file && !sys::is_far(options.source)) FB_TRY(check_target(options.target));
    const bool all = !is_file && !options.as_files && options.files_from.empty() && options.tree.filter().is_empty();
    FB_TRY_ASSIGN(is_ours, all ? is_run(options.source) : Result<bool>(false));
    if (!is_ours && !is_file)
        FB_TRY(
            check_no_session_writes(options.source, options.target, options.copy.removes_extra && !options.as_files));
    FB_TRY(check_max_delete(options, is_ours));
    FB_TRY(check_no_run_goes(options, is_ours));
    FB_TRY(check_no_tree_goes(options, is_ours));
    const auto work = [&](const tree::TreeCopyOptions& given, tree::EntryLog& entry_log, tree::CopyCounts& counts,
                          Progress& progress) -> Result<> {
        auto wished = given;
        wished.lead = lead;
        if (!is_ours) return tree::copy_tree(options.source, options.target, wished, entry_log, counts);
        const auto read_back = [&](std::uint64_t bytes, std::uint64_t of_bytes) { progress.show(bytes, of_bytes); };
        FB_TRY_ASSIGN(snapshots, copy_run({options.source, options.target, wished, read_back}, entry_log, counts));
        run = snapshots;
        return {};
    };
    const auto more = [&](Json& object) {
        if (run) object.set("snapshots", run->snapshots).set("verified_bytes", run->verified_bytes);
        set_team(object, lead);
    };
    FB_TRY_ASSIGN(exit, run_copy(options, label,
                                 is_ours   ? Counted::nothing
                                 : is_file ? Counted::file
                                           : Counted::tree,
                                 work, answer, {.more = more, .say_after = say_copied_as_files}));
    if (run && !options.copy.is_dry && !options.tree.json)
        say("{} of the run {} at the target, read back whole\n", show_count(run->snapshots, "snapshot"),
            run->snapshots == 1 ? "is" : "are");
    return exit;
}

constexpr const char* keys =
    "  An object: source, target, dry_run, entries, folders, copied, linked, adjusted, equal, removed, bytes,\n  "
    "resumed_bytes, laid_out (files with a chosen layout), fewer_stripes (of these, files with fewer stripes\n  than "
    "requested), excluded_targets, seconds, not_removed (why --delete removed nothing, or no\n  more), would_copy, "
    "would_replace and would_remove (of a dry run:\n  entries and bytes of each), snapshots and verified_bytes (of a "
    "run of Forebay: snapshots at\n  the target, and their bytes read back), processes (with\n  --hosts: host, "
    "entries, bytes, gifts_taken, gifts_given, lost of each), remarks (number of each kind), first\n  (the first 1,000 "
    "remarks: kind, path, path_hex if it is not UTF-8, why).\n";

Verb add_verb(CommandLine& line, const std::shared_ptr<CopyArguments>& options, const char* name, unsigned verb_bits,
              const TreeRunner& run) {
    auto verb = tree_verb(line, name);
    verb.argument("SOURCE", options->source, "A directory, s3://BUCKET/PREFIX, daos://POOL/CONTAINER/PATH, or a file");
    verb.argument("TARGET", options->target,
                  "The directory, s3://BUCKET/PREFIX or daos://POOL/CONTAINER/PATH to fill. It is made if missing. For "
                  "a file, the name of its copy");
    add_entry_options(verb, options->tree);
    add_copy_options(verb, *options, verb_bits);
    add_tree_options(verb, options->tree);
    add_report_all(verb, options->tree);
    add_hosts_options(verb, options->tree);
    verb.option("--files-from", options->files_from,
                "Copy only the paths in this file, one a line, relative to SOURCE");
    verb.flag("--null", options->nul, "End each path of the list with a zero byte, not with a line end");
    verb.flag("--as-files", options->as_files,
              "Copy a run of Forebay like any files: also uncommitted data, in any order, without a check");
    verb.flag("--make-container", options->make_container,
              "Make the container of TARGET, daos://POOL/CONTAINER/PATH, if it is missing: EC_16P2GX, checksums");
    verb.answer(options->tree.json, keys, [options, run, name](Json& answer) {
        return run(options->tree, [&](tree::Coordinator* lead) { return copy(*options, name, lead, answer); });
    });
    return verb;
}

}  // namespace

void add_copy(CommandLine& line, const TreeRunner& run) {
    const auto options = std::make_shared<CopyArguments>();
    auto verb = add_verb(line, options, "copy", tree::of_copy, run);
    verb.examples(
        "  forebay copy /scratch/me/case /archive/me/case\n  forebay copy /scratch/me /archive/me --exclude '*.tmp' "
        "--rate 500M --report left.jsonl\n  forebay copy big other --cannot-keep manifest --manifest "
        "kept-beside.jsonl\n  forebay copy case s3://archive/me/case\n  forebay copy /scratch/me/run7 "
        "/archive/me/run7\n  forebay copy big.h5 /archive/me/big.h5\nAfter a kill, repeat the same command: it "
        "continues, even within large files. Entries that SOURCE lacks stay\nin TARGET. Exit code 1 if TARGET does not "
        "have all of SOURCE.\n");
}

void add_sync(CommandLine& line, const TreeRunner& run) {
    const auto options = std::make_shared<CopyArguments>();
    auto verb = add_verb(line, options, "sync", tree::of_sync, run);
    verb.examples(
        "  forebay sync /scratch/me/case /archive/me/case --delete --dry-run\n  forebay sync /scratch/me/case "
        "/archive/me/case --delete\nFiles of the same size and time of modification count as equal. Exit code 1 if "
        "TARGET does not have all of\nSOURCE.\n");
}

}  // namespace forebay::cli
