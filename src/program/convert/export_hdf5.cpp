// forebay export plain, h5part, ...: writes snapshots as one HDF5 file with its own data.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <span>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/describe/conventions.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/sizes.hpp"
#include "insight/views/export.hpp"
#include "program/steps.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct ExportArguments {
    std::string place, file, table, describe, memory, align = "1M", rate;
    int threads = 0;
    std::int64_t wait = 0;
    bool renumber = false;
    bool force = false;
    bool json = false;
};

Result<views::ExportOptions> options_of(const ExportArguments& given) {
    views::ExportOptions options{.replace = given.force, .threads = given.threads};
    if (given.threads < 0)
        return Error{ErrorKind::refused,
                     fmt::format("--threads {}: use 1 or more, or 0 for the default", given.threads), "",
                     "leave it out"};
    FB_TRY_ASSIGN(align, bytes_from("--align", given.align));
    options.alignment_bytes = align;
    if (!given.memory.empty()) {
        FB_TRY_ASSIGN(memory, bytes_from("--memory", given.memory));
        options.memory_bytes = memory;
    }
    if (!given.rate.empty()) {
        FB_TRY_ASSIGN(rate, bytes_from("--rate", given.rate));
        options.rate_bytes_per_second = rate;
    }
    options.description = given.describe;
    options.free_bytes = sys::free_bytes;
    return options;
}

void print(const ExportArguments& options, const char* convention, const std::vector<catalog::Snapshot>& snapshots,
           const views::Exported& done, double seconds) {
    if (options.json) {
        auto steps = Json::array(), notes = Json::array(), omitted = Json::array();
        for (const auto& snapshot : snapshots) steps.push(snapshot.step);
        for (const auto& note : done.notes) notes.push(note);
        for (const auto& omission : done.omitted)
            omitted.push(Json::object().set("what", omission.what).set("reason", omission.reason));
        auto object = Json::object();
        object.set("path", options.file).set("as", convention).set("stream", snapshots.front().stream);
        object.set("steps", steps).set("bytes", done.file_bytes).set("datasets", done.datasets);
        object.set("bytes_written", done.bytes_written).set("bytes_resumed", done.resumed_bytes);
        object.set("bytes_read", done.bytes_read).set("writes", done.writes).set("seconds", seconds);
        object.set("notes", notes).set("not_exported", omitted).print();
        return;
    }
    auto text = lines("{}  {}, {}@{}", options.file, convention, snapshots.front().stream, snapshots.front().step);
    if (snapshots.size() > 1) text += lines(" to {} ({} steps)", snapshots.back().step, snapshots.size());
    text += lines(", {}", show_bytes(done.file_bytes));
    if (done.resumed_bytes > 0) text += lines(", {} of it from an earlier call", show_bytes(done.resumed_bytes));
    text += lines("\n");
    for (const auto& note : done.notes) text += lines("note: {}\n", Message{note});
    for (const auto& omission : done.omitted)
        text += lines("  not exported: {}: {}\n", omission.what, Message{omission.reason});
    say(text);
}

Result<Exit> run(const ExportArguments& given, Convention convention) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(options, options_of(given));
    FB_TRY_ASSIGN(steps, find_steps(store, given.place, std::chrono::seconds(given.wait)));
    if (convention == Convention::plain && steps.is_series)
        return Error{ErrorKind::refused, "the plain convention holds one step a file", "",
                     fmt::format("give one step, or use forebay export {}",
                                 describe::convention_names(std::span(describe::known_conventions).subspan<1>()))};
    const outline::Wish wish{.convention = convention,
                             .is_series = steps.is_series,
                             .table = given.table,
                             .renumber = given.renumber,
                             .file_name = {}};
    const auto start = sys::Clock::now();
    FB_TRY_ASSIGN(done, [&] {
        Progress progress(fmt::format("{}@{}", steps.snapshots.front().stream, steps.snapshots.back().step),
                          given.json);
        options.progress = [&](std::uint64_t bytes, std::uint64_t all) { progress.show(bytes, all); };
        return views::export_file(store, steps.snapshots, wish, given.file, options);
    }());
    print(given, describe::known(convention).name, steps.snapshots, done,
          std::chrono::duration<double>(sys::Clock::now() - start).count());
    return Exit::good;
}

void add_convention(Verb& parent, const describe::KnownConvention& known) {
    const auto convention = known.convention;
    const auto options = std::make_shared<ExportArguments>();
    const bool is_plain = convention == Convention::plain;
    auto verb = parent.verb(known.name, known.summary);
    verb.argument("RUN", options->place,
                  is_plain ? "The snapshot: RUN@STEP or RUN/STREAM@STEP. STEP may be \"last\""
                           : "RUN@STEP, or several steps: RUN/STREAM@all, RUN/STREAM@100-500, RUN/STREAM@100,200");
    verb.argument("FILE", options->file, "The file to make. Its directory must exist");
    verb.flag("--force", options->force,
              "Replace FILE when the new file is whole. An input of the export is never replaced");
    if (convention == Convention::h5part) {
        verb.option("--table", options->table, "Export this particle table, if there are several");
        verb.flag("--renumber", options->renumber, "Call the steps Step#0, Step#1, ..., as ParaView requires");
    }
    verb.option("--describe", options->describe,
                "Read units, grids and names of variables from this file, not from describe.toml of the stream");
    verb.option("--threads", options->threads, "Copy with so many threads. 0: one a CPU, up to 4");
    verb.option("--memory", options->memory, "Use so much memory, as in 2G. Default: 64M");
    verb.option("--align", options->align,
                "Align datasets of this size or more to its multiples. Use the stripe of the target");
    verb.option("--rate", options->rate, "Limit the rate to so many bytes a second, as in 500M");
    verb.option("--wait", options->wait, "Wait so many seconds for the commit of the steps");
    verb.json(options->json,
              "  An object: path, as, stream, steps (an array), bytes (of the file), datasets (copied),\n  "
              "bytes_written, bytes_resumed (written by an earlier call that was killed), bytes_read (of node files), "
              "writes,\n  seconds, notes (texts), not_exported (array of: what, reason).\n");
    verb.examples(
        (is_plain ? "  forebay export plain /scratch/me/run7@last out.h5\n"
                    "  forebay export plain /scratch/me/run7@120 out.h5 --align 64M --memory 1G\n"
                  : fmt::format("  forebay export {0} /scratch/me/run7/fields@all out{1}\n"
                                "  forebay export {0} /scratch/me/run7/fields@100-500 out{1} --align 64M\n",
                                known.name, known.suffix)) +
        "The export checks every byte against its checksum before it writes it. FILE is whole or absent. After a "
        "kill,\nrepeat the same call: it continues. FILE must lie outside the directories of snapshots. In the "
        "directory of\nthe stream it stays when the snapshots go, even under the name of a view.\n");
    verb.action([options, convention] { return run(*options, convention); });
}

}  // namespace

void add_export_hdf5(Verb& parent) {
    for (const auto& known : describe::known_conventions) add_convention(parent, known);
}

}  // namespace forebay::cli
