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
                "How many share the work; 0: one a core, at most 16, and 16 with S3 and libdfs", {.most = threads_max});
    verb.option("--report", arguments.report,
                "A file that gets a line of JSON for each entry that there is something to say of");
}

void add_report_all(Verb& verb, TreeArguments& arguments) {
    verb.flag("--report-all", arguments.report_all,
              "The report has all that was new at the target, too, not only what was removed or replaced");
}

void add_hosts_options(Verb& verb, TreeArguments& arguments) {
    verb.option(
        "--hosts", arguments.hosts,
        "Hosts that help, as in nid00[01-64], or @FILE, or slurm: those of the job. localhost is started without "
        "ssh. All must see the same trees");
    verb.option("--ssh", arguments.ssh, "Command that starts programs on hosts");
    verb.option("--patience", arguments.timeout, "Seconds after which a host or rank that says nothing is lost",
                {.least = 1, .most = timeout_max});
}

void add_entry_options(Verb& verb, TreeArguments& arguments) {
    verb.option("--include", arguments.include,
                "Only entries whose name fits, as in '*.h5', with a slash whose path does; may be repeated");
    verb.option("--exclude", arguments.exclude,
                "No entries whose name or path fits, nor what lies in them; may be repeated");
}

void add_filter_options(Verb& verb, TreeArguments& arguments) {
    add_entry_options(verb, arguments);
    verb.flag("--one-file-system", arguments.one_file_system, "Do not look into what is mounted in the tree");
}

void add_recall(Verb& verb, TreeArguments& arguments) {
    verb.flag("--recall", arguments.recall,
              "Read files too whose bytes are in an archive alone (HSM of Lustre), which brings them back");
}

Result<> check_for_archive(std::initializer_list<std::string_view> places) {
    for (const auto place : places) {
        FB_TRY(sys::check_address(place));
        if (sys::is_far(place))
            return Error{ErrorKind::refused,
                         fmt::format("{} is no directory: archives are files, made of directories and restored to them",
                                     show_text(place)),
                         "nothing was made", "forebay copy, between it and a directory"};
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
                "no entry fits {} '{}'{}{}\n", option, pattern,
                is_include && pattern.find_first_of("*?") == pattern.npos
                    ? ": what lies in a directory is meant by '" + pattern + "/*'"
                    : "",
                pattern.find_first_of("[]{}") == pattern.npos ? "" : ": brackets and braces stand for themselves"));
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
        return Error{ErrorKind::refused, "--report-all says what a report has, and none is written", "",
                     "--report FILE, outside of both trees"};
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
