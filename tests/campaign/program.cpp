#include "campaign/program.hpp"

#include "campaign/acts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>

#include "campaign/model.hpp"
#include "core/sys/store.hpp"
#include "forebay/forebay.hpp"
#include "path/agent/leftovers.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/run_lock.hpp"
#include "path/commit/commit.hpp"
#include "path/node/staging.hpp"
#include "support/packed_files.hpp"
#include "support/temp_directory.hpp"

namespace forebay::campaign {

void Program::session() {
    act("open");
    auto opened = Session::open(options());
    if (!opened) return problem("open: " + opened.error().text());
    auto& session = *opened;
    has_line_ = false;
    chosen_.reset();
    const bool slow = !pending_ && chance(3);  // slow: its agent drains nothing in time
    if (slow) act("slow");
    auto stream = session.stream(
        stream_name,
        {.slots = slots, .keep = keep_, .view = false, .rate_bytes_per_second = slow ? std::uint64_t{1} : 0});
    if (!stream) return problem("stream: " + stream.error().text());
    double value = 0;
    expect(stream->replicated("value", &value), "replicated");
    choose(*stream, value);
    int saves = slow ? 1 + below(slots) : below(5);
    for (; saves > 0 && problems_.empty(); --saves) {
        save(*stream, value, slow);
        if (!slow && chance(3)) expect(stream->wait_committed(60s), "wait_committed");
        if (chance(6)) choose(*stream, value);
        if (chance(8)) second_writer();
        if (chance(4)) spool(session);
    }
    if (!slow && !chance(3)) {
        act("close");
        expect(session.close(), "close");
        pending_ = false;
    } else {
        act("crash");
        pending_ = true;
    }
}

// The application restarts from a snapshot, or from none.
void Program::choose(Stream& stream, const double& value) {
    constexpr auto all = std::numeric_limits<std::int64_t>::max();
    const auto how = below(5);
    if (how == 0) return;  // saves without a restart
    if (how <= 2) {
        act("restore");
        const auto restart = stream.restore();
        if (!restart) return check_refusal(stream, restart.error(), all, "restore");
        return check_choice(*restart, all, true, value);
    }
    const auto limit = how == 3 ? all : std::max<std::int64_t>(1, last_step_ + 1 - below(4));
    act(limit == all ? "newest" : fmt::format("newest below {}", limit));
    auto restart = stream.newest(limit);
    if (!restart) return check_refusal(stream, restart.error(), limit, "newest");
    check_choice(*restart, limit, false, value);
    if (!*restart || !chance(2)) return;
    const auto step = (*restart)->step();
    act("older");
    restart = stream.older();
    if (!restart) return check_refusal(stream, restart.error(), step, "older");
    check_choice(*restart, step, false, value);
}

// The refusal is right only if no needed snapshot lies below. Then the application asks to start from the beginning.
void Program::check_refusal(Stream& stream, const Error& error, std::int64_t below, const char* what) {
    act(fmt::format("{} is refused", what));
    for (const auto& [step, value] : model_.living())
        if (step < below && !model_.may_be_gone(value)) return problem(fmt::format("{}: {}", what, error.text()));
    // If a copy under a wrong name is all that is left, it counts as damaged.
    const bool is_expected = error.kind == ErrorKind::refused || (has_misplaced_ && error.kind == ErrorKind::corrupt);
    if (!is_expected) return problem(fmt::format("{}: {}", what, error.text()));
    const auto none = stream.newest(0);
    if (!none || *none) return problem("newest below 0 is not nothing");
    chosen_ = -1;
}

void Program::check_choice(const std::optional<Restart>& restart, std::int64_t below, bool reads, const double& value) {
    const auto living = model_.living();
    const auto step = restart ? restart->step() : -1;
    if (restart) {
        act(fmt::format("-> {}", step));
        if (step >= below || !living.contains(step))
            return problem(fmt::format("step {} is chosen, which is not of the run's state", step));
        const auto wanted = living.at(step);
        if (restart->time() != static_cast<double>(wanted) || (reads && value != static_cast<double>(wanted)))
            problem(fmt::format("step {} is that of save {}, {} is expected", step, restart->time(), wanted));
    } else {
        act("-> none");
    }
    for (const auto& [at, wanted] : living)
        if (at > step && at < below && !model_.may_be_gone(wanted))
            problem(fmt::format("step {} (save {}) is passed over for {}", at, wanted, step));
    // Reading the last save again leaves no line.
    if (!has_line_ || step != last_step_) chosen_ = step;
    else chosen_.reset();
}

void Program::save(Stream& stream, double& value, bool slow) {
    auto step = chosen_ && *chosen_ >= 0 && !has_line_ ? *chosen_ + 1 + below(3) : last_step_ + 1 + below(3);
    if (chance(6)) step = std::max<std::int64_t>(0, last_step_ - below(4));
    if (chance(10)) step = below(4);
    const auto own = next_value_++;
    value = static_cast<double>(own);
    act(fmt::format("save {}={}", step, own));
    const auto saved = stream.save(step, value);
    if (!saved) return problem("save: " + saved.error().text());
    if (!saved->kept) return problem(slow ? "a slot that is free was not" : "a save was skipped");
    // Saving a state under a lower step than it was read from abandons the steps between.
    if (!has_line_ || chosen_) model_.begin_line(std::min(chosen_.value_or(step), step - 1));
    has_line_ = true;
    chosen_.reset();
    model_.save(step, own);
    last_step_ = step;
}

void Program::second_writer() {
    auto other = options(chance(2) ? "memory" : "other");
    fs::create_directory(base_ / "other");
    if (chance(2)) {
        const auto link = base_ / fmt::format("link-{}", ++number_);
        fs::create_directory_symlink(run_, link);
        other.run = link;
    }
    act("a second writer");
    const auto opened = Session::open(other);
    if (opened) return problem("a second session of the run was opened");
    if (opened.error().kind != ErrorKind::refused) problem("a second writer: " + opened.error().text());
}

void Program::spool(const Session& session) {
    const auto name = fmt::format("file-{}", ++number_);
    const auto folder = session.spool();
    const auto content = fmt::format("content of {}", name);
    std::ofstream(folder + "/." + name) << content;
    fs::rename(folder + "/." + name, folder + "/" + name);
    model_.put_file(name, content);
    act("spool " + name);
}

// The living snapshots at the target must be those of the model. If nothing is staged, no needed snapshot may be
// missing.
void Program::check_target() {
    const auto wanted = model_.living();
    const auto history = catalog::history(sys::posix_store(), run_, stream_name);
    if (!history && history.error().kind != ErrorKind::missing) return problem("history: " + history.error().text());
    Values values;
    for (const auto& version : history ? history->living : std::vector<catalog::Version>()) {
        const auto value = static_cast<std::int64_t>(version.head.time);
        if (!values.try_emplace(version.head.step, value).second) continue;  // an earlier line has the same step
        // Until staged snapshots are committed, the target may show an earlier save of the step or line.
        if (pending_ ? !model_.knows(value)
                     : !wanted.contains(version.head.step) || wanted.at(version.head.step) != value)
            problem(fmt::format("step {} at the target is save {}, which is not of the run's state", version.head.step,
                                value));
    }
    if (pending_) return;
    auto left = model_.left();
    if (history)
        for (const auto* list : {&history->living, &history->abandoned})
            for (const auto& version : *list) left.erase(static_cast<std::int64_t>(version.head.time));
    for (const auto value : left)
        problem(fmt::format("save {} is gone: the run has left it, and too few came after", value));
    for (const auto& [step, value] : wanted)
        if (!model_.may_be_gone(value) && (!values.contains(step) || values.at(step) != value))
            problem(fmt::format("step {} (save {}) is not at the target", step, value));
}

void Program::check_files() {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::directory_iterator(run_)) {
        const auto name = entry.path().filename().string();
        if (name.starts_with("packed-")) contents.merge(test::packed_in(sys::posix_store(), run_, name));
    }
    for (const auto& [path, content] : model_.files())
        if (!contents.contains(path) || contents.at(path) != content)
            problem("the small file " + path + " is not in the run");
    for (const auto& [path, content] : contents)
        if (!model_.files().contains(path)) problem("the small file " + path + " is of another run");
}

// Another session drains the rest. Then everything must be at the target, whole.
void Program::finish() {
    act("a last session");
    {
        auto session = Session::open(options());
        if (!session) return problem("open: " + session.error().text());
        expect(session->close(), "close");
    }
    pending_ = false;
    check_target();
    check_files();
    auto& store = sys::posix_store();
    const auto living = catalog::living_snapshots(store, run_, stream_name);
    for (const auto& snapshot : living ? *living : std::vector<catalog::Snapshot>()) {
        const auto verified = catalog::verify(store, snapshot, {});
        if (!verified || !verified->damage.empty()) problem(fmt::format("step {} does not verify", snapshot.step));
    }
    const auto leftovers = catalog::leftovers(store, run_, stream_name);
    if (leftovers && !leftovers->empty()) problem(leftovers->front().directory + " is left over");
}

std::vector<std::string> play(std::uint64_t seed, Fault fault) { return Program(seed, fault).play(); }

}  // namespace forebay::campaign
