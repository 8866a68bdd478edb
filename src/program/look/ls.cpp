// forebay ls: prints one line for each snapshot and each leftover of a run. For a whole run, snapshots of states come
// first, and a stream of results or of packed files has one summary line.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/base/error_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/describe/analysis_list.hpp"
#include "core/describe/conventions.hpp"
#include "core/format/packed.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/far_module.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/table.hpp"
#include "core/terminal/words.hpp"
#include "path/agent/serve.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/marks.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "path/commit/gather.hpp"
#include "path/node/staging.hpp"
#include "path/node/watch.hpp"
#include "program/look/files.hpp"
#include "program/place.hpp"
#include "program/run/left_lines.hpp"
#include "program/snapshot_words.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

struct LsArguments {
    std::string place;
    std::string staging = "/dev/shm";
    bool json = false;
};

/// The lines of one stream, and their summary line.
struct StreamLines {
    std::vector<std::vector<std::string>> rows;
    bool is_result = false;
    std::uint64_t snapshots = 0, bytes = 0;
    std::int64_t first_step = 0, last_step = 0;
    std::map<std::string, std::uint64_t> states;  // number of lines with this state

    void add_step(std::int64_t step) {
        first_step = rows.empty() ? step : std::min(first_step, step);
        last_step = rows.empty() ? step : std::max(last_step, step);
    }
    void add(std::vector<std::string> row, const std::string& state) {
        rows.push_back(std::move(row));
        ++states[state];
    }
    std::string state() const {
        if (states.size() == 1) return states.begin()->first;
        std::string text;
        for (const auto& [state, count] : states)
            text += fmt::format("{}{} {}", text.empty() ? "" : "; ", count, state);
        return text;
    }
};

class Listing {
public:
    /// `sums_up`: streams of results and of packed files get one line.
    Listing(sys::Store& store, bool sums_up) : store_(store), sums_up_(sums_up) {}

    Result<> add_stream(const std::string& run, const std::string& stream, const std::optional<std::int64_t>& step);
    /// Adds the run's snapshots in this node's memory, and whether a session is alive.
    Result<> add_staged(const std::string& staging, const std::string& run);
    /// Adds sealed snapshots that may be in the memory of other hosts, or of this host in another staging directory.
    Result<> add_left(const std::string& run);
    void print(bool json, const Place& place) const;
    Exit exit() const { return unreadable_ ? Exit::found : Exit::good; }

private:
    enum class Standing { living, abandoned, foreign };
    Result<> add(const catalog::Version& version, Standing standing);
    Result<> add(const catalog::Leftover& leftover);
    /// The first existing view beside a snapshot, in the order of the conventions.
    std::optional<std::string> view_of(const catalog::Snapshot& snapshot) const;
    bool is_of_another_run(const std::string& directory, const std::string& run) const;
    void explain(const std::string& run, const std::string& stream, const catalog::History& history);

    sys::Store& store_;
    bool sums_up_;
    bool is_staged_here_ = false;  // this node has a staging directory of the run
    StreamLines lines_;            // of the present stream
    Table table_{{{"stream"},
                  {"step", true},
                  {"time", true},
                  {"bytes", true},
                  {"nodes", true},
                  {"line", true},
                  {"state"},
                  {"view"}}};
    Table sums_{{{"stream"}, {"snapshots", true}, {"steps"}, {"bytes", true}, {"holds"}, {"state"}}};
    Shown notes_;                  // below the tables
    std::set<std::string> names_;  // of the present stream
    Json array_ = Json::array();
    bool unreadable_ = false;
};

Result<> Listing::add(const catalog::Version& version, Standing standing) {
    const auto& snapshot = version.snapshot;
    auto object = json_of(snapshot);
    auto manifest = version.readable ? catalog::load_manifest(store_, snapshot.directory)
                                     : Result<format::Manifest>(version.readable.error());
    if (manifest)
        if (const auto placed = catalog::check_place(*manifest, snapshot); !placed) manifest = placed.error();
    if (!manifest && manifest.error().kind == ErrorKind::missing) {
        FB_TRY_ASSIGN(removed, catalog::is_removed(store_, snapshot.directory, version.head.snapshot_id));
        if (removed) return {};  // removed since it was listed
    }
    if (!manifest) {
        unreadable_ = true;
        const auto state = "manifest " + std::string(forebay::name_of(manifest.error().kind));
        lines_.add_step(snapshot.step);
        lines_.add({snapshot.stream, fmt::to_string(snapshot.step), "", "", "", "", state, ""}, state);
        notes_ += lines("{}\n", Message{manifest.error().line()});
        array_.push(object.set("state", "unreadable").set("error", json_of(manifest.error())));
        return {};
    }
    const auto files = catalog::check_files(store_, snapshot.directory, *manifest);
    if (!files && files.error().kind == ErrorKind::missing) {
        FB_TRY_ASSIGN(removed, catalog::is_removed(store_, snapshot.directory, manifest->snapshot_id));
        if (removed) return {};
    }
    lines_.is_result |= describe::is_result(manifest->schema);
    const auto view = view_of(snapshot);
    std::uint64_t data_bytes = 0, file_bytes = 0;
    for (const auto& line : manifest->nodes) {
        data_bytes += line.data_bytes;
        file_bytes += line.file_bytes;
    }
    const char* state = standing == Standing::living      ? "committed"
                        : standing == Standing::abandoned ? "abandoned"
                                                          : "of another run";
    const auto line = format::name_of(manifest->lineage.line());
    lines_.add_step(snapshot.step);
    ++lines_.snapshots;
    lines_.bytes += data_bytes;
    const auto found_marks = catalog::marks_of(store_, snapshot.directory, *manifest);
    const auto marks = found_marks ? *found_marks : manifest->marks;
    for (const auto& mark : marks)
        notes_ += lines("{} is marked: {}\n", place_text(snapshot), Message{format::words_of(mark)});
    std::string words = state;
    if (!marks.empty()) words += ", marked";
    if (const auto fault = !files ? files : found_marks ? Result<>() : found_marks.error(); !fault) {
        unreadable_ = true;
        words += files                                      ? ", mark unreadable"
                 : fault.error().kind == ErrorKind::missing ? ", file missing"
                                                            : ", cannot be read";
        notes_ += lines("{}: {}\n", place_text(snapshot), Message{fault.error().line()});
        object.set("error", json_of(fault.error()));
    }
    lines_.add({snapshot.stream, fmt::to_string(snapshot.step), fmt::format("{:g}", manifest->time),
                show_bytes(data_bytes), fmt::to_string(manifest->nodes.size()), line, words, view ? "yes" : "no"},
               words);
    object.set("state", standing == Standing::foreign ? "foreign" : state)
        .set("time", manifest->time)
        .set("bytes", data_bytes)
        .set("file_bytes", file_bytes);
    object.set("nodes", manifest->nodes.size())
        .set("ranks", manifest->world_ranks)
        .set("sealed_unix_ns", manifest->sealed_unix_ns);
    object.set("snapshot_id", catalog::id_text(manifest->snapshot_id)).set("line", line);
    if (manifest->lineage.run_id != 0) object.set("run_id", catalog::id_text(manifest->lineage.run_id));
    if (view) object.set("view", *view);
    if (!marks.empty()) object.set("marks", json_of(marks));
    array_.push(object);
    return {};
}

std::optional<std::string> Listing::view_of(const catalog::Snapshot& snapshot) const {
    for (const auto& known : describe::known_conventions) {
        auto path = snapshot.directory + known.suffix;  // catalog::view_name() beside the directory
        if (names_.contains(path.substr(path.rfind('/') + 1))) return path;
    }
    return std::nullopt;
}

// Explains the lines, and what happens to abandoned snapshots.
void Listing::explain(const std::string& run, const std::string& stream, const catalog::History& history) {
    for (const auto& text : left_lines(run, stream, history)) notes_ += lines("{}\n", Message{text});
    if (!history.foreign.empty())
        notes_ += lines("{}: {} snapshots are of another run, and restarts ignore them. {}forebay adopt {}\n", stream,
                        history.foreign.size(), next_label, history.foreign.front().snapshot.directory);
}

Result<> Listing::add(const catalog::Leftover& leftover) {
    auto object = Json::object();
    object.set("stream", leftover.stream).set("step", leftover.step).set("directory", leftover.directory);
    object.set("state", name_of(leftover.kind)).set("snapshot_id", catalog::id_text(leftover.snapshot_id));
    std::string nodes;
    std::string state = leftover.kind == catalog::Leftover::Kind::old ? "being replaced, or left by a crash"
                                                                      : "being removed, or left by a crash";
    if (leftover.kind == catalog::Leftover::Kind::part) {
        state = "draining, or left by a crash";
        const auto arrived = commit::look_at_part(store_, leftover.directory);
        // It may have been committed since it was listed. The error shows that, and the next ls shows the snapshot.
        if (arrived) {
            nodes = fmt::format("{} of {}", arrived->files, arrived->nodes ? fmt::to_string(*arrived->nodes) : "?");
            object.set("nodes_arrived", arrived->files);
            if (arrived->nodes) object.set("nodes", *arrived->nodes);
        } else {
            nodes = "?";
            object.set("error", json_of(arrived.error()));
        }
    }
    lines_.add_step(leftover.step);
    lines_.add({leftover.stream, fmt::to_string(leftover.step), "", "", nodes, "", state, ""}, state);
    array_.push(object);
    return {};
}

Result<> Listing::add_stream(const std::string& run, const std::string& stream,
                             const std::optional<std::int64_t>& step) {
    FB_TRY_ASSIGN(leftovers, catalog::leftovers(store_, run, stream));
    FB_TRY_ASSIGN(history, catalog::history(store_, run, stream));
    FB_TRY_ASSIGN(entries, catalog::list_stream(store_, run, stream));
    lines_ = {};
    names_.clear();
    for (auto& entry : entries) names_.insert(std::move(entry.name));
    // Both lists fall by step. A snapshot being drained comes before the snapshot that it will replace.
    auto leftover = leftovers.begin();
    auto version = history.living.begin();
    while (leftover != leftovers.end() || version != history.living.end()) {
        const bool first =
            version == history.living.end() || (leftover != leftovers.end() && leftover->step >= version->head.step);
        const auto at = first ? leftover->step : version->head.step;
        const bool wanted = !step || at == *step;
        if (first) {
            if (wanted) FB_TRY(add(*leftover));
            ++leftover;
        } else {
            if (wanted) FB_TRY(add(*version, Standing::living));
            ++version;
        }
    }
    for (const auto& entry : history.abandoned)
        if (!step || entry.head.step == *step) FB_TRY(add(entry, Standing::abandoned));
    for (const auto& entry : history.foreign)
        if (!step || entry.head.step == *step) FB_TRY(add(entry, Standing::foreign));
    const auto dot = stream.rfind('.');
    const bool is_result = lines_.is_result && dot != std::string::npos;
    if (sums_up_ && (is_result || format::is_packed_stream(stream)) && !lines_.rows.empty()) {
        sums_.row({stream, fmt::to_string(lines_.snapshots),
                   lines_.first_step == lines_.last_step ? fmt::to_string(lines_.last_step)
                                                         : fmt::format("{} to {}", lines_.first_step, lines_.last_step),
                   show_bytes(lines_.bytes), is_result ? "results of " + stream.substr(0, dot) : "packed files",
                   lines_.state()});
        return {};
    }
    for (auto& row : lines_.rows) table_.row(std::move(row));
    explain(run, stream, history);
    if (is_result)
        notes_ += lines("{}: results of analysis '{}' of stream '{}'. {}forebay plot {}/{}\n", stream,
                        stream.substr(dot + 1), stream.substr(0, dot), next_label, run, stream);
    return {};
}

// A directory that cannot be compared counts as the run's own.
bool Listing::is_of_another_run(const std::string& directory, const std::string& run) const {
    const auto session = agent::session_of(directory);
    const auto identity = catalog::identity_of(store_, run);
    return session && identity && session->run_id != 0 && session->run_id != *identity;
}

Result<> Listing::add_staged(const std::string& staging, const std::string& run) {
    FB_TRY_ASSIGN(whole, sys::whole_place(run));
    const auto directories = node::staging_directories_of(staging, whole);
    // A host that never ran a simulation has no such directory.
    if (!directories && directories.error().kind == ErrorKind::missing) return {};
    if (!directories) return directories.error();
    is_staged_here_ = !directories->empty();
    std::string next;
    for (const auto& directory : *directories) {
        const auto application = sys::lock_state(node::application_lock_path(directory));
        const auto agent = application ? sys::lock_state(node::agent_lock_path(directory)) : application;
        auto object = Json::object().set("state", "staged").set("directory", directory);
        if (!agent) {
            unreadable_ = true;
            notes_ += lines("On this node: {}, which cannot be read: {}\n", directory, Message{agent.error().line()});
            array_.push(object.set("error", json_of(agent.error())));
            continue;
        }
        const bool is_served = *application || *agent;
        const bool is_done = !is_served && !node::may_hold_uncommitted(directory);
        if (!is_served && !is_done && is_of_another_run(directory, run)) {
            notes_ += lines(
                "On this node: {}, staged for another run that was at this path.\n  {}forebay drain {} --into NEW-RUN "
                "keeps it, --drop removes it\n",
                directory, next_label, directory);
            array_.push(object.set("served", false));
            continue;
        }
        notes_ += lines("On this node: {}, {}.\n", directory,
                        *application ? "in use by a running session"
                        : *agent     ? "left by a session that has ended. Its agent still works"
                        : is_done    ? "left by a session that has ended. Everything is committed"
                                     : "left by a session that has ended");
        array_.push(object.set("served", is_served));
        if (!is_served && !is_done) next = "forebay recover " + run;
        else if (is_done && next.empty()) next = fmt::format("forebay drain {} frees the memory", directory);
    }
    if (!next.empty()) notes_ += lines("  {}{}\n", next_label, Message{next});
    return {};
}

Result<> Listing::add_left(const std::string& run) {
    using Hosts = std::vector<std::string>;
    // Without a directory here, the session may have had another staging directory.
    FB_TRY_ASSIGN(left, telemetry::find_left_in_memory(store_, run, sys::unix_ns(),
                                                       is_staged_here_ ? Hosts{sys::host_name()} : Hosts{}));
    for (const auto& snapshot : left) {
        notes_ += lines("{}\n", Message{telemetry::text_of(snapshot)});
        array_.push(json_of(snapshot).set("state", "sealed"));
    }
    if (!left.empty()) notes_ += lines("  {}{}\n", next_label, Message{telemetry::next_of(left)});
    return {};
}

void Listing::print(bool json, const Place& place) const {
    if (json) return array_.print();
    if (!table_.empty()) say(table_.text());
    else if (sums_.empty()) say("{} holds no snapshot.\n", place.run);
    if (!sums_.empty()) {
        if (!table_.empty()) say("\n");
        say(sums_.text());
        say("  {}forebay ls {}/STREAM lists all of a stream. forebay plot draws results. forebay extract writes packed "
            "files.\n",
            next_label, place.run);
    }
    say(notes_);
}

Result<Exit> list(const LsArguments& options) {
    auto& store = sys::target_store();
    FB_TRY_ASSIGN(kind, kind_of_file(store, options.place));
    if (kind) return list_file(store, *kind, {.path = options.place, .json = options.json});
    auto match = find_place(store, options.place);
    if (!match) return with_staged(match.error(), options.staging, options.place);
    const auto& place = *match;
    auto step = place.step;
    if (place.last) {
        FB_TRY_ASSIGN(snapshot, one_snapshot(store, place));
        step = snapshot.step;
    }
    Listing listing(store, !place.stream_named && !step && !options.json);
    for (const auto& stream : place.streams) FB_TRY(listing.add_stream(place.run, stream, step));
    if (!step) {
        FB_TRY(listing.add_staged(options.staging, place.run));
        FB_TRY(listing.add_left(place.run));
    }
    listing.print(options.json, place);
    return listing.exit();
}

}  // namespace

void add_ls(CommandLine& line) {
    const auto options = std::make_shared<LsArguments>();
    auto verb = line.verb("ls", "List the snapshots of a run, newest first, and the leftovers of a crash");
    verb.argument("RUN", options->place, "RUN, RUN/STREAM, or one step: RUN@120. Or a GenericIO or HDF5 file");
    verb.option("--staging", options->staging, "Look in this directory for staged copies of this node's sessions");
    verb.json(options->json,
              "  An array with an object for each snapshot: stream, step, directory, state, time, bytes (the "
              "application's),\n  file_bytes (on storage), nodes, ranks, sealed_unix_ns, snapshot_id, line (\"5\": "
              "saved by session 5), run_id,\n  view (a path, if there is a view), marks (if there are any: analysis, "
              "condition, result, value). state:\n  committed; abandoned: the run has gone back behind it; foreign: of "
              "another run; each of them with error if a\n  node file is missing, or a file or mark cannot be read; "
              "unreadable (error: kind, what, safe, next, text); part\n  (nodes_arrived of nodes), old or gone: left "
              "by a crash, or in progress. Then one for each directory of the run\n  in this node's memory: state "
              "staged, directory, served (true if its session or agent runs), or error, if this is\n  unknown. Then "
              "one for each sealed snapshot that may be in the memory of other hosts: state "
              "sealed, stream, step,\n  hosts. For a GenericIO file: file, format, big_endian, ranks, dims, elements, "
              "partitions, bytes, compression,\n  "
              "variables. For an HDF5 file: file, format, said, steps, bytes, datasets, unreadable.\n");
    verb.examples(
        "  forebay ls /scratch/me/run7\n  forebay ls /scratch/me/run7/restart --json\nA stream of results or of packed "
        "files has one line in the list of a run. RUN/STREAM and --json list all of it.\nls checks that all node files "
        "of a snapshot exist, and opens the first. It reads no data: use forebay verify.\nExit code 1 if a manifest, a "
        "node file, or an object of an HDF5 file is missing or cannot be read.\n");
    verb.action([options] { return list(*options); });
}

}  // namespace forebay::cli
