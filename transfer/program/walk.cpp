// forebay walk: counts and lists the entries of a tree of files.

#include <chrono>
#include <memory>
#include <optional>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "transfer/compare/checksums.hpp"
#include "transfer/program/check.hpp"
#include "transfer/program/hosts.hpp"
#include "transfer/program/verbs.hpp"
#include "transfer/walk/walk.hpp"

namespace forebay::cli {

namespace {

using sys::EntryKind;

struct WalkArguments {
    TreeArguments tree;
    std::string place, list, checksums;
    bool special = false;
};

std::uint64_t count_of(const tree::WalkCounts& counts, EntryKind kind) {
    return counts.of_kind[static_cast<std::size_t>(kind)];
}

bool is_special(const tree::WalkedEntry& entry) {
    const auto& status = entry.status;
    if (status.is_immutable || status.is_append_only) return true;
    return status.kind != EntryKind::folder && (entry.is_released || status.names > 1 ||
                                                (status.kind != EntryKind::file && status.kind != EntryKind::link));
}

Json json_of_listed(const tree::WalkedEntry& entry) {
    auto object = json_of(entry.path, entry.status);
    if (entry.is_released) object.set("released", true);
    if (entry.status.is_immutable) object.set("immutable", true);
    if (entry.status.is_append_only) object.set("append_only", true);
    return object;
}

std::uint64_t entries_of(const tree::WalkCounts& counts) {
    std::uint64_t entries = 0;
    for (const auto& of_kind : counts.of_kind) entries += of_kind;
    return entries;
}

void say_counts(const tree::WalkCounts& counts) {
    constexpr std::array kinds{EntryKind::file,   EntryKind::folder,           EntryKind::link,        EntryKind::fifo,
                               EntryKind::socket, EntryKind::character_device, EntryKind::block_device};
    say("{}, {}, {} of them on storage\n", show_count(entries_of(counts), "entry"), show_bytes(counts.bytes),
        show_bytes(counts.allocated_bytes));
    for (const auto kind : kinds)
        if (count_of(counts, kind) > 0) say("{:>12}  {}\n", count_of(counts, kind), word_of(kind));
    say("{:>12}  hard links to files that were counted already\n", counts.further_names.load());
    say("{:>12}  files with holes\n", counts.with_holes.load());
    if (counts.released > 0) say("{:>12}  files with bytes only in an archive (HSM)\n", counts.released.load());
    say("largest file {}, {} deep\n", show_bytes(counts.largest_bytes), show_count(counts.deepest, "folder"));
}

void set_counts(Json& object, const WalkArguments& options, const tree::WalkCounts& counts) {
    object.set("directory", options.place).set("entries", entries_of(counts));
    for (std::size_t kind = 1; kind < counts.of_kind.size(); ++kind)
        object.set(word_of(static_cast<EntryKind>(kind)), counts.of_kind[kind].load());
    object.set("bytes", counts.bytes.load()).set("allocated_bytes", counts.allocated_bytes.load());
    object.set("further_names", counts.further_names.load()).set("with_holes", counts.with_holes.load());
    object.set("released_files", counts.released.load());
    object.set("largest_bytes", counts.largest_bytes.load()).set("deepest", counts.deepest.load());
}

Result<Exit> walk(WalkArguments options, tree::Coordinator* lead, Json& answer) {
    FB_TRY(find_trees({&options.place}));
    FB_TRY(check_tree("DIRECTORY", options.place, false));
    auto filter = options.tree.filter();
    FB_TRY(check_side_files(
        {{"--report", options.tree.report}, {"--list", options.list}, {"--checksums", options.checksums}},
        {options.place}, &filter));
    const auto threads = options.tree.thread_count({options.place});
    std::unique_ptr<LinesFile> report, list, checksums;
    FB_TRY_ASSIGN(entry_log, make_entry_log(options.tree, report));
    tree::WalkOptions wished{.threads = threads,
                             .filter = filter,
                             .one_file_system = options.tree.one_file_system,
                             .recalls = options.tree.recall,
                             .lead = lead};
    if (!options.list.empty()) {
        FB_TRY_ASSIGN(file, LinesFile::make(options.list, list_lines));
        list = std::move(file);
        wished.take = [&](std::span<const tree::WalkedEntry> entries) -> Result<> {
            for (const auto& entry : entries) {
                if (options.special && !is_special(entry)) continue;
                FB_TRY(list->add(json_of_listed(entry)));
            }
            return {};
        };
    }
    if (!options.checksums.empty()) {
        FB_TRY_ASSIGN(file, LinesFile::make(options.checksums, sum_lines));
        checksums = std::move(file);
        FB_TRY(checksums->add_text(tree::checksums_title));
        wished.take_sum = [&](const tree::FileSum& sum) { return checksums->add_text(tree::line_of(sum)); };
    }
    tree::WalkCounts counts;
    const auto walked = [&] {
        Progress progress("walk", options.tree.json);
        std::optional<tree::TreeCount> count;  // a walk that reads no file is itself a count
        if (wished.take_sum && progress.shows())
            count.emplace(options.place, tree::WalkOptions{.threads = threads,
                                                           .filter = wished.filter,
                                                           .look = tree::WalkLook::file_bytes,
                                                           .counts_each_name = true,
                                                           .one_file_system = wished.one_file_system});
        wished.watch = [&](const tree::WalkCounts& now) {
            TreeFlow flow{.entries = entries_of(now), .bytes = wished.take_sum ? now.summed_bytes : now.bytes};
            flow.passed_bytes = flow.bytes;
            if (count) set_all(flow, *count);
            progress.show_flow(flow);
        };
        return tree::walk_tree(options.place, wished, *entry_log, counts);
    }();
    if (report) FB_TRY(report->close());
    FB_TRY(walked);
    if (list) FB_TRY(list->close());
    if (checksums) FB_TRY(checksums->close());
    if (options.tree.json) {
        set_counts(answer, options, counts);
        set_team(answer, lead);
        set_entry_log(answer, *entry_log);
    }
    FB_TRY(walked);
    if (!options.tree.json) {
        say_entry_log(*entry_log);
        say_counts(counts);
    }
    if (lead == nullptr) say_unused(options.tree);
    return exit_of(*entry_log);
}

}  // namespace

void add_walk(CommandLine& line, const TreeRunner& run) {
    const auto options = std::make_shared<WalkArguments>();
    auto verb = tree_verb(line, "walk");
    verb.argument("DIRECTORY", options->place, "The tree. Or s3://BUCKET/PREFIX, or daos://POOL/CONTAINER/PATH");
    add_tree_options(verb, options->tree);
    add_hosts_options(verb, options->tree);
    add_filter_options(verb, options->tree);
    verb.option("--list", options->list, "Write a line of JSON to this file for each entry");
    verb.option("--checksums", options->checksums,
                "Write the CRC32C of each file to this file, for forebay compare FILE DIRECTORY");
    verb.flag("--special", options->special,
              "List only entries that other tools lose or recall: hard links, fifos, sockets, devices, files only in "
              "an archive (HSM), immutable and append-only files (chattr)");
    add_recall(verb, options->tree);
    verb.answer(options->tree.json,
                "  An object: directory, entries, file, folder, link, fifo, socket, character_device, block_device, "
                "bytes\n  (of each inode once), allocated_bytes, further_names, with_holes, released_files (with bytes "
                "only in an\n  archive), largest_bytes, deepest, processes (with --hosts: host, entries, bytes, "
                "gifts_taken,\n  gifts_given, lost of each), remarks (number of each kind), first (the first 1,000 "
                "remarks: kind, path,\n  path_hex if it is not UTF-8, why).\n",
                [options, run](Json& answer) {
                    return run(options->tree, [&](tree::Coordinator* lead) { return walk(*options, lead, answer); });
                });
    verb.examples(
        "  forebay walk /scratch/me\n  forebay walk /projects/old --special --list special.jsonl\n  forebay walk "
        "/archive/me/case --checksums case.crc32c\nExit code 1 if something could not be read.\n");
}

}  // namespace forebay::cli
