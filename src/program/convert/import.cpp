// forebay import: makes a snapshot from files of another program.

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/machine.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/table.hpp"
#include "core/terminal/words.hpp"
#include "insight/foreign/genericio/genericio.hpp"
#include "insight/foreign/import_snapshot.hpp"
#include "insight/foreign/palm_fortran/palm_fortran.hpp"
#include "insight/foreign/palm_mpi/palm_mpi.hpp"
#include "program/place.hpp"
#include "program/snapshot_words.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

enum class Format { palm_mpi, palm_fortran, genericio };

struct ImportArguments {
    std::string source, place, stream, ghosts = "keep";
    std::vector<std::string> types;
    bool replace = false;
    bool dry_run = false;
    bool json = false;
};

Result<foreign::ForeignContents> open_source(sys::Store& store, Format format, const ImportArguments& options) {
    if (format == Format::genericio) return foreign::genericio::open(store, options.source);
    foreign::Choices choices;
    FB_TRY_ASSIGN(wishes, foreign::wishes_of(options.types));
    choices.wishes = std::move(wishes);
    if (options.ghosts != "keep" && options.ghosts != "cut")
        return Error{ErrorKind::refused,
                     fmt::format("--ghosts {}: write keep or cut for the outer ghost layers", options.ghosts), "",
                     "--ghosts cut"};
    choices.cut_ghosts = options.ghosts == "cut";
    if (format == Format::palm_fortran) return foreign::open_palm_fortran(store, options.source, choices);
    return foreign::open_palm_mpi(store, options.source, choices);
}

// A missing stream's path looks like a run's path. So a new run must be a new directory that lies in no run.
Result<> check_run(sys::Store& store, const std::string& run) {
    FB_TRY_ASSIGN(exists, store.exists(run));
    if (exists) return {};
    const auto above = directory_of(run);
    const auto streams = catalog::streams(store, above);
    if (!streams && streams.error().kind != ErrorKind::missing) return streams.error();
    if (streams && streams->empty()) return {};
    return Error{ErrorKind::refused,
                 streams
                     ? fmt::format("{} would be a run inside the run {}", run, above)
                     : fmt::format("{} is not a run, and {}, the directory for a new run, does not exist", run, above),
                 "",
                 fmt::format("for a new stream: {}@STEP --stream {}{}", above, leaf_of(run),
                             streams ? "" : fmt::format("; for a new run, make the directory {} first", above))};
}

// The run, stream and step given by the user, otherwise by the file. A committed step is only replaced with --replace.
Result<commit::Destination> destination(sys::Store& store, const ImportArguments& options,
                                        const foreign::ForeignContents& contents) {
    FB_TRY_ASSIGN(place, find_place_to_write(store, options.place));
    if (place.last)
        return Error{ErrorKind::refused, fmt::format("{}: a new snapshot needs a step", options.place), "",
                     fmt::format("{}@STEP", place.run)};
    if (place.stream_named && !options.stream.empty())
        return Error{ErrorKind::refused, fmt::format("{} contains a stream already", options.place), "",
                     fmt::format("leave --stream {} out", options.stream)};
    FB_TRY(check_run(store, place.run));
    commit::Destination to{.run = place.run, .stream = "restart", .replaces = options.replace};
    if (place.stream_named) to.stream = place.streams.front();
    else if (!options.stream.empty()) to.stream = options.stream;
    if (place.step) to.step = *place.step;
    else if (contents.step) to.step = *contents.step;
    else
        return Error{ErrorKind::refused, fmt::format("{} does not contain its step", options.source), "",
                     fmt::format("give the step: {}@STEP", options.place)};
    const auto committed = catalog::snapshots(store, to.run, to.stream);
    if (!committed && committed.error().kind != ErrorKind::missing) return committed.error();
    if (committed && !options.replace && std::ranges::count(*committed, to.step, &catalog::Snapshot::step) > 0)
        return Error{
            ErrorKind::refused,
            fmt::format("step {} of {}/{} is committed already. Nothing was imported", to.step, to.run, to.stream), "",
            fmt::format("give another step, {}@STEP, or --replace", to.run)};
    return to;
}

// Checks the room before hours of copying. If the run's directory is missing, its nearest existing parent counts.
Result<> check_room(sys::Store& store, const commit::Destination& to, std::uint64_t bytes) {
    auto path = to.run;
    while (true) {
        FB_TRY_ASSIGN(exists, store.exists(path));
        if (exists) break;
        const auto slash = path.rfind('/');
        if (slash == std::string::npos || slash == 0) {
            path = slash == 0 ? "/" : ".";
            break;
        }
        path.resize(slash);
    }
    FB_TRY_ASSIGN(free, sys::free_bytes(path));
    if (free >= bytes) return {};
    return Error{ErrorKind::full,
                 fmt::format("{} has {} free, but the snapshot needs {}. Nothing was imported", path, show_bytes(free),
                             show_bytes(bytes)),
                 "", fmt::format("forebay prune {} --keep 1, or choose another target", to.run)};
}

std::uint64_t rows_of(const foreign::ForeignContents& contents, std::uint32_t table) {
    std::uint64_t rows = 0;
    for (const auto& part : contents.parts) rows += part.rows[table];
    return rows;
}

Json variables_of(const foreign::ForeignContents& contents) {
    auto array = Json::array();
    for (std::size_t i = 0; i < contents.schema.variables.size(); ++i) {
        const auto& variable = contents.schema.variables[i];
        auto object = Json::object();
        object.set("name", variable.name).set("kind", name_of(variable.kind)).set("type", name_of(variable.type));
        const bool table = variable.kind == Kind::particles;
        object.set("shape", json_of(table ? Extents{rows_of(contents, variable.table)} : variable.shape));
        array.push(object.set("reason", contents.reasons[i]));
    }
    return array;
}

Shown table_of(const foreign::ForeignContents& contents) {
    Table table({{"name"}, {"kind"}, {"type"}, {"shape"}, {"found by"}});
    for (std::size_t i = 0; i < contents.schema.variables.size(); ++i) {
        const auto& variable = contents.schema.variables[i];
        const auto shape = variable.kind == Kind::particles ? fmt::format("{} rows", rows_of(contents, variable.table))
                                                            : show_shape(variable.shape);
        table.row({variable.name, name_of(variable.kind), name_of(variable.type), shape, contents.reasons[i]});
    }
    return table.text();
}

// The snapshot is committed even without its view: a problem with the view becomes a note.
bool make_view(sys::Store& store, const commit::Destination& to, const std::string& directory,
               std::vector<std::string>& notes) {
    const auto maker = view_maker();
    if (!maker) return false;
    const auto result = maker(store, {.stream = to.stream, .step = to.step, .directory = directory}, Convention::plain);
    if (!result) notes.push_back("the snapshot has no view: " + result.error().line());
    return result.has_value();
}

void print(const ImportArguments& options, const foreign::ForeignContents& contents, const commit::Destination& to,
           const std::string& directory, bool view) {
    const auto& notes = contents.notes;
    if (options.json) {
        auto texts = Json::array();
        for (const auto& note : notes) texts.push(note);
        auto object = Json::object();
        object.set("stream", to.stream).set("step", to.step).set("directory", directory).set("time", contents.time);
        object.set("dry_run", options.dry_run).set("view", view).set("bytes", contents.bytes());
        object.set("ranks", contents.parts.size()).set("variables", variables_of(contents)).set("notes", texts).print();
        return;
    }
    const auto count = contents.schema.variables.size();
    if (options.dry_run) say(table_of(contents));
    say("{}  {} {}: {} variable{}, {}, from {} process{}\n", directory,
        options.dry_run ? "would be imported from" : "imported from", options.source, count, count == 1 ? "" : "s",
        show_bytes(contents.bytes()), contents.parts.size(), contents.parts.size() == 1 ? "" : "es");
    for (const auto& note : notes) say("note: {}\n", Message{note});
}

Result<Exit> import(Format format, const ImportArguments& options) {
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(contents, open_source(store, format, options));
    FB_TRY_ASSIGN(to, destination(store, options, contents));
    FB_TRY_ASSIGN(layout, foreign::lay_out(contents, to.stream));
    if (options.dry_run) {
        print(options, contents, to, fmt::format("{}/{}/{}", to.run, to.stream, catalog::step_name(to.step)), false);
        return Exit::good;
    }
    FB_TRY(check_room(store, to, layout.file_bytes));
    FB_TRY_ASSIGN(directory, [&] {
        Progress progress(fmt::format("{}@{}", to.stream, to.step), options.json);
        return foreign::import_snapshot(store, contents, to,
                                        [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
    }());
    const bool view = make_view(store, to, directory, contents.notes);
    print(options, contents, to, directory, view);
    return Exit::good;
}

void add_format(Verb& parent, Format format, const char* name, const char* summary, const char* source,
                const char* examples) {
    const auto options = std::make_shared<ImportArguments>();
    auto verb = parent.verb(name, summary);
    verb.argument("SOURCE", options->source, source);
    verb.argument("RUN", options->place,
                  "The target: RUN, RUN@STEP, or RUN/STREAM@STEP of an existing stream. Default: the step in the file");
    verb.option("--stream", options->stream, "Import into this stream. Default: the stream in RUN, or \"restart\"");
    if (format != Format::genericio) {
        verb.option("--ghosts", options->ghosts, "Choose what happens to outer ghost layers: keep or cut");
        verb.option("--type", options->types,
                    "Set a type that the file does not contain: NAME=TYPE, NAME=TYPE:4x6, NAME=TYPE:box or "
                    "NAME=TYPE:rows. Repeatable");
    }
    verb.flag("--replace", options->replace, "Replace a committed snapshot of this step");
    verb.flag("--dry-run", options->dry_run,
              "Import nothing. Print the contents of the file, and how their types were found");
    verb.json(
        options->json,
        "  An object: stream, step, directory, time, dry_run, view (true if it was made), bytes, ranks, variables: "
        "an\n  array of name, kind, type, shape, reason (how type and shape were found); notes (texts).\n");
    verb.examples(examples);
    verb.action([options, format] { return import(format, *options); });
}

}  // namespace

void add_import(CommandLine& line) {
    auto verb = line.verb("import", "Make a snapshot from the files of another program");
    add_format(
        verb, Format::palm_mpi, "palm-mpi",
        "Import PALM's restart file of restart_data_format mpi or mpi_shared_memory",
        "The file that PALM wrote, BINOUT or a copy of it",
        "  forebay import palm-mpi BINOUT /scratch/me/run7 --dry-run\n  forebay import palm-mpi BINOUT "
        "/scratch/me/run7@3600 --type soil=f64:40x20x8\nThe file contains no types. The import finds them by PALM's "
        "names, by the index planes of surface data and by\nsizes (docs/formats/palm.md). Arrays that match no shape "
        "of the grid keep one dimension. Arrays are y, x, z,\nas in the file. Memory: some megabytes.\n");
    add_format(
        verb, Format::palm_fortran, "palm-fortran", "Import PALM's restart files of restart_data_format fortran_binary",
        "The directory with one file a process, _000000 and so on, or the single file of a serial PALM",
        "  forebay import palm-fortran BINOUT /scratch/me/run7 --dry-run\n  forebay import palm-fortran BINOUT "
        "/scratch/me/run7 --ghosts cut --type 'surf%us=f64:rows'\nThe files contain no types. The import finds them by "
        "PALM's names, by sizes and first bytes\n(docs/formats/palm.md). Data that are not a box of the grid become a "
        "table. Arrays are x, y, z, as in PALM's\nmemory. Each process becomes a rank of the snapshot. Particles are "
        "in other files, and are not imported.\nMemory: some megabytes, and some hundred bytes for each record.\n");
    add_format(verb, Format::genericio, "genericio",
               "Import a GenericIO file (HACC), of either byte order, or its partitions",
               "The file. If its ranks wrote partitions, the name without #NUMBER",
               "  forebay import genericio m000.full.mpicosmo.499 /scratch/me/run7@499\n  forebay import genericio "
               "m000.full.mpicosmo.499 /scratch/me/run7@499 --dry-run\nThe elements become rows of the table "
               "\"particles\". Each rank of the file becomes a rank of the snapshot, which\nrestarts on any number of "
               "ranks. A record of several elements becomes several columns: NAME.0 and so on. The\nimport compares "
               "each CRC-64. The file has no step, so give one: docs/formats/genericio.md.\n");
}

}  // namespace forebay::cli
