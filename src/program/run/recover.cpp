// forebay recover: finishes work that a crash left at the target.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/try.hpp"
#include "core/describe/conventions.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/target_store.hpp"
#include "core/terminal/json.hpp"
#include "core/terminal/say.hpp"
#include "core/terminal/words.hpp"
#include "path/agent/leftovers.hpp"
#include "path/agent/missing_views.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/run_lock.hpp"
#include "path/commit/unreadable.hpp"
#include "program/run_argument.hpp"
#include "program/snapshot_words.hpp"
#include "program/verbs.hpp"

namespace forebay::cli {

namespace {

using Outcome = commit::Recovered::Outcome;

struct RecoverArguments {
    std::string run;
    std::string staging = "/dev/shm";
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

// Leftovers and their results, as text and as JSON.
class RecoverReport {
public:
    void add(const commit::Recovered& recovered) {
        auto object = Json::object();
        object.set("stream", recovered.leftover.stream)
            .set("step", recovered.leftover.step)
            .set("directory", recovered.leftover.directory);
        object.set("snapshot_id", catalog::id_text(recovered.leftover.snapshot_id))
            .set("kind", name_of(recovered.leftover.kind));
        add(lines("{}: {}\n", recovered.leftover.stream, Message{recovered.text}), object,
            name_of_outcome(recovered.outcome), recovered.text, recovered.outcome != Outcome::incomplete);
    }
    void add(const agent::OwedView& view) {
        const auto kind =
            view.convention == Convention::plain ? "" : std::string(describe::known(view.convention).name) + " ";
        const auto text = view.outcome ? fmt::format("its {}view was missing, and is made.", kind)
                                       : fmt::format("it has no {}view: {}", kind, view.outcome.error().line());
        auto object = json_of(view.snapshot).set("kind", "view");
        // A missing view is no loss, because the snapshot exists.
        add(lines("{}: step {}: {}\n", view.snapshot.stream, view.snapshot.step, Message{text}), object,
            view.outcome ? "made" : "incomplete", text, true);
    }
    void add(const std::string& directory, const agent::Drained& drained, Outcome outcome) {
        if (drained.step < 0) return add(directory, drained.text, outcome);  // the spool
        const auto text = drained.committed ? "it was staged on this node and is now committed." +
                                                  (drained.text.empty() ? "" : "\n  " + drained.text)
                          : !drained.waiting
                              ? drained.text
                              : fmt::format("it is not committed: {}; {} {}.", drained.text,
                                            outcome == Outcome::removed ? "removed" : "staged in", drained.staged_path);
        auto object = Json::object();
        object.set("stream", drained.stream)
            .set("step", drained.step)
            .set("directory", directory)
            .set("kind", "staged");
        add(lines("{}: step {}: {}\n", drained.stream, drained.step, Message{text}), object, name_of_outcome(outcome),
            text, outcome != Outcome::incomplete);
    }
    void add(const std::string& directory, const std::string& text, Outcome outcome) {
        auto object = Json::object().set("directory", directory).set("kind", "staging");
        add(lines("{}: {}\n", directory, Message{text}), object, name_of_outcome(outcome), text,
            outcome != Outcome::incomplete);
    }
    void add(const std::vector<telemetry::SealedLeft>& left) {
        for (const auto& snapshot : left) {
            auto object = json_of(snapshot).set("kind", "sealed");
            const auto text = telemetry::text_of(snapshot);
            add(lines("{}\n", Message{text}), object, name_of_outcome(Outcome::incomplete), text, false);
        }
        if (!left.empty()) text_ += lines("  {}{}\n", next_label, Message{telemetry::next_of(left)});
    }
    void add(const Shown& line, Json& object, const char* outcome, const std::string& text, bool done) {
        text_ += line;
        array_.push(object.set("outcome", outcome).set("text", text));
        if (!done) exit_ = Exit::found;
    }
    Exit print(const RecoverArguments& options) const {
        if (options.json) array_.print();
        else if (text_.text.empty()) say("Nothing to recover in {}.\n", options.run);
        else say(text_);
        return exit_;
    }

private:
    Shown text_;
    Json array_ = Json::array();
    Exit exit_ = Exit::good;
};

// Locks the run's staging directories on this node, so that no process drains them while the locks are held. Returns
// `retry` with the directory if a process drains one, or drained one meanwhile: it may complete an incomplete snapshot.
Result<std::vector<sys::FileLock>> hold(const std::vector<std::string>& directories,
                                        const std::vector<agent::DrainedDirectory>& drained) {
    std::vector<sys::FileLock> locks;
    for (const auto& directory : directories) {
        const bool is_drained =
            std::ranges::find(drained, directory, &agent::DrainedDirectory::directory) != drained.end();
        auto lock = sys::FileLock::take(node::application_lock_path(directory));
        if (!lock && lock.error().kind == ErrorKind::missing) continue;  // the process that drained it has freed it
        if (!lock && lock.error().kind != ErrorKind::retry) return node::not_usable(directory, lock.error());
        if (!lock || !is_drained || sys::lock_is_held(node::agent_lock_path(directory)))
            return Error{ErrorKind::retry, directory};
        locks.push_back(std::move(*lock));
    }
    return locks;
}

// Reports leftovers of the run's dead sessions in this node's memory. If other nodes must complete a snapshot, its copy
// is kept, except with `stale`: the caller knows that they never will.
Result<> report_staged(const agent::DrainedDirectory& directory, bool stale, RecoverReport& report) {
    if (!directory.staged && directory.staged.error().kind != ErrorKind::missing) {
        report.add(directory.directory, directory.staged.error().line(), Outcome::incomplete);
        return {};
    }
    const std::vector<agent::Drained> none;
    const auto& staged = directory.staged ? *directory.staged : none;
    const bool useless =
        std::ranges::all_of(staged, [](const agent::Drained& copy) { return copy.committed || copy.waiting; });
    bool remove = stale && useless;
    if (remove) {
        const auto removed = node::remove_leftover(directory.directory);
        remove = removed || removed.error().kind != ErrorKind::refused;
        if (remove) FB_TRY(removed);
        else report.add(directory.directory, removed.error().line(), Outcome::incomplete);  // it changed meanwhile
    }
    for (const auto& copy : staged)
        if (!copy.committed || !copy.already)
            report.add(directory.directory, copy,
                       copy.committed ? Outcome::committed
                       : remove       ? Outcome::removed
                                      : Outcome::incomplete);
    if (remove)
        report.add(directory.directory, "a dead session left it in this node's memory. Removed.", Outcome::removed);
    else if (!directory.staged)
        report.add(directory.directory,
                   "its session was killed at its start. Nothing is staged there. --stale removes it.",
                   Outcome::incomplete);
    return {};
}

Result<Exit> recover(const RecoverArguments& options) {
    auto& store = sys::target_store();
    const auto match = find_run(store, options.run);
    if (!match) return with_staged(match.error(), options.staging, options.run);
    const auto& run = match->path;
    FB_TRY_ASSIGN(absolute, match->whole());
    // Sessions killed at their begin are reported too, and leftovers of another run at this path.
    FB_TRY_ASSIGN(directories, node::staging_directories_of(options.staging, absolute));
    FB_TRY_ASSIGN(run_id, catalog::identity_of(store, run));
    FB_TRY_ASSIGN(last_run_lock, catalog::run_lock_key(store, run));
    FB_TRY_ASSIGN(left, agent::find_leftovers(options.staging, absolute, run_id, last_run_lock));
    for (const auto& directory : left.own)
        if (std::ranges::find(directories, directory) == directories.end()) directories.push_back(directory);
    const auto make_view = view_maker();
    agent::LeftoverOptions how;
    how.moved_to = absolute;
    const auto staged = agent::drain_leftovers(directories, make_view, how);
    auto held = options.stale ? hold(directories, staged) : std::vector<sys::FileLock>();
    if (!held && held.error().kind != ErrorKind::retry) return held.error();
    const bool removes = options.stale && held;
    FB_TRY(commit::make_parts_of_unreadable(store, run));
    FB_TRY_ASSIGN(recovered, commit::recover(store, run, removes));
    RecoverReport report;
    if (!held)
        report.add(held.error().what,
                   "a session, an agent or another recover works there, so --stale removes nothing. Run this again "
                   "when it has ended.",
                   Outcome::incomplete);
    else held->clear();  // remove_leftover() takes these locks itself
    for (const auto& staged_save : staged) FB_TRY(report_staged(staged_save, removes, report));
    for (const auto& snapshot : recovered) report.add(snapshot);
    if (make_view) {
        FB_TRY_ASSIGN(views, agent::make_missing_views(store, run, recovered, make_view));
        for (const auto& view : views) report.add(view);
    }
    // Without a directory here, the session may have had another staging directory.
    std::vector<std::string> known;
    if (!directories.empty()) known.push_back(sys::host_name());
    FB_TRY_ASSIGN(elsewhere, telemetry::find_left_in_memory(store, absolute, sys::unix_ns(), known));
    if (removes) FB_TRY(telemetry::forget(store, elsewhere));
    else report.add(elsewhere);
    return report.print(options);
}

}  // namespace

void add_recover(CommandLine& line) {
    const auto options = std::make_shared<RecoverArguments>();
    auto verb = line.verb(
        "recover", "Finish the work of a crash, on the target and this node: commit complete snapshots, undo the rest");
    verb.argument("RUN", options->run, "The run's directory");
    verb.option("--staging", options->staging, "Look in this directory for staged copies of this node's sessions");
    verb.flag("--stale", options->stale,
              "Remove incomplete snapshots, and staged copies of dead sessions. Use it only if no agent drains into "
              "the run on any node");
    verb.json(options->json,
              "  An array with an object for each leftover: stream, step, directory, snapshot_id, kind (part, old, "
              "gone),\n  outcome (committed, restored, removed, incomplete), text; and one for each missing view: kind "
              "view, outcome\n  made or incomplete, no snapshot_id. For leftovers of dead sessions on this node: kind "
              "staged, its\n  staging directory, outcome committed, incomplete or removed, no snapshot_id; and kind "
              "staging, outcome\n  incomplete or removed, only directory and text. For a sealed snapshot that may be "
              "in the memory "
              "of other hosts:\n  kind sealed, stream, step, hosts, outcome incomplete.\n");
    verb.examples(
        "  forebay recover /scratch/me/run7\n  forebay recover /scratch/me/run7 --stale\nIf a manifest is missing or "
        "damaged and all node files are there, recover makes it again.\nWithout --stale the command is safe at any "
        "time, also while agents work. Exit code 1 if something is left undone.\n");
    verb.action([options] { return recover(*options); });
}

}  // namespace forebay::cli
