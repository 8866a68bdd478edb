#include "transfer/program/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/process.hpp"
#include "core/sys/tree_place.hpp"
#include "core/terminal/say.hpp"

namespace forebay::cli {

namespace {

// More threads than cores help if calls wait for a server. Without --threads there are only a few.
constexpr int default_threads_max = 16;
constexpr std::uint64_t threads_max = 1024;
constexpr std::uint64_t timeout_max = 86'400;

}  // namespace

std::uint32_t TreeArguments::thread_count(std::initializer_list<std::string_view> places) const {
    if (threads > 0) return static_cast<std::uint32_t>(threads);
    const bool waits = std::ranges::any_of(places, sys::is_far);
    return static_cast<std::uint32_t>(waits ? default_threads_max
                                            : std::clamp(sys::cpus_allowed(), 1, default_threads_max));
}

void add_tree_options(Verb& verb, TreeArguments& arguments) {
    verb.option("--threads", arguments.threads,
                "Use so many threads. 0: one a core, at most 16, and 16 with S3 and libdfs", {.most = threads_max});
    verb.option("--report", arguments.report, "Write a line of JSON to this file for each entry with an event");
}

void add_report_all(Verb& verb, TreeArguments& arguments) {
    verb.flag("--report-all", arguments.report_all,
              "Also report entries that are new at the target, not only removed or replaced entries");
}

void add_hosts_options(Verb& verb, TreeArguments& arguments) {
    verb.option("--hosts", arguments.hosts,
                "Share the work with these hosts: nid00[01-64], @FILE, or slurm (the hosts of the job). localhost "
                "needs no ssh. All hosts must see the same trees");
    verb.option("--ssh", arguments.ssh, "Start programs on hosts with this command");
    verb.option("--patience", arguments.timeout, "Give up a host or rank after so many seconds of silence",
                {.least = 1, .most = timeout_max});
}

void add_entry_options(Verb& verb, TreeArguments& arguments) {
    verb.option(
        "--include", arguments.include,
        "Take only entries whose name matches, as in '*.h5'. A pattern with a slash matches the path. Repeatable");
    verb.option("--exclude", arguments.exclude,
                "Skip entries whose name or path matches, with all they contain. Repeatable");
}

void add_filter_options(Verb& verb, TreeArguments& arguments) {
    add_entry_options(verb, arguments);
    verb.flag("--one-file-system", arguments.one_file_system, "Do not enter other file systems mounted in the tree");
}

void add_recall(Verb& verb, TreeArguments& arguments) {
    verb.flag("--recall", arguments.recall,
              "Also read files whose bytes are only in an archive (HSM of Lustre). This recalls them");
}

Result<> check_for_archive(std::initializer_list<std::string_view> places) {
    for (const auto place : places) {
        FB_TRY(sys::check_address(place));
        if (sys::is_far(place))
            return Error{
                ErrorKind::refused,
                fmt::format("{} is not a directory: an archive is made from a directory, and restored to a directory",
                            show_text(place)),
                "nothing was made", "use forebay copy between it and a directory"};
    }
    return {};
}

Result<> find_trees(std::initializer_list<std::string*> places) {
    for (auto* place : places) {
        FB_TRY(sys::check_address(*place));
        while (sys::is_far(*place) && place->ends_with('/') && !place->ends_with("://")) place->pop_back();
        FB_TRY_ASSIGN(tree, sys::find_tree(*place));
        *place = tree.place;
        if (!tree.note.empty()) note(lines("{}\n", tree.note));
    }
    return {};
}

tree::EntryFilter TreeArguments::filter() const {
    tree::EntryFilter filter{.include = include, .exclude = exclude, .use = use};
    if (!use) filter.count_uses();
    use = filter.use;
    return filter;
}

bool TreeArguments::includes_nothing() const {
    return !include.empty() &&
           std::ranges::none_of(std::span(*use).first(include.size()), [](const auto& uses) { return uses != 0; });
}

Result<Exit> exit_of(const tree::EntryLog& entry_log, const TreeArguments& arguments) {
    FB_TRY_ASSIGN(exit, exit_of(entry_log));
    return exit == Exit::good && arguments.includes_nothing() ? Exit::found : exit;
}

void say_unused(const TreeArguments& arguments) {
    std::size_t at = 0;
    for (const auto& [option, patterns] :
         {std::pair{"--include", &arguments.include}, {"--exclude", &arguments.exclude}})
        for (const auto& pattern : *patterns) {
            if ((*arguments.use)[at++] != 0) continue;
            const bool is_include = patterns == &arguments.include;
            note(lines(
                "no entry matches {} '{}'{}{}\n", option, pattern,
                is_include && pattern.find_first_of("*?") == pattern.npos
                    ? ": to take the contents of a directory, write '" + pattern + "/*'"
                    : "",
                pattern.find_first_of("[]{}") == pattern.npos ? "" : ": brackets and braces have no special meaning"));
        }
}

void set_all(TreeFlow& flow, tree::TreeCount& count) {
    count.beat();
    flow.all_entries = count.all().entries;
    flow.all_bytes = count.all().bytes;
}

Result<std::unique_ptr<tree::EntryLog>> make_entry_log(const TreeArguments& arguments,
                                                       std::unique_ptr<LinesFile>& report) {
    for (const auto* patterns : {&arguments.include, &arguments.exclude})
        for (const auto& pattern : *patterns) FB_TRY(tree::check_pattern(pattern));
    if (arguments.report.empty() && arguments.report_all)
        return Error{ErrorKind::refused, "--report-all needs a report", "",
                     "give --report FILE, outside of both trees"};
    if (arguments.report.empty()) return std::make_unique<tree::EntryLog>();
    FB_TRY_ASSIGN(lines, LinesFile::make(arguments.report, report_lines));
    report = std::move(lines);
    return std::make_unique<tree::EntryLog>(
        [file = report.get()](const tree::LogEntry& log_entry) -> Result<> {
            FB_TRY(file->add(json_of(log_entry)));
            return tree::is_loss(log_entry.kind) ? file->flush() : Result<>();  // in the file before more is removed
        },
        arguments.report_all ? tree::Recorded::all : tree::Recorded::losses);
}

}  // namespace forebay::cli
