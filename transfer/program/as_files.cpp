#include "transfer/program/as_files.hpp"

#include <set>

#include "core/base/units.hpp"
#include "core/sys/far_module.hpp"
#include "core/terminal/say.hpp"

namespace forebay::cli {

namespace {

constexpr std::size_t named_max = 3;

std::string place_in(std::string tree, const std::string& path) {
    while (tree.size() > 1 && tree.ends_with('/')) tree.pop_back();
    return path == "." ? tree : (tree == "/" ? "" : tree) + "/" + path;
}

/// The runs that were copied as files: their number, and the first paths.
struct TakenRuns {
    explicit TakenRuns(const tree::EntryLog& entry_log) : count(entry_log.count_of(tree::EntryEvent::as_files)) {
        for (const auto& log_entry : entry_log.first())
            if (log_entry.kind == tree::EntryEvent::as_files) first.insert(log_entry.path);
    }
    std::string first_in(const std::string& tree) const {
        return place_in(tree, first.empty() ? "RUN" : *first.begin());
    }

    std::uint64_t count = 0;
    std::set<std::string> first;
};

// "2 runs of Forebay below case (a/sim2, sim1) were", "The run of Forebay case was"
Shown subject_of(const TakenRuns& runs, const std::string& source, std::string_view was, std::string_view were) {
    if (runs.count == 1 && runs.first.contains(".")) return lines("The run of Forebay {} {}", source, was);
    std::string names;
    std::size_t named = 0;
    for (const auto& path : runs.first) {
        if (named == named_max) break;
        names += (named++ > 0 ? ", " : "") + path;
    }
    if (named == 0) names = "--report FILE lists them";
    else if (runs.count > named) names += lines(" and {} more", runs.count - named).text;
    return lines("{} of Forebay in {} ({}) {}", show_count(runs.count, "run"), source, names,
                 runs.count == 1 ? was : were);
}

}  // namespace

void say_copied_as_files(const CopyArguments& options, const tree::EntryLog& entry_log) {
    const TakenRuns runs(entry_log);
    if (runs.count == 0) return;
    const auto subject = options.copy.is_dry ? subject_of(runs, options.source, "would be", "would be")
                                             : subject_of(runs, options.source, "was", "were");
    const auto way =
        lines("As a run: forebay copy {} {}", runs.first_in(options.source), runs.first_in(options.target));
    say("{} copied like any files, with uncommitted data, and without a check. {}\n", subject, way);
}

void say_archived_as_files(const CopyArguments& options, const tree::EntryLog& entry_log) {
    const TakenRuns runs(entry_log);
    if (runs.count == 0) return;
    say("{} archived like any files, with uncommitted data. If a run is written or pruned meanwhile, snapshots in the "
        "archive may lack files. To archive only whole snapshots: forebay copy {} COPY, then archive COPY\n",
        options.copy.is_dry ? subject_of(runs, options.source, "would be", "would be")
                            : subject_of(runs, options.source, "was", "were"),
        runs.first_in(options.source));
}

}  // namespace forebay::cli
