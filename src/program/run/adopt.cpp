// forebay adopt: makes a snapshot that was copied from another run part of this run.

#include <fmt/format.h>

#include <memory>

#include "core/base/try.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "program/place.hpp"
#include "program/snapshot_words.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct AdoptArguments {
    std::string place;
    bool json = false;
};

// A foreign snapshot is not among those that other verbs choose from.
Result<catalog::Version> foreign(sys::Store& store, const Place& place) {
    std::vector<catalog::Version> versions;
    for (const auto& stream : place.streams) {
        FB_TRY_ASSIGN(history, catalog::history(store, place.run, stream));
        for (const auto& version : history.foreign)
            if (version.head.step == *place.step) versions.push_back(version);
    }
    if (versions.size() == 1) return versions.front();
    return Error{
        versions.empty() ? ErrorKind::missing : ErrorKind::refused,
        fmt::format("{} of {} is {}", fmt::format("step {}", *place.step), place.run,
                    versions.empty() ? "no snapshot of another run" : "in several streams: give RUN/STREAM@STEP"),
        "", fmt::format("forebay ls {}", place.run)};
}

Result<Exit> adopt(const AdoptArguments& options) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(place, find_place(store, options.place));
    if (!place.step)
        return Error{ErrorKind::refused, fmt::format("adopt needs one step, not {}", options.place), "",
                     fmt::format("forebay ls {}", place.run)};
    FB_TRY_ASSIGN(version, foreign(store, place));
    FB_TRY_ASSIGN(manifest, catalog::load_manifest(store, version.snapshot.directory));
    // A partial copy must not become a snapshot of this run.
    FB_TRY(catalog::check_whole(store, version.snapshot.directory, manifest));
    FB_TRY(catalog::adopt(store, place.run, version.snapshot));
    const auto from = catalog::id_text(version.head.lineage.run_id);
    if (options.json) json_of(version.snapshot).set("was_of_run", from).print();
    else say("{}@{}: taken from the run {} into {}\n", version.snapshot.stream, version.snapshot.step, from, place.run);
    return Exit::good;
}

}  // namespace

void add_adopt(CommandLine& line) {
    const auto options = std::make_shared<AdoptArguments>();
    auto verb = line.verb("adopt", "Take a snapshot that was copied from another run into this run");
    verb.argument("RUN@STEP", options->place, "RUN@STEP, RUN/STREAM@STEP or the snapshot's directory");
    verb.json(options->json, "  An object: stream, step, directory, was_of_run.\n");
    verb.examples(
        "  cp -r /scratch/me/run6/restart/step-000500 /scratch/me/run7/restart/\n  forebay adopt "
        "/scratch/me/run7@500\nA run restarts only from its own snapshots. forebay ls shows the snapshots of other "
        "runs. The snapshot joins the\ncurrent line of the run. Its data stay unchanged.\n");
    verb.action([options] { return adopt(*options); });
}

}  // namespace forebay::cli
