#include "transfer/program/copy_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/describe/storage_targets.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/plain_file.hpp"
#include "core/sys/process.hpp"
#include "core/sys/store.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "transfer/program/check.hpp"

namespace forebay::cli {

namespace {

// In shared memory of this machine, until the next reboot.
Result<sys::Mapping> shared_turn(const CopyArguments& options) {
    if (options.rate_group.empty()) return sys::Mapping();
    if (options.copy.rate_bytes_per_second == 0 || options.rate_group.find('/') != options.rate_group.npos)
        return Error{ErrorKind::refused, "--rate-group needs a name without a slash, and a --rate to share"};
    return sys::Mapping::create(fmt::format("/dev/shm/forebay-rate-{}-{}", sys::user_id(), options.rate_group),
                                sizeof(move::Turn));
}

tree::WalkOptions what_is_copied(const tree::TreeCopyOptions& wished) {
    return {.threads = wished.threads,
            .filter = wished.filter,
            .wished = wished.wished.get(),
            .look = tree::WalkLook::file_bytes,
            .counts_each_name = !wished.preserve.hard_links,
            .one_file_system = wished.one_file_system};
}

// 0 if it is missing; its reader reports that.
std::uint64_t bytes_of_file(const std::string& path) {
    std::error_code none;
    const auto bytes = std::filesystem::file_size(path, none);
    return none ? 0 : bytes;
}

void set_counts(Json& object, const CopyArguments& options, const tree::RequestedLayout& layout,
                const tree::CopyCounts& counts, double seconds) {
    object.set("source", options.source).set("target", options.target).set("dry_run", options.copy.is_dry);
    object.set("entries", counts.entries.load()).set("folders", counts.folders.load());
    object.set("copied", counts.copied.load()).set("linked", counts.linked.load());
    object.set("adjusted", counts.adjusted.load()).set("equal", counts.equal.load());
    object.set("removed", counts.removed.load()).set("bytes", counts.bytes.load());
    object.set("resumed_bytes", counts.resumed_bytes.load()).set("seconds", seconds);
    auto excluded = Json::array();
    for (const auto target : layout.excluded_targets) excluded.push(describe::storage_target_name(target));
    object.set("laid_out", counts.laid_out.load()).set("fewer_stripes", counts.fewer_stripes.load());
    object.set("excluded_targets", excluded);
    if (!counts.not_removed.empty()) object.set("not_removed", counts.not_removed);
    if (options.copy.is_dry)
        object.set("would_copy", json_of(counts.would_copy))
            .set("would_replace", json_of(counts.would_replace))
            .set("would_remove", json_of(counts.would_remove));
}

const char* owners_text(tree::CannotKeep cannot_keep) {
    switch (cannot_keep) {
        case tree::CannotKeep::refuse:
            return "--cannot-keep drop gives them to your user. --manifest FILE records the owners too. --preserve "
                   "permissions,times,attributes,hard-links leaves owners out";
        case tree::CannotKeep::drop: return "your user owns them at the target";
        case tree::CannotKeep::manifest: return "your user owns them at the target, and the manifest has their owners";
    }
    return "";
}

void say_refused(const tree::EntryLog& entry_log) {
    if (entry_log.count_of(tree::EntryEvent::not_kept) > entry_log.owners())
        say("entries reported as not_kept are not at the target. --manifest FILE copies them as far as possible, and "
            "records the rest\n");
}

// Lines of a list written on Windows end with a carriage return. A name may end with it, too.
void say_line_ends(const CopyArguments& options, const tree::EntryLog& entry_log) {
    const auto ends = [](const tree::LogEntry& log_entry) {
        return log_entry.kind == tree::EntryEvent::vanished && log_entry.path.ends_with('\r');
    };
    if (options.files_from.empty() || options.nul || std::ranges::none_of(entry_log.first(), ends)) return;
    note(
        lines("paths of {} end with a carriage return, as on Windows, and do not exist in this form. Remove it with tr "
              "-d '\\r' < {} > LIST\n",
              options.files_from, options.files_from));
}

// `find SOURCE` prints such paths.
void say_begin_with_source(const CopyArguments& options, const tree::EntryLog& entry_log) {
    const auto leaf = std::filesystem::path(options.source).lexically_normal().filename().string();
    const auto begins = [&](const tree::LogEntry& log_entry) {
        return log_entry.kind == tree::EntryEvent::vanished &&
               (log_entry.path == leaf || log_entry.path.starts_with(leaf + "/"));
    };
    if (options.files_from.empty() || std::ranges::none_of(entry_log.first(), begins)) return;
    note(
        lines("paths of {} begin with {}, and SOURCE has no such entry. Give paths relative to SOURCE, as "
              "(cd SOURCE && find .) prints them\n",
              options.files_from, show_text(leaf)));
}

// If the error has no advice, the target is full: a thread had no room to write.
Error with_target(const Error& error, const std::string& target) {
    if (error.kind != ErrorKind::full || !error.next.empty()) return error;
    std::error_code none;
    const auto absolute = std::filesystem::absolute(target, none).lexically_normal();
    const auto place = std::filesystem::exists(absolute, none) ? absolute.string() : absolute.parent_path().string();
    const auto file_system = sys::file_system_of(place);
    auto room = sys::mount_of(place);
    if (file_system) {
        room += fmt::format("{}{} left for your user", room.empty() ? "" : ", ", show_bytes(file_system->free_bytes));
        if (file_system->files > 0) room += fmt::format(", and {}", show_count(file_system->files_free, "inode"));
    }
    return {error.kind, fmt::format("TARGET {} is full ({}): {}", show_text(target), show_text(room), error.what),
            error.safe,
            fmt::format("free some room (df {0}; df -i {0}; quota), and run the same command again", show_text(place))};
}

void say_dry(const tree::CopyCounts& counts, const tree::EntryLog& entry_log) {
    say("{}: {} would be copied, {} replaced, {} adjusted, {} removed; {} equal\n", show_count(counts.entries, "entry"),
        words_of(counts.would_copy), words_of(counts.would_replace), entry_log.count_of(tree::EntryEvent::would_adjust),
        words_of(counts.would_remove), counts.equal.load());
}

void say_counts(const tree::RequestedLayout& layout, const tree::CopyCounts& counts, double seconds) {
    say("{}: {} copied, {} linked, {} adjusted, {} equal, {} removed; {} in {}\n", show_count(counts.entries, "entry"),
        counts.copied.load(), counts.linked.load(), counts.adjusted.load(), counts.equal.load(), counts.removed.load(),
        show_bytes(counts.bytes), show_seconds(seconds));
    if (counts.resumed_bytes > 0) say("{} were left from an earlier run\n", show_bytes(counts.resumed_bytes));
    if (counts.laid_out > 0) say("new files with a chosen layout: {}\n", counts.laid_out.load());
    if (counts.fewer_stripes > 0)
        say("of these, files with fewer stripes than requested, as the file system gave no more: {}\n",
            counts.fewer_stripes.load());
    if (layout.excluded_targets.empty()) return;
    std::vector<std::string> names;
    for (const auto target : layout.excluded_targets) names.push_back(describe::storage_target_name(target));
    say("new files do not use {}\n", fmt::join(names, ", "));
}

}  // namespace

Result<Exit> run_copy(const CopyArguments& options, const char* label, Counted counted, const CopyWork& work,
                      Json& answer, const CopyTelling& telling) {
    FB_TRY_ASSIGN(wished, copy_options(options));
    FB_TRY(check_side_files({{"--report", options.tree.report},
                             {"--manifest", options.manifest},
                             {"--files-from", options.files_from, true}},
                            {options.source, options.target}, &wished.filter));
    FB_TRY_ASSIGN(turn, shared_turn(options));
    if (turn.mapped()) wished.shared_turn = reinterpret_cast<move::Turn*>(turn.bytes().data());
    std::unique_ptr<LinesFile> report, manifest;
    FB_TRY_ASSIGN(entry_log, make_entry_log(options.tree, report));
    if (wished.cannot_keep == tree::CannotKeep::manifest) {
        FB_TRY_ASSIGN(file, LinesFile::make(options.manifest, manifest_lines));
        manifest = std::move(file);
        wished.manifest = [&](const tree::Unkept& unkept) { return manifest->add(json_of(unkept)); };
    }
    tree::CopyCounts counts;
    const auto words = options.copy.is_dry ? nothing_changed : telling.when_ended;
    sys::say_when_ended(words.safe, words.next);
    const auto begin = sys::Clock::now();
    const auto copied = [&] {
        Progress progress(label, options.tree.json);
        if (!progress.shows()) return work(wished, *entry_log, counts, progress);
        TreeFlow flow;
        std::optional<tree::TreeCount> count;
        if (counted == Counted::tree && !options.copy.is_dry) count.emplace(options.source, what_is_copied(wished));
        if (counted == Counted::file && !options.copy.is_dry) flow.all_bytes = bytes_of_file(options.source);
        wished.watch = [&](const tree::CopyCounts& now) {
            flow.entries = now.entries;
            flow.bytes = now.bytes;
            flow.passed_bytes = now.passed_bytes;
            if (count) set_all(flow, *count);
            progress.show_flow(flow);
        };
        return work(wished, *entry_log, counts, progress);
    }();
    const std::chrono::duration<double> lasted = sys::Clock::now() - begin;
    const auto reported = report && (copied || report->has_lines()) ? report->close() : Result<>();
    const bool is_noted = manifest && (copied || (manifest->has_lines() && bytes_of_file(options.manifest) == 0));
    const auto noted = is_noted ? manifest->close() : Result<>();
    if (options.tree.json) {
        set_counts(answer, options, wished.layout, counts, lasted.count());
        if (telling.more) telling.more(answer);
        set_entry_log(answer, *entry_log);
    } else if (copied || entry_log->has_errors()) {
        say_entry_log(*entry_log, owners_text(wished.cannot_keep));
        if (wished.cannot_keep == tree::CannotKeep::refuse && label != std::string_view("archive"))
            say_refused(*entry_log);
        if (telling.say && copied) telling.say();
        else if (options.copy.is_dry) say_dry(counts, *entry_log);
        else if (copied || !telling.is_one_file) say_counts(wished.layout, counts, lasted.count());
        if (telling.say_after) telling.say_after(options, *entry_log);
        if (!counts.not_removed.empty())
            say("{}: {}\n",
                options.copy.is_dry  ? "nothing would be removed"
                : counts.removed > 0 ? "nothing more was removed"
                                     : "nothing was removed",
                counts.not_removed);
    }
    FB_TRY(reported);
    FB_TRY(noted);
    if (!copied) return with_target(copied.error(), options.target);
    say_line_ends(options, *entry_log);
    say_begin_with_source(options, *entry_log);
    say_unused(options.tree);
    if (wished.wished && wished.wished->is_empty())
        note(lines("--files-from {} contains no path\n", options.files_from));
    FB_TRY_ASSIGN(exit, exit_of(*entry_log, options.tree));
    return counts.not_removed.empty() ? exit : Exit::found;
}

}  // namespace forebay::cli
