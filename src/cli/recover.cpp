// forebay recover: finishes what a crash left at the target.

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "catalog/names.hpp"
#include "cli/json.hpp"
#include "cli/verbs.hpp"
#include "cli/words.hpp"
#include "drain/missing_views.hpp"

namespace forebay::cli {

namespace {

using Outcome = drain::Recovered::Outcome;

struct Options {
    std::string run;
    bool stale = false;
    bool json = false;
};

const char* name_of_outcome(Outcome outcome) {
    switch (outcome) {
        case Outcome::committed: return "committed";
        case Outcome::restored: return "restored";
        case Outcome::removed: return "removed";
        case Outcome::incomplete: return "incomplete";
    }
    return "incomplete";
}

Result<Exit> recover(const Options& options) {
    auto run = options.run;
    while (run.size() > 1 && run.ends_with('/')) run.pop_back();
    FB_TRY_ASSIGN(recovered, drain::recover(sys::posix_store(), run, options.stale));
    auto exit = Exit::good;
    auto array = Json::array();
    std::string text;
    for (const auto& one : recovered) {
        if (one.outcome == Outcome::incomplete) exit = Exit::found;
        text += fmt::format("{}: {}\n", one.leftover.stream, one.text);
        auto object = Json::object();
        object.set("stream", one.leftover.stream)
            .set("step", one.leftover.step)
            .set("directory", one.leftover.directory);
        object.set("snapshot_id", catalog::id_text(one.leftover.snapshot_id)).set("kind", name_of(one.leftover.kind));
        array.push(object.set("outcome", name_of_outcome(one.outcome)).set("text", one.text));
    }
    const auto make_view = view_maker();
    std::vector<drain::OwedView> views;
    if (make_view) {
        FB_TRY_ASSIGN(made, drain::make_missing_views(sys::posix_store(), run, recovered, make_view));
        views = std::move(made);
    }
    for (const auto& view : views) {
        const auto& [stream, step, directory] = view.snapshot;
        const auto said = view.made ? "its view was missing and is made." : "it has no view: " + view.made.error().text;
        text += fmt::format("{}: step {}: {}\n", stream, step, said);
        auto object = Json::object();
        object.set("stream", stream).set("step", step).set("directory", directory).set("kind", "view");
        array.push(object.set("outcome", view.made ? "made" : "incomplete").set("text", said));
    }
    if (options.json) {
        array.print();
    } else if (text.empty()) {
        std::fputs(fmt::format("Nothing to recover in {}.\n", run).c_str(), stdout);
    } else {
        std::fputs(text.c_str(), stdout);
    }
    return exit;
}

}  // namespace

void add_recover(CommandLine& line) {
    const auto options = std::make_shared<Options>();
    auto verb = line.verb("recover", "Finish what a crash left at the target: commit what is complete, undo the rest");
    verb.argument("RUN", options->run, "The run's directory");
    verb.flag(
        "--stale", options->stale,
        "Remove incomplete snapshots too. Only when no agent drains into the run: their staged copies are the last");
    verb.json(
        options->json,
        "  An array with an object for each leftover: stream, step, directory, snapshot_id, kind (part, old, gone),\n"
        "  outcome (committed, restored, removed, incomplete), text; and one for each missing view: kind view, "
        "outcome\n"
        "  made or incomplete, no snapshot_id.\n");
    verb.examples(
        "  forebay recover /scratch/me/run7\n"
        "  forebay recover /scratch/me/run7 --stale\n"
        "Safe at any time without --stale, also while agents work. Exit code 1 when something is left undone.\n");
    verb.action([options] { return recover(*options); });
}

}  // namespace forebay::cli
