// forebay prune: removes old snapshots, counting only whole ones.

#include <fmt/format.h>

#include <memory>

#include "catalog/views.hpp"
#include "cli/place.hpp"
#include "cli/say.hpp"
#include "cli/verbs.hpp"
#include "cli/words.hpp"
#include "format/packed.hpp"

namespace forebay::cli {

namespace {

struct Options {
    std::string place;
    int keep = 0;
    bool dry_run = false;
    bool json = false;
};

Json json_of_all(const std::vector<catalog::Snapshot>& snapshots) {
    auto array = Json::array();
    for (const auto& snapshot : snapshots) array.push(json_of(snapshot));
    return array;
}

void say_of(const catalog::Pruned& pruned, const std::string& stream, bool dry_run) {
    for (const auto& snapshot : pruned.kept) say("{}@{}  kept\n", stream, snapshot.step);
    for (const auto& snapshot : pruned.removed)
        say("{}@{}  {}\n", stream, snapshot.step, dry_run ? "would be removed" : "removed");
    for (const auto& problem : pruned.problems) say("{}: {}\n", stream, Message{problem});
    for (const auto& path : pruned.others) say("{}.\n", catalog::stays_text(path));
}

Result<Exit> prune(const Options& options) {
    if (options.keep < 1)
        return Error{ErrorKind::refused, fmt::format("--keep {}: at least 1 snapshot must stay.\n"
                                                     "  Next: forebay prune {} --keep 1 --dry-run",
                                                     options.keep, options.place)};
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(place, find_place(store, options.place));
    if (place.names_snapshot())
        return Error{ErrorKind::refused, fmt::format("prune works on a run or a stream, not on one step: {}.\n"
                                                     "  Next: forebay prune {} --keep {} --dry-run",
                                                     options.place, place.run, options.keep)};
    auto array = Json::array();
    auto exit = Exit::good;
    for (const auto& stream : place.streams) {
        // Each batch holds other files; an old one is no older state of anything.
        if (!place.stream_named && format::is_packed_stream(stream)) continue;
        FB_TRY_ASSIGN(pruned, catalog::prune(store, place.run, stream, options.keep, options.dry_run));
        if (!pruned.problems.empty()) exit = Exit::found;
        if (!options.json) say_of(pruned, stream, options.dry_run);
        auto problems = Json::array(), others = Json::array();
        for (const auto& problem : pruned.problems) problems.push(problem);
        for (const auto& path : pruned.others) others.push(path);
        auto object = Json::object();
        object.set("stream", stream).set("dry_run", options.dry_run).set("kept", json_of_all(pruned.kept));
        object.set("removed", json_of_all(pruned.removed)).set("problems", problems).set("others", others);
        array.push(object);
    }
    if (options.json) array.print();
    return exit;
}

}  // namespace

void add_prune(CommandLine& line) {
    const auto options = std::make_shared<Options>();
    auto verb = line.verb("prune", "Remove old snapshots; only whole ones count as kept");
    verb.argument("RUN", options->place, "RUN for all its streams but those of packed files, or RUN/STREAM");
    verb.required("--keep", options->keep, "How many whole snapshots of each stream stay (at least 1)");
    verb.flag("--dry-run", options->dry_run, "Only say what would be removed");
    verb.json(
        options->json,
        "  An array with an object for each stream: stream, dry_run, kept, removed (arrays of stream, step, "
        "directory),\n"
        "  problems (texts: snapshots that do not count, and why), others (paths of files that have names of views "
        "and\n"
        "  are none: they stay).\n");
    verb.examples(
        "  forebay prune /scratch/me/run7 --keep 3 --dry-run\n"
        "  forebay prune /scratch/me/run7/particles --keep 1\n"
        "With fewer than --keep whole snapshots nothing is removed. Exit code 1 when a snapshot is not whole. Views "
        "of\n"
        "what is removed go with it; a file of a view's name that holds its own data, as an export, stays and is "
        "named.\n");
    verb.action([options] { return prune(*options); });
}

}  // namespace forebay::cli
