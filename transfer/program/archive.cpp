// forebay archive: makes one file of a whole tree.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/terminal/other_program.hpp"
#include "transfer/archive/make.hpp"
#include "transfer/program/as_files.hpp"
#include "transfer/program/check.hpp"
#include "transfer/program/copy_run.hpp"
#include "transfer/program/verbs.hpp"

namespace forebay::cli {

namespace {

struct ArchiveArguments : CopyArguments {
    bool force = false;
};

// Such a name would claim a compressed file, to people and to programs.
Result<> check_name(const std::string& path) {
    constexpr std::array compressed{".gz",  ".tgz", ".taz",  ".Z",   ".bz2", ".tbz", ".tbz2", ".xz",
                                    ".txz", ".zst", ".tzst", ".lz4", ".lz",  ".zip", ".7z"};
    const std::filesystem::path name(path);
    if (path == "-" || (std::filesystem::exists(name) && !std::filesystem::is_regular_file(name) &&
                        !std::filesystem::is_directory(name)))
        return Error{
            ErrorKind::refused,
            fmt::format("FILE {} is not a plain file: an archive is written at many places at once", show_text(path)),
            "nothing was changed", "give the name of a file: FILE.tar"};
    if (std::ranges::find(compressed, name.extension().string()) == compressed.end()) return {};
    const auto stem = name.stem().extension() == ".tar" ? name.stem().string() : name.stem().string() + ".tar";
    return Error{
        ErrorKind::refused,
        fmt::format("FILE {} has the name of a compressed file, but archives are not compressed", show_text(path)),
        "nothing was changed",
        fmt::format("write {}, then compress it with zstd or gzip", show_text((name.parent_path() / stem).string()))};
}

Result<Exit> archive(const ArchiveArguments& options, Json& answer) {
    FB_TRY(check_alone());
    FB_TRY(check_for_archive({options.source, options.target}));
    FB_TRY(check_tree("SOURCE", options.source, false));
    FB_TRY(check_name(options.target));
    return run_copy(
        options, "archive", Counted::tree,
        [&](const tree::TreeCopyOptions& wished, tree::EntryLog& entry_log, tree::CopyCounts& counts, Progress&) {
            return archive::make_archive(options.source, options.target, options.force, wished, entry_log, counts);
        },
        answer,
        {.when_ended = {"FILE is unchanged, or whole", "repeat the same command"},
         .say_after = say_archived_as_files,
         .is_one_file = true});
}

}  // namespace

void add_archive(CommandLine& line) {
    const auto options = std::make_shared<ArchiveArguments>();
    auto verb = line.verb("archive", "Pack a tree of files into one tar file, with all attributes");
    verb.argument("SOURCE", options->source, "A directory");
    verb.argument("FILE", options->target, "The new archive: FILE.tar");
    verb.flag("--force", options->force, "Replace FILE if it exists");
    add_tree_options(verb, options->tree);
    add_entry_options(verb, options->tree);
    add_copy_options(verb, *options, tree::of_archive);
    verb.answer(options->tree.json,
                "  An object: source, target, dry_run, entries, folders, copied, linked, bytes, seconds, would_copy "
                "(of a dry\n  run: entries and bytes), remarks (number of each kind), first (the first 1,000 remarks: "
                "kind, path,\n  path_hex if it is not UTF-8, why).\n",
                [options](Json& answer) { return archive(*options, answer); });
    verb.examples(
        "  forebay archive /scratch/me/case /archive/me/case.tar --verify\n  tar -xpf /archive/me/case.tar --xattrs "
        "--xattrs-include='*' --acls -C elsewhere\nFILE gets its name when it is whole. Exit code 1 if some of the "
        "source is not in it.\n");
}

}  // namespace forebay::cli
