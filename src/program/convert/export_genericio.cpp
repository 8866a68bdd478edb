// forebay export genericio: writes a snapshot's table as a GenericIO file.

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "bindings/compat/made/file_maker.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/sizes.hpp"
#include "insight/foreign/genericio/export.hpp"
#include "program/steps.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct ExportGenericioArguments {
    std::string place, path, memory = "64M";
    foreign::genericio::GioExportOptions how;
    std::int64_t wait_seconds = 0;
    bool background = false, keep = false;
    bool json = false;
};

std::string absolute(const std::string& path) { return std::filesystem::absolute(path).lexically_normal().string(); }

// True if FILE is made of the run that the GenericIO library wrote for it. Then the run is finished, not only copied.
bool is_of_its_run(const ExportGenericioArguments& options) {
    const auto run = made::FileRun(absolute(options.path)).path(), place = absolute(options.place);
    std::error_code unseen;  // the export reports it
    if (!std::filesystem::exists(run, unseen)) return false;
    return place == run || place.starts_with(run + "/") || place.starts_with(run + "@");
}

// Acts as the maker of the run, because the library waits for its result.
Result<Exit> finish_run(const ExportGenericioArguments& given, Result<Exit> (*make)(const ExportGenericioArguments&)) {
    auto options = given;
    options.path = absolute(given.path);
    const made::FileRun run(options.path);
    FB_TRY(run.rename_old_marks());
    FB_TRY_ASSIGN(maker, made::FileMaker::begin(sys::posix_store(), run, options.background));
    const auto done = make(options);
    Result<> outcome;
    if (!done)
        outcome = with_context(done.error(), fmt::format("{} was not made: {}", options.path, done.error().what),
                               fmt::format("the committed snapshots in {}", run.path()),
                               fmt::format("forebay export genericio {} {} --force", options.place, options.path));
    FB_TRY(maker.end(outcome, options.keep));
    return done;
}

Result<Exit> make(const ExportGenericioArguments& options) {
    auto& store = sys::target_store();
    auto how = options.how;
    FB_TRY_ASSIGN(memory, bytes_from("--memory", options.memory));
    how.memory_bytes = memory;
    FB_TRY_ASSIGN(steps, find_steps(store, options.place, std::chrono::seconds(options.wait_seconds)));
    const auto& snapshots = steps.snapshots;
    if (snapshots.size() != 1)
        return Error{
            ErrorKind::refused,
            fmt::format("{} has {} steps, and a GenericIO file holds one step", options.place, snapshots.size()), "",
            "give one step: RUN@STEP"};
    const auto& snapshot = snapshots.front();
    FB_TRY_ASSIGN(written, [&] {
        Progress progress(options.path, options.json);
        return foreign::genericio::export_file(
            store, snapshot, options.path, how,
            [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); });
    }());
    if (options.json) {
        auto files = Json::array();
        for (const auto& file : written.files) files.push(file);
        auto object = Json::object();
        object.set("stream", snapshot.stream).set("step", snapshot.step).set("directory", snapshot.directory);
        object.set("files", files).set("bytes", written.bytes).set("ranks", written.ranks);
        object.set("elements", written.elements).print();
        return Exit::good;
    }
    say("{}  exported from {}: {} elements of {} ranks, {}{}\n", options.path, snapshot.directory, written.elements,
        written.ranks, show_bytes(written.bytes),
        how.partitions > 0 ? fmt::format(" in {} partitions", how.partitions) : "");
    return Exit::good;
}

}  // namespace

void add_export_genericio(Verb& parent) {
    const auto options = std::make_shared<ExportGenericioArguments>();
    auto verb = parent.verb("genericio", "Export a table of particles as a GenericIO file (HACC)");
    verb.argument("RUN", options->place, "RUN@STEP or RUN/STREAM@STEP. RUN means its last snapshot");
    verb.argument("FILE", options->path, "The file to make, outside the directory of a snapshot");
    verb.option("--table", options->how.table, "Export this table. Default: the only table, or \"particles\"");
    verb.option(
        "--coordinate", options->how.coordinates,
        "Use this column as physical coordinate. Give it three times: x, y and z. Imported files need no --coordinate");
    verb.flag("--compress", options->how.compress, "Compress each block with Blosc");
    verb.flag("--big-endian", options->how.big_endian, "Write numbers in the opposite byte order");
    verb.option("--partitions", options->how.partitions,
                "Spread the ranks over so many files FILE#0, FILE#1, ..., and list them in FILE. 0: one file");
    verb.option("--threads", options->how.threads, "Use so many threads to read, check and write");
    verb.option("--memory", options->memory,
                "Use so much memory in all threads. With --compress each thread holds a block twice");
    verb.option("--wait", options->wait_seconds, "Wait so many seconds for the commit of the snapshot");
    verb.flag("--force", options->how.replace, "Replace FILE and its partitions");
    verb.flag("--background", options->background,
              "Continue as a background process (the GenericIO library uses this for the run FILE.forebay)");
    verb.flag("--keep", options->keep, "Keep the run FILE.forebay. By default it is removed when FILE is complete");
    verb.json(
        options->json,
        "  An object: stream, step, directory, files (names; FILE first), bytes (of the files), ranks, elements.\n");
    verb.examples(
        "  forebay export genericio /scratch/me/run7@499 m000.499\n  forebay export genericio /scratch/me/run7@last "
        "m000.last --compress --partitions 8 --threads 8\nEach rank of the snapshot becomes a rank of the file. The "
        "export compares every segment with its checksum.\nFILE is complete or absent: it is written as FILE.part, "
        "made durable, then renamed.\n");
    verb.action([options] {
        return options->background || is_of_its_run(*options) ? finish_run(*options, make) : make(*options);
    });
}

}  // namespace forebay::cli
