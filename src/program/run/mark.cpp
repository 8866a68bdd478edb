// forebay mark and unmark: marks of a person on a snapshot.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"
#include "path/catalog/marks.hpp"
#include "program/place.hpp"
#include "program/snapshot_words.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct MarkArguments {
    std::string place;
    std::string why = "marked by hand";
};

Result<catalog::Snapshot> snapshot_of(sys::Store& store, const std::string& text) {
    FB_TRY_ASSIGN(place, find_place(store, text));
    if (!place.names_snapshot())
        return Error{ErrorKind::refused, fmt::format("mark needs one snapshot, not {}", text), "",
                     fmt::format("forebay ls {}", place.run)};
    return one_snapshot(store, place);
}

Result<Exit> mark(const MarkArguments& options) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(snapshot, snapshot_of(store, options.place));
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, snapshot.directory));
    const std::vector<format::Mark> marks{{.analysis = {}, .condition = options.why, .result = {}}};
    const auto run = directory_of(directory_of(snapshot.directory));
    FB_TRY_ASSIGN(before, catalog::marks_of(store, snapshot.directory, manifest));
    if (before.size() >= format::marks_max && std::ranges::find(before, marks.front()) == before.end())
        return Error{
            ErrorKind::refused,
            fmt::format("{} has {} marks already. This mark was not added", place_text(snapshot), before.size()),
            "all of them", fmt::format("forebay unmark {}/{}@{} removes them", run, snapshot.stream, snapshot.step)};
    FB_TRY(catalog::mark(store, {run, snapshot.stream, snapshot.step, manifest.snapshot_id}, marks));
    say("{} is marked: {}\n", place_text(snapshot), Message{options.why});
    return Exit::good;
}

Result<Exit> unmark(const MarkArguments& options) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(snapshot, snapshot_of(store, options.place));
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, snapshot.directory));
    FB_TRY_ASSIGN(marks, catalog::marks_of(store, snapshot.directory, manifest));
    FB_TRY(catalog::unmark(store, snapshot.directory, marks));
    if (marks.empty()) say("{} had no marks\n", place_text(snapshot));
    for (const auto& mark : marks)
        say("{} is not marked any more: {}\n", place_text(snapshot), Message{format::words_of(mark)});
    return Exit::good;
}

}  // namespace

void add_mark(CommandLine& line) {
    const auto options = std::make_shared<MarkArguments>();
    auto verb = line.verb("mark", "Mark a snapshot as bad, so that restarts ignore it");
    verb.argument("RUN@STEP", options->place, "RUN@STEP or RUN/STREAM@STEP. STEP may be \"last\"");
    verb.option("--why", options->why, "Give the reason, which ls and restarts show");
    verb.examples("  forebay mark /scratch/me/run7@120 --why \"the inflow was wrong\"\n");
    verb.action([options] { return mark(*options); });
}

void add_unmark(CommandLine& line) {
    const auto options = std::make_shared<MarkArguments>();
    auto verb = line.verb("unmark", "Remove all marks of a snapshot");
    verb.argument("RUN@STEP", options->place, "RUN@STEP or RUN/STREAM@STEP. STEP may be \"last\"");
    verb.examples("  forebay unmark /scratch/me/run7@120\n");
    verb.action([options] { return unmark(*options); });
}

}  // namespace forebay::cli
