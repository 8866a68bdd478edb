#include "api/behind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "api/state.hpp"
#include "base/error_text.hpp"
#include "node/run_lock.hpp"
#include "node/staging.hpp"
#include "sys/machine.hpp"

namespace forebay::behind {

namespace {

// Starting a program takes milliseconds; a node that swaps may take longer.
constexpr std::chrono::seconds start_max{30};
constexpr std::chrono::seconds removal_max{10};
constexpr std::chrono::milliseconds look_pause_min{1}, look_pause_max{200};
constexpr std::uint64_t failed_bytes_max = 64u << 10;

}  // namespace

Ranks alone() {
    return {.world = comm::alone(), .key = "", .open = [](const Options& options) { return Session::open(options); }};
}

Result<bool> exists(const std::string& path) { return sys::posix_store().exists(path); }

Result<bool> first_sees(const Ranks& ranks, const std::string& path) {
    const auto there = ranks.is_first() ? exists(path) : Result<bool>(false);
    FB_TRY(comm::agree(*ranks.world, there ? Result<>() : Result<>(there.error())));
    return ranks.world->max(*there ? 1 : 0) != 0;
}

Result<Settings> settings(const std::string& name) {
    Settings found;
    const auto* path = std::getenv(fmt::format("FOREBAY_{}_CONFIG", name).c_str());
    if (path != nullptr && *path != '\0') {
        FB_TRY_ASSIGN(options, load_options(path));
        found.options = std::move(options);
        found.options.run_in_file.clear();  // the run is beside the file, whatever the configuration says
    }
    const auto* keep = std::getenv(fmt::format("FOREBAY_{}_KEEP", name).c_str());
    found.keep = keep != nullptr && std::string_view(keep) != "" && std::string_view(keep) != "0";
    return found;
}

std::string without_locks(const std::string& file) {
    return note_line(
        fmt::format("{}the file system of {} has no locks. Programs on this host, {}, stay off a file that one of them "
                    "writes; those on other hosts cannot see whether it still lives, and are refused until {}.forebay "
                    "is gone",
                    program_prefix, file, sys::host_name(), file),
        "mount the file system with flock (Lustre) or with a lock manager (NFS)");
}

Result<> clear_staged(const Options& options) {
    FB_TRY_ASSIGN(left, node::staging_directories_of(options.staging, options.run));
    for (const auto& directory : left) FB_TRY(node::remove_leftover(directory));
    return {};
}

Result<> start(const Settings& settings, std::vector<std::string> arguments, const std::string& log_path,
               const Making& making) {
    const auto& agent = settings.options.agent;
    const auto is_there = [](const std::string& path) {
        const auto found = exists(path);
        return found && *found;
    };
    // A short one may have ended by now, and have taken the run away.
    const auto has_begun = [&] {
        return sys::lock_is_held(making.lock) || is_there(making.made) || is_there(making.failed) ||
               !is_there(making.run);
    };
    return sys::spawn_daemon({.program = agent_program(agent.program),
                              .arguments = std::move(arguments),
                              .environment = agent.environment,
                              .environment_removed = {"LD_PRELOAD"},
                              .log_path = log_path,
                              .is_ready = has_begun},
                             start_max);
}

namespace {

// Who has made the file removes the run, unless it is kept, as its last act. The file is complete in any case, and a
// leftover is removed by the next who makes it.
Result<> await_removal(const Making& making) {
    const auto deadline = sys::Clock::now() + removal_max;
    while (sys::Clock::now() < deadline) {
        FB_TRY_ASSIGN(is_going, exists(making.run + ".gone"));
        if (!is_going && !node::run_lock_is_held(making.lock)) break;
        std::this_thread::sleep_for(look_pause_min);
    }
    return {};
}

}  // namespace

Result<> await(const Making& making, std::chrono::milliseconds wait_max,
               const std::function<Error(const std::string& why, bool told)>& not_made) {
    const auto deadline = sys::Clock::now() + wait_max;
    auto pause = look_pause_min;
    while (true) {
        // Asked first: who lets go of it has written before how it ended.
        const bool at_work = node::run_lock_is_held(making.lock);
        FB_TRY_ASSIGN(is_made, exists(making.made));
        FB_TRY_ASSIGN(has_run, exists(making.run));
        if (is_made || !has_run) return await_removal(making);
        if (const auto told = sys::read_text(sys::posix_store(), making.failed, failed_bytes_max))
            return not_made(*told, true);
        if (!at_work) return not_made("the process that made it has ended.", false);
        if (sys::Clock::now() >= deadline)
            return not_made(fmt::format("after {} s it is still being made{}.", wait_max.count() / 1000,
                                        node::run_lock_doubt(making.lock)),
                            false);
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, look_pause_max);
    }
}

Result<> remove_run(const Making& making, std::chrono::milliseconds wait_max,
                    const std::function<Result<bool>()>& wanted) {
    const auto deadline = sys::Clock::now() + wait_max;
    while (true) {
        const auto lock = node::RunLock::take(making.lock);
        if (lock) {
            FB_TRY_ASSIGN(is_wanted, wanted());
            return is_wanted ? sys::remove_tree_at_once(sys::posix_store(), making.run) : Result<>();
        }
        if (lock.error().kind == ErrorKind::missing) return {};  // somebody else has removed it
        if (lock.error().kind != ErrorKind::retry || sys::Clock::now() >= deadline) return lock.error();
        std::this_thread::sleep_for(look_pause_min);
    }
}

}  // namespace forebay::behind
