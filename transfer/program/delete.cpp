// forebay delete: removes a tree of files.

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/base/path.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/process.hpp"
#include "core/sys/target_store.hpp"
#include "core/sys/tree_place.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "transfer/program/check.hpp"
#include "transfer/program/hosts.hpp"
#include "transfer/program/verbs.hpp"
#include "transfer/remove/remove.hpp"
#include "transfer/runs/living_run.hpp"
#include "transfer/runs/run.hpp"

namespace forebay::cli {

namespace {

struct DeleteArguments {
    TreeArguments tree;
    std::string place;
    bool dry_run = false;
};

Result<Exit> remove(DeleteArguments options, tree::Coordinator* lead, Json& answer) {
    FB_TRY(find_trees({&options.place}));
    FB_TRY(check_present(options.place));
    if (!options.dry_run) FB_TRY(check_no_session_writes("", options.place));
    FB_TRY(check_side_files({{"--report", options.tree.report}}, {options.place}, nullptr));
    const auto threads = options.tree.thread_count({options.place});
    std::unique_ptr<LinesFile> report;
    FB_TRY_ASSIGN(entry_log, make_entry_log(options.tree, report));
    std::atomic<std::uint64_t> removed{0};
    tree::Amount would_remove;
    const auto words =
        options.dry_run ? nothing_changed : WordsAtEnd{"the rest is unchanged", "the same command continues"};
    sys::say_when_ended(words.safe, words.next);
    if (!options.dry_run) FB_TRY(keep_lines(options.place));
    const auto done = [&] {
        Progress progress("delete", options.tree.json);
        std::optional<tree::TreeCount> count;
        if (progress.shows() && !options.dry_run)
            count.emplace(options.place, tree::WalkOptions{.threads = threads, .look = tree::WalkLook::nothing},
                          &removed);
        const auto watch = [&](std::uint64_t entries) {
            TreeFlow flow{.entries = entries};
            if (count) set_all(flow, *count);
            progress.show_flow(flow);
        };
        return tree::remove_tree(options.place,
                                 {.threads = threads,
                                  .is_dry = options.dry_run,
                                  .would_remove = &would_remove,
                                  .watch = watch,
                                  .lead = lead},
                                 *entry_log, removed);
    }();
    const auto reported = report ? report->close() : Result<>();
    if (options.tree.json) {
        answer.set("directory", options.place).set("dry_run", options.dry_run).set("removed", removed.load());
        if (options.dry_run) answer.set("would_remove", json_of(would_remove));
        set_team(answer, lead);
        set_entry_log(answer, *entry_log);
    }
    FB_TRY(reported);
    FB_TRY(done);
    if (!options.tree.json) {
        say_entry_log(*entry_log);
        if (options.dry_run) say("entries that would be removed: {}\n", words_of(would_remove));
        else say("{} removed\n", show_count(removed, "entry"));
    }
    return exit_of(*entry_log);
}

}  // namespace

void add_delete(CommandLine& line, const TreeRunner& run) {
    const auto options = std::make_shared<DeleteArguments>();
    auto verb = tree_verb(line, "delete");
    verb.argument("DIRECTORY", options->place,
                  "The directory, with all entries except mounted file systems. Or s3://BUCKET/PREFIX, or "
                  "daos://POOL/CONTAINER/PATH");
    add_tree_options(verb, options->tree);
    add_hosts_options(verb, options->tree);
    verb.flag("--dry-run", options->dry_run, "Change nothing. Print what would be removed");
    verb.answer(options->tree.json,
                "  An object: directory, dry_run, removed, would_remove (entries and bytes, of a dry run), processes "
                "(with\n  --hosts: host, entries, bytes, gifts_taken, gifts_given, lost of each), remarks (number of "
                "each kind),\n  first (the first 1,000 remarks: kind, path, path_hex if it is not UTF-8, why).\n",
                [options, run](Json& answer) {
                    return run(options->tree, [&](tree::Coordinator* lead) { return remove(*options, lead, answer); });
                });
    verb.examples(
        "  forebay delete /scratch/me/old --dry-run --report all.jsonl\n  forebay delete /scratch/me/old\nSymbolic "
        "links are not followed. A run, a stream or a snapshot stays while a session writes the run. Exit code 1 "
        "if\nsomething stays.\n");
}

}  // namespace forebay::cli
