// forebay view: makes views of snapshots by a convention.

#include <fmt/format.h>

#include <memory>

#include "core/base/try.hpp"
#include "core/describe/conventions.hpp"
#include "core/sys/far_module.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/say.hpp"
#include "insight/views/view.hpp"
#include "path/catalog/history.hpp"
#include "program/place.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct ViewArguments {
    std::string place;
    std::string as = "plain";
    std::string to, table, describe;
    bool series = false, all = false, partial = false, force = false, json = false;
};

/// The snapshots of the place: one, or with --series and --all every snapshot of a stream.
Result<std::vector<catalog::Snapshot>> chosen(sys::Store& store, const ViewArguments& options) {
    FB_TRY_ASSIGN(place, find_place(store, options.place));
    if (!options.series && !options.all) {
        FB_TRY_ASSIGN(snapshot, one_snapshot(store, place));
        return std::vector{snapshot};
    }
    if (place.names_snapshot())
        return Error{ErrorKind::refused,
                     fmt::format("{} is one snapshot, but --{} needs a whole stream", options.place,
                                 options.series ? "series" : "all"),
                     "", "leave the step out"};
    if (place.streams.size() != 1)
        return Error{place.streams.empty() ? ErrorKind::missing : ErrorKind::refused,
                     fmt::format("{} has {} streams, and the view needs one", options.place, place.streams.size()), "",
                     fmt::format("give one stream: RUN/STREAM. forebay ls {} lists them", place.run)};
    FB_TRY_ASSIGN(snapshots, catalog::living_snapshots(store, place.run, place.streams.front()));
    if (snapshots.empty())
        return Error{ErrorKind::missing,
                     fmt::format("{}/{} has no committed snapshot", place.run, place.streams.front()), "",
                     fmt::format("forebay ls {}", place.run)};
    return snapshots;
}

void print(const ViewArguments& options, const views::View& view, std::span<const catalog::Snapshot> shown) {
    if (options.json) {
        auto omitted = Json::array(), missing = Json::array(), steps = Json::array();
        for (const auto& omission : view.omitted)
            omitted.push(Json::object().set("what", omission.what).set("reason", omission.reason));
        for (const auto& name : view.missing) missing.push(name);
        for (const auto& snapshot : shown) steps.push(snapshot.step);
        auto object = Json::object();
        object.set("path", view.path).set("as", options.as).set("step", shown.front().step).set("steps", steps);
        object.set("sources", view.sources).set("mappings", view.mappings);
        object.set("missing", missing).set("not_shown", omitted).print();
        return;
    }
    auto text = lines("{}  shows {}@{}{} from {} node file{}\n", view.path, shown.front().stream, shown.front().step,
                      shown.size() > 1 ? fmt::format(" and {} more", shown.size() - 1) : "", view.sources,
                      view.sources == 1 ? "" : "s");
    for (const auto& name : view.missing) text += lines("  missing, read as fill values: {}\n", name);
    for (const auto& omission : view.omitted)
        text += lines("  not shown: {}: {}\n", omission.what, Message{omission.reason});
    say(text);
}

Result<Exit> view(const ViewArguments& options) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(convention, outline::convention_named(options.as));
    if (sys::is_far(options.place))
        return Error{ErrorKind::refused, "a view stores the paths of files, and " + options.place + " has none", "",
                     "use forebay export plain RUN@STEP FILE.h5, which copies the data"};
    FB_TRY_ASSIGN(snapshots, chosen(store, options));
    if (options.all && (options.series || !options.to.empty()))
        return Error{ErrorKind::refused,
                     "--all makes one file for each step beside it, --series one file for all steps", "",
                     "give one of the two. Use --to only with --series"};
    const views::ViewOptions wanted{.convention = convention,
                                    .is_series = options.series,
                                    .table = options.table,
                                    .description = options.describe,
                                    .missing = options.partial ? outline::Missing::leave_out : outline::Missing::refuse,
                                    .to = options.to,
                                    .replace = options.force};
    const std::span<const catalog::Snapshot> all(snapshots);
    const auto at_once = options.series ? all.size() : 1;
    bool is_whole = true;
    for (std::size_t first = 0; first < all.size(); first += at_once) {
        const auto shown = all.subspan(first, at_once);
        const auto view = views::make_view(store, shown, wanted);
        // With --all each view is separate. A snapshot that retention removes meanwhile is skipped.
        if (!view && options.all && view.error().kind == ErrorKind::missing) {
            FB_TRY_ASSIGN(removed, catalog::is_removed(store, shown.front().directory, 0));
            if (removed) continue;
        }
        FB_TRY(view);
        print(options, *view, shown);
        is_whole &= view->missing.empty();
    }
    return is_whole ? Exit::good : Exit::found;
}

}  // namespace

agent::ViewMaker view_maker() {
    return [](sys::Store& store, const catalog::Snapshot& snapshot, Convention convention) -> Result<> {
        const auto view = views::make_view(store, {&snapshot, 1}, {.convention = convention});
        return view ? Result<>() : Result<>(view.error());
    };
}

void add_view(CommandLine& line) {
    const auto options = std::make_shared<ViewArguments>();
    auto verb = line.verb("view", "Make an HDF5 file that shows the global arrays of snapshots without copying data");
    verb.argument("RUN", options->place,
                  "The snapshot: RUN@STEP, RUN/STREAM@STEP. STEP may be \"last\". With --series or --all a stream");
    verb.option("--as", options->as, "Use this convention: " + describe::convention_names());
    verb.option("--to", options->to,
                "Make this file, instead of a file beside the snapshot. Not in the directory of a snapshot");
    verb.flag("--force", options->force, "Replace an existing file that is not a view made by Forebay");
    verb.flag("--series", options->series, "Show all steps of the stream in one file (not plain)");
    verb.flag("--all", options->all, "Make one file for each step of the stream. With openPMD they form one set");
    verb.option("--table", options->table, "Show this particle table with --as h5part, if there are several");
    verb.option("--describe", options->describe,
                "Read units, grids and names of variables from this file, not from describe.toml of the stream");
    verb.flag("--partial", options->partial,
              "Make the view even if node files are missing. Their part reads as fill values, and the exit code is 1");
    verb.json(options->json,
              "  An object, with --all one for each view: path (of the view), as, step, steps, sources (node files),\n"
              "  mappings, missing (node files), not_shown (array of: what, reason).\n");
    verb.examples(
        "  forebay view /scratch/me/run7@last\n  h5dump -H /scratch/me/run7/restart/step-000120.h5\n  forebay view "
        "/scratch/me/run7/fields --as netcdf --series\n  forebay view /scratch/me/run7/restart --as openpmd --all\nThe "
        "view copies no data. An existing view is replaced. Any other file of this name, including a view by "
        "an\nearlier version of Forebay, is replaced only with --force.\n");
    verb.action([options] { return view(*options); });
}

}  // namespace forebay::cli
