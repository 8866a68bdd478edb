// forebay compare: prints the differences of two trees of files. The program `forebay` compares snapshots.

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "transfer/compare/checksums.hpp"
#include "transfer/compare/compare.hpp"
#include "transfer/program/check.hpp"
#include "transfer/program/hosts.hpp"
#include "transfer/program/verbs.hpp"
#include "transfer/walk/single_file.hpp"

namespace forebay::cli {

namespace {

struct CompareArguments {
    TreeArguments tree;
    std::string source, target;
    bool no_bytes = false;
};

Result<> check_list_options(const CompareArguments& options, const tree::Coordinator* lead) {
    if (lead != nullptr)
        return Error{ErrorKind::refused, "only one process compares a list of checksums", "",
                     "leave --hosts or mpiexec out"};
    if (options.tree.preserve != "all" && options.tree.preserve != "none")
        return Error{ErrorKind::refused,
                     fmt::format("--preserve {}: a list of checksums has only sizes and bytes, no attributes",
                                 options.tree.preserve),
                     "", "leave --preserve out"};
    return {};
}

Result<> check_file_options(const CompareArguments& options, const tree::Coordinator* lead) {
    if (lead == nullptr && options.tree.filter().is_empty() && !options.tree.one_file_system) return {};
    return Error{ErrorKind::refused,
                 fmt::format("{} is a file: --hosts, patterns and --one-file-system need a directory",
                             show_text(options.target)),
                 "", "leave them out"};
}

Error file_of_directory(const CompareArguments& options) {
    const bool is_archive = options.target.ends_with(".tar");
    return {ErrorKind::refused,
            fmt::format("SOURCE {} is a directory, and TARGET {} a file", show_text(options.source),
                        show_text(options.target)),
            "nothing was changed",
            is_archive
                ? fmt::format("forebay restore-archive --check {} compares its files with its checksums",
                              show_text(options.target))
                : fmt::format("give the directory to compare with. For a list of checksums: forebay compare {} {}",
                              show_text(options.target), show_text(options.source))};
}

tree::WalkOptions what_is_compared(const CompareArguments& options, std::uint32_t threads) {
    return {.threads = threads,
            .filter = options.tree.filter(),
            .look = options.no_bytes ? tree::WalkLook::nothing : tree::WalkLook::file_bytes,
            .counts_each_name = true,
            .one_file_system = options.tree.one_file_system};
}

Result<Exit> compare(CompareArguments options, tree::Coordinator* lead, Json& answer) {
    FB_TRY(find_trees({&options.source, &options.target}));
    const auto threads = options.tree.thread_count({options.source, options.target});
    FB_TRY_ASSIGN(preserve, tree::preserve_from(options.tree.preserve));
    FB_TRY(check_tree("SOURCE", options.source, true));
    FB_TRY(check_tree("TARGET", options.target, true));
    FB_TRY_ASSIGN(target_file, tree::file_at(options.target));
    std::error_code none;
    if (target_file && std::filesystem::is_directory(options.source, none)) return file_of_directory(options);
    const bool is_list = !target_file && std::filesystem::is_regular_file(options.source, none);
    if (is_list) FB_TRY(check_list_options(options, lead));
    if (target_file) FB_TRY(check_file_options(options, lead));
    auto filter = options.tree.filter();
    const SideFile own_report{"--report", options.tree.report};
    FB_TRY(is_list ? check_side_files({own_report, {"the list", options.source}}, {options.target}, &filter)
                   : check_side_files({own_report}, {options.source, options.target}, &filter));
    std::unique_ptr<LinesFile> report;
    FB_TRY_ASSIGN(entry_log, make_entry_log(options.tree, report));
    tree::CompareCounts counts;
    const auto begin = sys::Clock::now();
    const auto compared = [&] {
        Progress progress("compare", options.tree.json);
        std::optional<tree::TreeCount> count;
        if (!is_list && progress.shows()) count.emplace(options.source, what_is_compared(options, threads));
        const auto watch = [&](const tree::CompareCounts& now) {
            TreeFlow flow{.entries = now.entries, .bytes = now.bytes, .passed_bytes = now.bytes};
            if (count) set_all(flow, *count);
            progress.show_flow(flow);
        };
        if (is_list)
            return tree::check_sums(options.source, options.target,
                                    {.threads = threads,
                                     .filter = filter,
                                     .reads_bytes = !options.no_bytes,
                                     .one_file_system = options.tree.one_file_system,
                                     .recalls = options.tree.recall,
                                     .watch = watch},
                                    *entry_log, counts);
        return tree::compare_trees(options.source, options.target,
                                   {.threads = threads,
                                    .filter = filter,
                                    .preserve = preserve,
                                    .reads_bytes = !options.no_bytes,
                                    .recalls = options.tree.recall,
                                    .one_file_system = options.tree.one_file_system,
                                    .watch = watch,
                                    .lead = lead},
                                   *entry_log, counts);
    }();
    const std::chrono::duration<double> lasted = sys::Clock::now() - begin;
    if (report) FB_TRY(report->close());
    if (options.tree.json) {
        answer.set("source", options.source).set("target", options.target);
        answer.set("entries", counts.entries.load()).set("bytes", counts.bytes.load());
        answer.set("seconds", lasted.count());
        set_team(answer, lead);
        set_entry_log(answer, *entry_log);
    }
    FB_TRY(compared);
    if (!options.tree.json) {
        say_entry_log(*entry_log);
        say("{} compared, {} on each side in {}\n", show_count(counts.entries, "entry"), show_bytes(counts.bytes),
            show_seconds(lasted.count()));
    }
    say_unused(options.tree);
    return exit_of(*entry_log, options.tree);
}

}  // namespace

void add_compare(CommandLine& line, const TreeRunner& run) {
    const auto options = std::make_shared<CompareArguments>();
    auto verb = tree_verb(line, "compare");
    verb.argument("SOURCE", options->source,
                  "A directory, s3://BUCKET/PREFIX, daos://POOL/CONTAINER/PATH, a file, a list of checksums (forebay "
                  "walk --checksums), or a snapshot: RUN@STEP");
    verb.argument("TARGET", options->target,
                  "The copy to check: a directory, s3://BUCKET/PREFIX, daos://POOL/CONTAINER/PATH. For a file or a "
                  "snapshot, its copy");
    add_tree_options(verb, options->tree);
    add_hosts_options(verb, options->tree);
    add_filter_options(verb, options->tree);
    verb.option("--preserve", options->tree.preserve,
                "Compare these beside names, kinds, sizes and bytes: all, none, or some of "
                "owner,group,permissions,times,attributes,hard-links");
    add_recall(verb, options->tree);
    verb.flag("--no-bytes", options->no_bytes, "Do not read files. Equal sizes and attributes are enough");
    verb.answer(options->tree.json,
                "  An object: source, target, entries, bytes, seconds, processes (with --hosts: host, entries, "
                "bytes,\n  gifts_taken, gifts_given, lost of each), remarks (number of each kind), first (the first "
                "1,000 remarks:\n  kind, path, path_hex if it is not UTF-8, why).\n  For two snapshots: first and "
                "second (stream, step, directory), equal, bytes, variables: an array of name, kind,\n  equal, first "
                "and second (type, kind and shape; absent if that snapshot lacks the variable), compared,\n  "
                "different, first_alone, second_alone (elements, or rows), without_number (of the different elements: "
                "strings and\n  NaN), largest and at (the largest difference of two numbers, and its place).\n",
                [options, run](Json& answer) {
                    return run(options->tree, [&](tree::Coordinator* lead) { return compare(*options, lead, answer); });
                });
    verb.examples(
        "  forebay compare /scratch/me/case /archive/me/case\n  forebay compare /scratch/me/case /archive/me/case "
        "--preserve none --report differences.jsonl\n  forebay compare case.crc32c /archive/me/case\n  forebay compare "
        "/scratch/me/run7@100 /scratch/me/run8@100\nTwo snapshots are compared by their variables, bit by bit. Their "
        "numbers of ranks and files may differ. Row i of a\ntable is compared with row i.\nExit code 0 only if nothing "
        "differs, everything could be read, and something matches the patterns.\n");
}

}  // namespace forebay::cli
