// forebay view: makes the plain view of a snapshot.

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/json.hpp"
#include "cli/place.hpp"
#include "cli/verbs.hpp"
#include "views/plain.hpp"

namespace forebay::cli {

namespace {

struct Options {
    std::string place;
    bool json = false;
};

Result<Exit> view(const Options& options) {
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(place, find_place(store, options.place));
    FB_TRY_ASSIGN(snapshot, one_snapshot(store, place));
    FB_TRY_ASSIGN(made, views::make_plain_view(store, snapshot));
    if (options.json) {
        auto object = Json::object();
        object.set("path", made.path).set("step", snapshot.step).set("sources", made.sources);
        object.set("mappings", made.mappings).print();
    } else {
        std::fputs(fmt::format("{}  shows {}@{} from {} node file{}\n", made.path, snapshot.stream, snapshot.step,
                               made.sources, made.sources == 1 ? "" : "s")
                       .c_str(),
                   stdout);
    }
    return Exit::good;
}

}  // namespace

drain::ViewMaker view_maker() {
    return [](sys::Store& store, const catalog::Snapshot& snapshot) -> Result<> {
        const auto made = views::make_plain_view(store, snapshot);
        return made ? Result<>() : Result<>(made.error());
    };
}

void add_view(CommandLine& line) {
    const auto options = std::make_shared<Options>();
    auto verb = line.verb("view", "Make the plain view of a snapshot: one HDF5 file that shows global arrays");
    verb.argument("RUN", options->place, "The snapshot: RUN@STEP, RUN/STREAM@STEP; STEP may be \"last\"");
    verb.json(options->json, "  An object: path (of the view), step, sources (node files), mappings.\n");
    verb.examples(
        "  forebay view /scratch/me/run7@last\n"
        "  h5dump -H /scratch/me/run7/restart/step-000120.h5\n"
        "The view copies no data; an existing one is replaced.\n");
    verb.action([options] { return view(*options); });
}

}  // namespace forebay::cli
