// Moments at which a run is not as its sessions left it: a part is unreadable for a while, all snapshots are marked, a
// directory is misplaced, or a copy is written over the run.

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "campaign/acts.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/store.hpp"
#include "forebay/forebay.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/marks.hpp"
#include "path/catalog/names.hpp"

namespace forebay::campaign {

namespace {

const format::Mark mark_of_all{.analysis = "", .condition = "somebody distrusts it", .result = "", .value = 0};

/// All snapshots of the run at the target, living and abandoned.
std::vector<catalog::Version> versions_at(const std::string& run) {
    const auto history = catalog::history(sys::posix_store(), run, stream_name);
    std::vector<catalog::Version> all;
    if (!history) return all;
    for (const auto* list : {&history->living, &history->abandoned}) all.insert(all.end(), list->begin(), list->end());
    return all;
}

/// The exit code of the program, without its output. -1 if it is not built.
int forebay(const std::string& arguments) {
    const auto program = fs::path(sys::own_object_path()).parent_path().parent_path() / "bin" / "forebay";
    if (!fs::exists(program)) return -1;
    return WEXITSTATUS(std::system((program.string() + " " + arguments + " > /dev/null 2>&1").c_str()));
}

}  // namespace

// The directory of the newest snapshot that a restart must take; "" if there is none.
std::string Program::newest_needed() const {
    const auto living = model_.living();
    if (pending_ || living.empty() || model_.may_be_gone(living.rbegin()->second)) return {};
    return fmt::format("{}/{}/{}", run_, stream_name, catalog::step_name(living.rbegin()->first));
}

// The restart must fail. It must neither go back nor start from the beginning.
void Program::unreadable() {
    const auto directory = newest_needed();
    if (directory.empty()) return;
    const auto how = below(4);
    const char* const names[] = {"its manifest is a link to itself", "a node file is away", "it is a link to nothing",
                                 "the stream is not mounted"};
    const std::string path[] = {directory + "/manifest.json", directory + "/node-00000.h5", directory,
                                run_ + "/" + stream_name};
    act(fmt::format("{} cannot be read: {}", directory, names[how]));
    const auto away = base_ / fmt::format("away-{}", ++number_);
    fs::rename(path[how], away);
    if (how != 1) fs::create_symlink(how == 0 ? path[how] : away + "-not", path[how]);
    {
        auto session = Session::open(options());
        auto stream = session ? session->stream(stream_name, {.slots = slots, .keep = keep_, .view = false})
                              : Result<Stream>(session.error());
        double value = 0;
        if (stream) expect(stream->replicated("value", &value), "replicated");
        auto restart = stream ? stream->restore() : Result<std::optional<Restart>>(stream.error());
        if (!restart && fault_ == Fault::none_for_unreadable) restart = std::optional<Restart>();
        if (restart)
            problem(fmt::format("{} cannot be read, and a restart takes {}", directory,
                                *restart ? fmt::format("step {}", (*restart)->step()) : "nothing"));
        if (session) expect(session->close(), "close");
    }
    if (how != 1) fs::remove(path[how]);
    fs::rename(away, path[how]);
    act("it can be read again");
    check_target();
}

// A restart must not take a marked snapshot by itself. A run that starts from the beginning beside them must not push
// them out.
void Program::mark_all() {
    if (newest_needed().empty()) return;
    act("mark all");
    auto& store = sys::posix_store();
    const auto all = versions_at(run_);
    std::set<std::int64_t> needed = model_.left();
    for (const auto& [step, value] : model_.living())
        if (!model_.may_be_gone(value)) needed.insert(value);
    for (const auto& version : all) {
        const catalog::MarkedSave save{run_, stream_name, version.head.step, version.head.snapshot_id};
        expect(catalog::mark(store, save, std::span(&mark_of_all, 1)), "mark");
    }
    {
        auto session = Session::open(options());
        if (!session) return problem("open: " + session.error().text());
        auto stream = session->stream(stream_name, {.slots = slots, .keep = keep_, .view = false});
        if (!stream) return problem("stream: " + stream.error().text());
        double value = 0;
        expect(stream->replicated("value", &value), "replicated");
        const auto restart = stream->restore();
        if (restart || restart.error().kind != ErrorKind::refused)
            problem("all is marked, and a restart does not refuse");
        has_line_ = false;
        chosen_.reset();
        if (chance(2)) {
            const auto none = stream->newest(0);  // starts from the beginning on purpose
            if (!none || *none) problem("newest below 0 is not nothing");
            chosen_ = -1;
            save(*stream, value, false);
        }
        expect(session->close(), "close");
    }
    for (const auto& version : versions_at(run_)) {
        needed.erase(static_cast<std::int64_t>(version.head.time));
        expect(catalog::unmark(store, version.snapshot.directory, std::span(&mark_of_all, 1)), "unmark");
    }
    for (const auto value : needed) problem(fmt::format("save {} was marked and is gone: too few came after", value));
    act("unmark all");
    check_target();
}

// `cp -r step-000002 step-000009`: the copy is no step of this run, in spite of its name.
void Program::misplace() {
    const auto directory = newest_needed();
    if (directory.empty()) return;
    const auto step = model_.living().rbegin()->first + 1 + below(6);
    const auto other = fmt::format("{}/{}/{}", run_, stream_name, catalog::step_name(step));
    if (fs::exists(other)) return;
    act(fmt::format("cp -r {} {}", directory, step));
    fs::copy(directory, other, fs::copy_options::recursive);
    has_misplaced_ = true;
    session();
    has_misplaced_ = false;
    // A save of that step moves the copy aside, under the line of the copied snapshot.
    const auto where = fs::path(other).parent_path(), name = fs::path(other).filename();
    std::vector<fs::path> places;
    for (const auto& entry : fs::directory_iterator(where))
        if (entry.is_directory() && entry.path().filename().string().ends_with(name.string()))
            places.push_back(entry.path());
    for (const auto& place : places) {
        const auto manifest = catalog::load_manifest(sys::posix_store(), place);
        if (manifest && manifest->step != step) fs::remove_all(place);
    }
    act("the misplaced directory goes");
    if (problems_.empty() && !pending_) check_target();
}

// A user restores a backup while a session lives, and after it.
void Program::copy_over() {
    if (newest_needed().empty()) return;
    const auto copy = base_ / fmt::format("backup-{}", ++number_);
    act("forebay copy RUN BACKUP");
    const int status = forebay(fmt::format("copy {} {}", run_, copy));
    if (status == -1) return;
    if (status != 0) return problem(fmt::format("forebay copy ends with {}", status));
    const auto brings = [&](const std::string& verb) {
        act(verb);
        const int exit = fault_ == Fault::copies_over
                             ? forebay(fmt::format("copy {0} {1} --as-files; cp -r {0}/. {1}", copy, run_)) * 0
                             : forebay(verb);
        if (exit != 2) problem(fmt::format("a living run is changed by copies: {} ends with {}", verb, exit));
    };
    {
        auto session = Session::open(options());
        if (!session) return problem("open: " + session.error().text());
        auto stream = session->stream(stream_name, {.slots = slots, .keep = keep_, .view = false});
        if (!stream) return problem("stream: " + stream.error().text());
        double value = 0;
        expect(stream->replicated("value", &value), "replicated");
        has_line_ = false;
        chosen_.reset();
        save(*stream, value, false);
        expect(stream->wait_committed(60s), "wait_committed");
        const char* const verbs[] = {"copy {} {}", "sync {} {}", "sync {} {} --delete", "copy {} {} --as-files"};
        brings(fmt::format(fmt::runtime(verbs[below(4)]), copy, run_));
        expect(session->close(), "close");
    }
    if (problems_.empty()) brings(fmt::format("sync {} {} --delete", copy, run_));
    fs::remove_all(copy);
    check_target();
}

// The work of a faulty retention that does not count.
void Program::remove_left() {
    const auto history = catalog::history(sys::posix_store(), run_, stream_name);
    if (!history || pending_) return;
    for (const auto& version : history->abandoned) fs::remove_all(version.snapshot.directory);
}

}  // namespace forebay::campaign
