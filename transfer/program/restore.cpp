// forebay restore-archive: makes a tree of an archive, or checks or lists the archive.

#include <memory>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/terminal/other_program.hpp"
#include "core/terminal/say.hpp"
#include "transfer/archive/restore.hpp"
#include "transfer/program/check.hpp"
#include "transfer/program/copy_run.hpp"
#include "transfer/program/verbs.hpp"
#include "transfer/runs/living_run.hpp"

namespace forebay::cli {

namespace {

struct RestoreArguments : CopyArguments {
    std::vector<std::string> targets;
    std::string list;
    bool check = false;
};

Result<> check_call(const RestoreArguments& options) {
    const bool restores = !options.check && !options.copy.is_dry;
    if (options.check && options.copy.is_dry)
        return Error{ErrorKind::refused,
                     "--check reads the whole archive, and --dry-run only its headers: choose one option"};
    if (restores && options.targets.size() != 1)
        return Error{ErrorKind::refused, "a directory to restore to is needed: restore-archive FILE TARGET"};
    if (!options.targets.empty() && options.targets.front().empty())
        return Error{ErrorKind::refused, "TARGET is empty: is a shell variable not set?"};
    if (!restores && options.targets.size() > 1)
        return Error{ErrorKind::refused, "give only one directory to restore to"};
    return {};
}

struct ArchiveCheck {
    archive::CheckedSums sums;
    std::uint64_t entries = 0, errors = 0;
    bool has_patterns = false;
};

void set_check(Json& object, const archive::CheckedSums& sums) {
    object.set("compared_files", sums.files).set("compared_bytes", sums.bytes);
    object.set("uncompared_files", sums.files_without).set("uncompared_bytes", sums.bytes_without);
}

void say_check(const ArchiveCheck& check) {
    const auto& sums = check.sums;
    const bool has_all = sums.files_without == 0;
    say("{}: {}, up to its end{}\n",
        check.errors > 0 ? "not whole"
        : has_all        ? "whole"
                         : "its structure is whole",
        show_count(check.entries, "entry"), check.has_patterns ? "; of these, files that match the patterns:" : "");
    if (sums.files > 0 || has_all)
        say("{}, {}, {} compared with the checksums in the archive", show_count(sums.files, "file"),
            show_bytes(sums.bytes), sums.files == 1 ? "was" : "were");
    if (!has_all)
        say("{}, {}, without a checksum, as in tar archives, could not be checked\n",
            show_count(sums.files_without, "file"), show_bytes(sums.bytes_without));
}

void say_absolute(std::uint64_t names) {
    if (names == 0) return;
    say("{} {} with a slash. Without it, {} below TARGET, as with tar\n", show_count(names, "name"),
        names == 1 ? "begins" : "begin", names == 1 ? "it lies" : "they lie");
}

Result<Exit> restore(RestoreArguments& options, Json& answer) {
    FB_TRY(check_alone());
    FB_TRY(check_call(options));
    if (!options.targets.empty()) options.target = options.targets.front();
    FB_TRY(check_for_archive({options.source, options.target}));
    FB_TRY(check_target(options.target));
    if (!options.target.empty()) FB_TRY(check_no_session_writes("", options.target));
    std::unique_ptr<LinesFile> list;
    archive::MemberTaker take;
    auto filter = options.tree.filter();
    FB_TRY(check_side_files(
        {{"--list", options.list}, {"--report", options.tree.report}, {"--manifest", options.manifest}},
        {options.source, options.target}, &filter));
    if (!options.list.empty()) {
        FB_TRY_ASSIGN(file, LinesFile::make(options.list, list_lines));
        list = std::move(file);
        take = [&](const archive::Member& member) {
            auto object = json_of(member.path, member.status);
            if (!member.same_as.empty()) object.set("kind", "hard_link").set("same_as", member.same_as);
            if (!member.link_text.empty()) object.set("link_text", member.link_text);
            return list->add(object);
        };
    }
    ArchiveCheck check;
    std::uint64_t absolute_names = 0;
    const auto work = [&](const tree::TreeCopyOptions& wished, tree::EntryLog& entry_log, tree::CopyCounts& counts,
                          Progress&) -> Result<> {
        const auto done = [&]() -> Result<> {
            if (!options.check)
                return archive::restore_archive(options.source, options.target, wished, take, entry_log, counts);
            FB_TRY_ASSIGN(sums, archive::check_archive(options.source, wished, take, entry_log, counts));
            check = {sums, counts.entries, entry_log.errors(), !filter.is_empty()};
            return {};
        }();
        absolute_names = counts.absolute_names;
        return done;
    };
    CopyTelling telling{
        .more =
            [&](Json& object) {
                object.set("absolute_names", absolute_names);
                if (options.check) set_check(object, check.sums);
            },
        .when_ended = {"every file with its final name in TARGET is whole", "the same command restores everything"},
        .say_after = [&](const CopyArguments&, const tree::EntryLog&) { say_absolute(absolute_names); }};
    if (options.check) {
        telling.say = [&] { say_check(check); };
        telling.when_ended = nothing_changed;
    }
    FB_TRY_ASSIGN(exit,
                  run_copy(options, options.check ? "check" : "restore-archive", Counted::file, work, answer, telling));
    if (list) FB_TRY(list->close());
    return exit;
}

}  // namespace

void add_restore_archive(CommandLine& line) {
    const auto options = std::make_shared<RestoreArguments>();
    auto verb = line.verb("restore-archive", "Restore, check or list an archive made by forebay, tar or bsdtar");
    verb.argument("FILE", options->source, "The archive, uncompressed");
    verb.arguments("TARGET", options->targets, "The directory to fill. It is made if missing");
    verb.flag("--check", options->check,
              "Restore nothing. Read the archive, compare bytes with its checksums, and report if it is whole");
    verb.option("--list", options->list,
                "Write a line of JSON to this file for each entry, also with --dry-run or --check");
    add_tree_options(verb, options->tree);
    add_report_all(verb, options->tree);
    add_entry_options(verb, options->tree);
    add_copy_options(verb, *options, tree::of_restore);
    verb.answer(options->tree.json,
                "  An object: source, target, dry_run, entries, folders, copied, linked, bytes, seconds, "
                "absolute_names (that\n  begin with a slash), would_copy (of a dry run: entries and bytes), "
                "compared_files and compared_bytes (of\n  --check: with a checksum in the archive), uncompared_files "
                "and uncompared_bytes (without a checksum),\n  remarks (number of each kind), first (the first 1,000 "
                "remarks: kind, path, path_hex if it is not UTF-8, why).\n",
                [options](Json& answer) { return restore(*options, answer); });
    verb.examples(
        "  forebay restore-archive /archive/me/case.tar /scratch/me/case\n  forebay restore-archive --check "
        "/archive/me/case.tar\n  forebay restore-archive --dry-run --list entries.jsonl /archive/me/case.tar\nA file "
        "with its final name is whole. Exit code 1 if an entry could not be restored, 4 if the archive is\ndamaged and "
        "the rest cannot be found.\n");
}

}  // namespace forebay::cli
