// forebay prune: removes old snapshots and counts only whole snapshots; or removes steps above a step, or a line.

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <memory>
#include <optional>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/format/packed.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/log.hpp"
#include "core/terminal/progress.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/held_run_lock.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/views.hpp"
#include "program/place.hpp"
#include "program/snapshot_words.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

constexpr std::int64_t not_given = -1;

struct PruneArguments {
    std::string place;
    std::int64_t keep = not_given;
    std::int64_t above = not_given;
    std::string line;
    bool trust = false;
    bool dry_run = false;
    bool json = false;
};

Json json_of_all(const std::vector<catalog::Snapshot>& snapshots) {
    auto array = Json::array();
    for (const auto& snapshot : snapshots) array.push(json_of(snapshot));
    return array;
}

Json json_of_removed(const catalog::Pruned& pruned) {
    auto array = Json::array();
    for (std::size_t i = 0; i < pruned.removed.size(); ++i)
        array.push(json_of(pruned.removed[i]).set("why", pruned.reasons[i]));
    return array;
}

/// Reads snapshots to verify them, and counts the bytes.
class Reading {
public:
    explicit Reading(sys::Store& store, bool quiet) : store_(store), quiet_(quiet) {}

    Result<> prove(const catalog::Snapshot& snapshot) {
        Progress progress("read", quiet_);
        FB_TRY_ASSIGN(verified, catalog::verify(store_, snapshot, [&](std::uint64_t bytes, std::uint64_t of_bytes) {
                          progress.show(bytes, of_bytes);
                      }));
        bytes_ += verified.bytes;
        ++snapshots_;
        if (verified.damage.empty()) return {};
        return Error{ErrorKind::corrupt, "it is damaged: " + verified.damage.front().text, "",
                     fmt::format("forebay verify {}", snapshot.directory)};
    }

    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t snapshots() const { return snapshots_; }

private:
    sys::Store& store_;
    const bool quiet_;
    std::uint64_t bytes_ = 0, snapshots_ = 0;
};

void say_of(const catalog::Pruned& pruned, const std::string& run, const std::string& stream,
            const PruneArguments& options) {
    const bool dry_run = options.dry_run;
    if (pruned.removed.empty() && !options.line.empty())
        say("{}: line {} has no snapshot, and {} no more\n", stream, options.line, dry_run ? "would count" : "counts");
    const auto name = [&](const catalog::Snapshot& snapshot) {
        const auto own = leaf_of(snapshot.directory);
        return catalog::aside_of(own) ? fmt::format("{}/{}", stream, own) : fmt::format("{}@{}", stream, snapshot.step);
    };
    for (const auto& snapshot : pruned.kept) say("{}  kept\n", name(snapshot));
    for (std::size_t i = 0; i < pruned.removed.size(); ++i)
        say("{}  {}: {}\n", name(pruned.removed[i]), dry_run ? "would be removed" : "removed", pruned.reasons[i]);
    for (const auto& problem : pruned.problems) say("{}: {}\n", stream, Message{problem});
    for (const auto& path : pruned.others) say("{}.\n", catalog::stays_text(path));
    if (!pruned.left_by) return;
    say("{}: no living snapshot is left, and a restart finds none.", stream);
    if (pruned.left_by->session != 0)
        say(" Line {} abandoned the rest. forebay prune {}/{} --line {} gives that line up too.",
            format::name_of(*pruned.left_by), run, stream, format::name_of(*pruned.left_by));
    say("\n");
}

/// The inverse of format::name_of(Line).
std::optional<format::Line> line_in(const std::string& text) {
    format::Line line;
    const auto* end = text.data() + text.size();
    const auto session = std::from_chars(text.data(), end, line.session);
    if (session.ec != std::errc{}) return {};
    if (session.ptr != end && *session.ptr == '.') {
        const auto turn = std::from_chars(session.ptr + 1, end, line.turn);
        if (turn.ec != std::errc{} || turn.ptr != end) return {};
    } else if (session.ptr != end) {
        return {};
    }
    return line;
}

Result<> check(const PruneArguments& options) {
    const int given = (options.keep != not_given) + (options.above != not_given) + !options.line.empty();
    const auto next = fmt::format("forebay prune {} --keep 3 --dry-run", options.place);
    if (given != 1)
        return Error{ErrorKind::refused,
                     given == 0 ? "prune needs a choice: --keep N, --above STEP or --line LINE"
                                : "give only one of --keep, --above and --line",
                     "all snapshots", next};
    if (options.keep != not_given && (options.keep < 1 || options.keep > std::numeric_limits<int>::max()))
        return Error{ErrorKind::refused, fmt::format("--keep {}: at least 1 snapshot must stay", options.keep), "",
                     next};
    if (options.trust && options.keep == not_given)
        return Error{ErrorKind::refused, "--trust works only with --keep", "", next};
    if (!options.line.empty() && !line_in(options.line))
        return Error{ErrorKind::refused,
                     fmt::format("--line {}: write a line as forebay ls does, as in 5 or 5.1", options.line), "", next};
    return {};
}

Result<catalog::Pruned> prune_stream(sys::Store& store, const PruneArguments& options, const std::string& run,
                                     const std::string& stream, std::uint32_t session, Reading& reading) {
    if (options.keep != not_given) {
        catalog::Retention what{.keep = static_cast<int>(options.keep), .dry_run = options.dry_run};
        if (!options.trust) what.proof = [&](const catalog::Snapshot& snapshot) { return reading.prove(snapshot); };
        return catalog::prune(store, run, stream, what);
    }
    return options.line.empty() ? catalog::prune_above(store, run, stream, options.above, session, options.dry_run)
                                : catalog::prune_line(store, run, stream, *line_in(options.line), options.dry_run);
}

Result<Exit> prune(const PruneArguments& options) {
    FB_TRY(check(options));
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(place, find_place(store, options.place));
    if (place.names_snapshot())
        return Error{ErrorKind::refused, fmt::format("prune needs a run or a stream, not one step: {}", options.place),
                     "", fmt::format("forebay prune {} --keep 3 --dry-run", place.run)};
    // The run lock is needed from the first look to the last removal: a session that starts meanwhile could continue
    // from a step that is being removed.
    std::unique_ptr<catalog::HeldRunLock> held;
    if (options.keep == not_given && !options.dry_run && !place.streams.empty()) {
        FB_TRY_ASSIGN(taken, catalog::HeldRunLock::take(store, place.run, log_to_errors()));
        held = std::move(taken);
    }
    const auto session = held ? held->session() : 0;
    auto array = Json::array();
    auto exit = Exit::good;
    Result<> nothing;
    bool any = false;
    Reading reading(store, options.json);
    for (const auto& stream : place.streams) {
        // Each batch holds other files. An old batch is no older state.
        if (!place.stream_named && format::is_packed_stream(stream)) continue;
        const auto pruned = prune_stream(store, options, place.run, stream, session, reading);
        // Some streams may lack the line.
        if (!pruned && !options.line.empty() && pruned.error().kind == ErrorKind::missing) {
            nothing = pruned.error();
            continue;
        }
        FB_TRY(pruned ? Result<>() : Result<>(pruned.error()));
        any = true;
        if (!pruned->problems.empty()) exit = Exit::found;
        if (!options.json) say_of(*pruned, place.run, stream, options);
        auto problems = Json::array(), others = Json::array();
        for (const auto& problem : pruned->problems) problems.push(problem);
        for (const auto& path : pruned->others) others.push(path);
        auto object = Json::object();
        object.set("stream", stream).set("dry_run", options.dry_run).set("kept", json_of_all(pruned->kept));
        object.set("removed", json_of_removed(*pruned)).set("problems", problems).set("others", others);
        object.set("nothing_living", pruned->left_by.has_value());
        array.push(object);
    }
    if (!any) FB_TRY(nothing);
    if (options.json) array.print();
    else if (reading.snapshots() > 0)
        say("read to find out which snapshots are whole: {} in {}\n", show_bytes(reading.bytes()),
            show_count(reading.snapshots(), "snapshot"));
    return exit;
}

}  // namespace

void add_prune(CommandLine& line) {
    const auto options = std::make_shared<PruneArguments>();
    auto verb = line.verb("prune", "Remove old snapshots, and keep only whole snapshots");
    verb.argument("RUN", options->place, "RUN for all its streams except packed files, or RUN/STREAM");
    verb.number("--keep", options->keep, "Keep so many whole snapshots of each stream (at least 1)");
    verb.number("--above", options->above,
                "Go back for good: remove all snapshots of the current line above this step");
    verb.option("--line", options->line,
                "Give this line up if the run is on it. Otherwise remove the snapshots of it that the run has left");
    verb.flag("--trust", options->trust,
              "With --keep: read no data. A snapshot counts if its files have not changed since the commit");
    verb.flag("--dry-run", options->dry_run, "Remove nothing. Print what would be removed, and why");
    verb.json(options->json,
              "  An array with an object for each stream: stream, dry_run, kept, removed (arrays of stream, step, "
              "directory;\n  of removed also why), problems (texts: snapshots that do not count, and why), others "
              "(paths of files that have\n  names of views but are not views: they stay), nothing_living (true: after "
              "--line a restart finds no snapshot).\n");
    verb.examples(
        "  forebay prune /scratch/me/run7 --keep 3 --dry-run\n  forebay prune /scratch/me/run7/particles --keep 1\n  "
        "forebay prune /scratch/me/run7 --above 300\nBefore --keep removes anything, it reads every byte of the "
        "snapshots to keep, and counts only whole snapshots.\nSo it reads as many bytes as --keep snapshots have. With "
        "fewer than --keep whole snapshots nothing of the\ncurrent line is removed. Abandoned snapshots go when --keep "
        "whole snapshots came after the run left them.\n--above and --line are refused while a session writes the "
        "run.\nViews of removed snapshots go with them. A file with the name of a view but with its own data, such as "
        "an\nexport, stays and is listed. Exit code 1 if a snapshot is not whole.\n");
    verb.action([options] { return prune(*options); });
}

}  // namespace forebay::cli
