// forebay export plain, h5part, openpmd, netcdf: snapshots as one HDF5 file that holds its data itself.

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/units.hpp"
#include "cli/json.hpp"
#include "cli/progress.hpp"
#include "cli/sizes.hpp"
#include "cli/steps.hpp"
#include "cli/verbs.hpp"
#include "sys/machine.hpp"
#include "views/export.hpp"
#include "views/plain_outline.hpp"

namespace forebay::cli {

namespace {

struct Options {
    std::string place, file, memory, align = "1M", rate;
    int threads = 0;
    std::int64_t wait = 0;
    bool force = false;
    bool json = false;
};

Result<views::ExportOptions> options_of(const Options& given) {
    views::ExportOptions options{.replace = given.force, .threads = given.threads};
    if (given.threads < 0)
        return Error{ErrorKind::refused, fmt::format("--threads {}: at least 1, or 0 for as many as are good.\n  Next: "
                                                     "leave it out",
                                                     given.threads)};
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
    options.free_bytes = sys::free_bytes;
    return options;
}

void print(const Options& options, const char* convention, const std::vector<catalog::Snapshot>& snapshots,
           const views::Exported& done, double seconds) {
    if (options.json) {
        auto steps = Json::array();
        for (const auto& snapshot : snapshots) steps.push(snapshot.step);
        auto notes = Json::array();
        for (const auto& note : done.notes) notes.push(note);
        auto object = Json::object();
        object.set("path", options.file).set("convention", convention).set("stream", snapshots.front().stream);
        object.set("steps", steps).set("bytes", done.file_bytes).set("datasets", done.datasets);
        object.set("bytes_written", done.bytes_written).set("bytes_resumed", done.resumed_bytes);
        object.set("bytes_read", done.bytes_read).set("writes", done.writes).set("seconds", seconds);
        object.set("notes", notes).print();
        return;
    }
    auto text =
        fmt::format("{}  {}, {}@{}", options.file, convention, snapshots.front().stream, snapshots.front().step);
    if (snapshots.size() > 1) text += fmt::format("-{} ({} steps)", snapshots.back().step, snapshots.size());
    text += fmt::format(", {}", show_bytes(done.file_bytes));
    if (done.resumed_bytes > 0) text += fmt::format(", {} of it from a call before", show_bytes(done.resumed_bytes));
    text += "\n";
    for (const auto& note : done.notes) text += "note: " + note + "\n";
    std::fputs(text.c_str(), stdout);
}

Result<Exit> run(const Options& given, const char* convention, const views::MakeOutline& outline) {
    auto& store = sys::posix_store();
    FB_TRY_ASSIGN(options, options_of(given));
    FB_TRY_ASSIGN(snapshots, find_snapshots(store, given.place, std::chrono::seconds(given.wait)));
    const auto start = sys::Clock::now();
    FB_TRY_ASSIGN(done, [&] {
        Progress progress(fmt::format("{}@{}", snapshots.front().stream, snapshots.back().step), given.json);
        options.progress = [&](std::uint64_t bytes, std::uint64_t all) { progress.show(bytes, all); };
        return views::export_file(store, snapshots, outline, given.file, options);
    }());
    print(given, convention, snapshots, done, std::chrono::duration<double>(sys::Clock::now() - start).count());
    return Exit::good;
}

/// What all conventions have in common.
void add_common(Verb& verb, const std::shared_ptr<Options>& options) {
    verb.argument("RUN", options->place,
                  "RUN@STEP, or several steps: RUN/STREAM@all, RUN/STREAM@100-500, RUN/STREAM@100,200");
    verb.argument("FILE", options->file, "The file to make; its directory exists");
    verb.flag("--force", options->force, "Replace FILE, once the new one is whole");
    verb.option("--threads", options->threads, "Threads that copy; 0: one a CPU, up to 4");
    verb.option("--memory", options->memory, "Memory of the copying, as in 64M (the default) or 2G");
    verb.option("--align", options->align, "Datasets of this size begin at its multiples: the target's stripe");
    verb.option("--rate", options->rate, "Bytes a second at most, as in 500M");
    verb.option("--wait", options->wait, "Seconds to wait for steps that are not committed yet");
    verb.json(
        options->json,
        "  An object: path, convention, stream, steps (an array), bytes (of the file), datasets (whose data were\n"
        "  copied), bytes_written, bytes_resumed (written by a call that was killed), bytes_read (of node files),\n"
        "  writes, seconds, notes (texts).\n");
}

Result<views::Outline> plain(std::span<const views::Contents> contents) {
    if (contents.size() == 1) return views::plain_outline(contents.front());
    return Error{ErrorKind::refused,
                 "the plain convention has one step a file.\n  Next: one step, or forebay export "
                 "h5part, openpmd or netcdf"};
}

}  // namespace

void add_export_hdf5(Verb& parent) {
    const auto options = std::make_shared<Options>();
    auto verb = parent.verb("plain", "One HDF5 file of global arrays and tables, as forebay view shows them");
    add_common(verb, options);
    verb.examples(
        "  forebay export plain /scratch/me/run7@last out.h5\n"
        "  forebay export plain /scratch/me/run7@120 out.h5 --align 64M --memory 1G\n"
        "Every byte is checked against its checksum before it is written. FILE is whole or absent; a call that was\n"
        "killed goes on where it was when it is repeated.\n");
    verb.action([options] { return run(*options, "plain", plain); });
}

}  // namespace forebay::cli
