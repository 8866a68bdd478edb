#include "bindings/compat/made/making.hpp"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "core/base/error_text.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/sys/store.hpp"
#include "core/sys/wait_until.hpp"
#include "path/node/run_lock.hpp"

namespace forebay::made {

namespace {

// Starting a program takes milliseconds. A node that swaps may take longer.
constexpr std::chrono::seconds start_max{30};
constexpr std::chrono::seconds removal_max{10};
constexpr std::chrono::milliseconds look_pause_min{1}, look_pause_max{200};
constexpr std::uint64_t failed_bytes_max = 64u << 10;

std::string by_hand(const Making& making) {
    std::string command = "forebay";
    for (const auto& word : making.command) command += " " + word;
    return command;
}

Error not_made(const Making& making, const std::string& why) {
    return {ErrorKind::retry, fmt::format("{} was not made: {}", making.run.file(), why),
            fmt::format("the committed snapshots in {}", making.run.path()),
            fmt::format("{}. The log is {}", by_hand(making), making.run.finish_log())};
}

// The maker deletes the run as its last act. The file is complete before that, so a slow deletion is no error: the next
// maker deletes the rest of the run.
Result<> await_removal(const FileRun& run) {
    const auto deadline = sys::Clock::now() + removal_max;
    while (sys::Clock::now() < deadline) {
        // The lock is checked first: it disappears when the run is renamed to be removed.
        const bool at_work = run.has_maker();
        FB_TRY_ASSIGN(is_going, sys::posix_store().exists(run.gone_path()));
        if (!at_work && !is_going) break;
        std::this_thread::sleep_for(look_pause_min);
    }
    return {};
}

// Deletes the run under the maker's lock, if `wanted` is still true then. Both the maker and the writer may delete it.
// The lock prevents that either deletes a newer run of the same name.
Result<> remove(const Making& making, const std::function<Result<bool>()>& wanted) {
    const auto deadline = sys::Clock::now() + making.settings.options.close_wait;
    while (true) {
        const auto lock = node::RunLock::take(making.run.finish_lock());
        if (lock) {
            FB_TRY_ASSIGN(is_wanted, wanted());
            return is_wanted ? sys::remove_tree_at_once(sys::posix_store(), making.run.path()) : Result<>();
        }
        if (lock.error().kind == ErrorKind::missing) return {};  // another process has deleted the run
        if (lock.error().kind != ErrorKind::retry || sys::Clock::now() >= deadline) return lock.error();
        std::this_thread::sleep_for(look_pause_min);
    }
}

// A maker with little work may have ended by now, and may have deleted the run.
bool has_begun(const FileRun& run) {
    const auto failed = sys::posix_store().exists(run.failed_path());
    const auto is_unfinished = run.is_unfinished();
    return run.has_maker() || (failed && *failed) || (is_unfinished && !*is_unfinished);
}

}  // namespace

Result<> Making::start() const {
    auto arguments = command;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(settings.options.close_wait);
    arguments.insert(arguments.end(), {"--background", "--wait", fmt::format("{}", seconds.count())});
    if (settings.keep) arguments.emplace_back("--keep");
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto started = sys::spawn_daemon({.program = settings.program,
                                            .arguments = std::move(arguments),
                                            .environment = settings.options.agent.environment,
                                            // Libraries that the application preloads are not for this program.
                                            .environment_removed = {"LD_PRELOAD"},
                                            .log_path = run.finish_log(),
                                            .is_ready = [this] { return has_begun(run); }},
                                           start_max);
    // If two makers start at once, one gets the lock, and both callers wait for it.
    if (started || run.has_maker()) return {};
    return with_context(
        started.error(),
        fmt::format("{} was not made, as its process did not start: {}", run.file(), started.error().what),
        fmt::format("{}, and the staged copies", run.path()), by_hand(*this));
}

Result<> Making::start_if_needed() const {
    FB_TRY_ASSIGN(is_unfinished, run.is_unfinished());
    return is_unfinished && !run.has_maker() ? start() : Result<>();
}

Result<> Making::await() const {
    const auto wait_max = settings.options.close_wait;
    const auto look = [this]() -> std::optional<Result<>> {
        // The lock is checked before the outcome: a maker writes its outcome before it releases the lock.
        const bool at_work = run.has_maker();
        FB_TRY_ASSIGN(is_unfinished, run.is_unfinished());
        if (!is_unfinished) return await_removal(run);
        const auto failed = sys::read_text(sys::posix_store(), run.failed_path(), failed_bytes_max);
        if (failed) return error_of_text(ErrorKind::retry, *failed);
        if (!at_work) return not_made(*this, "the process that made it has ended");
        return std::nullopt;
    };
    const auto outcome = sys::wait_until(sys::Clock::now() + wait_max, {look_pause_min, look_pause_max}, look);
    if (outcome) return *outcome;
    return not_made(*this, fmt::format("after {} s it is still being made{}", wait_max.count() / 1000,
                                       node::run_lock_doubt(run.finish_lock())));
}

Result<> Making::remove_if_made() const {
    return remove(*this, [this] { return run.is_made(); });
}

Result<> Making::clear(bool finish) const {
    FB_TRY_ASSIGN(is_there, run.exists());
    if (!is_there) return {};
    if (run.keeps_writer()) return run.in_use();
    // Two makers must not meet, even if the file of the earlier maker is about to be replaced.
    if (run.has_maker()) {
        const auto ended = await();
        if (finish || run.has_maker()) FB_TRY(ended);
    } else if (finish) {
        FB_TRY(start_if_needed());
        FB_TRY(await());
    }
    bool is_free = true;
    FB_TRY(remove(*this, [&]() -> Result<bool> { return is_free = !run.has_writer(); }));
    return is_free ? Result<>() : Result<>(run.in_use());
}

std::string warning_of_no_locks(const std::string& file) {
    return note_line(
        fmt::format("{}the file system of {} has no locks. Programs on this host, {}, do not disturb each other. "
                    "Programs on other hosts cannot see if the writer still runs, and are refused until {} is gone",
                    program_prefix, file, sys::host_name(), FileRun(file).path()),
        "mount the file system with flock (Lustre) or with a lock manager (NFS)");
}

}  // namespace forebay::made
