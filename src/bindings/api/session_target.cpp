// The target of a session while it opens: the forwarders, the check of the parent directory, the run's identity, the
// lock.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "bindings/api/session_opening.hpp"
#include "core/base/error_text.hpp"
#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/far_module.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/wait_until.hpp"
#include "path/agent/target.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/run_lock.hpp"

namespace forebay {

namespace {

// Fails before the first step, not after an hour of computing. Passing faults, and errors with their own advice, stay
// as they are.
Error not_writable(const std::string& run, const Error& why) {
    if (why.kind == ErrorKind::retry || why.kind == ErrorKind::corrupt || !why.safe.empty() || !why.next.empty())
        return why;
    return with_context(
        why, fmt::format("the run directory {} cannot be written to: {}", run, why.what), "all existing data",
        fmt::format("repair the permissions of {} and of the directories above it (ls -ld), free some room, or mount "
                    "its file system, then start again. In another directory, a new run begins at step 0",
                    run));
}

// Waits for a forwarder that is started by hand at the same moment as the application.
Result<> once_there(std::chrono::milliseconds limit, ErrorKind not_yet, const std::function<Result<>()>& work) {
    constexpr std::chrono::milliseconds look_pause{200};
    Result<> done;
    // The last look comes before `limit`: a caller that waits as long for this thread still gets the error.
    sys::wait_until(sys::Clock::now() + limit - look_pause, {look_pause}, [&] {
        done = work();
        return done || done.error().kind != not_yet;
    });
    return done;
}

// A typing error in the path would begin another run at step 0. Buckets have no directories.
Result<> check_parent(sys::Store& store, const std::string& run) {
    if (!sys::has_directories(run)) return {};
    const auto is_missing = [&](const std::string& directory) {
        const auto is_there = store.exists(directory);
        return is_there && !*is_there;  // if it cannot be checked, make_identity() reports why
    };
    auto first = directory_of(run);
    if (!is_missing(first)) return {};
    while (is_missing(directory_of(first))) first = directory_of(first);
    return Error{ErrorKind::missing,
                 fmt::format("the run {} cannot be made: there is no directory {}. Nothing was written", run, first),
                 "", "correct the path, mount its file system, make the directory, or set create_parents"};
}

}  // namespace

Result<node::Forwarding> find_forwarders(const Options& options, std::uint32_t node_index,
                                         const node::Forwarding& of_job, const node::Say& say) {
    const auto& agent = options.agent;
    if (agent.forwarders > 0 && of_job.to.empty())
        return Error{ErrorKind::refused,
                     fmt::format("agent.forwarders is {}, but no host is a forwarder: open the session over the "
                                 "communicator from forebay::dedicate()",
                                 agent.forwarders),
                     "", "call dedicate() after MPI_Init, or set agent.forwarders to 0"};
    node::Forwarding forwarding;
    if (agent.forwarders > 0) {
        forwarding = of_job;
    } else if (!agent.forward_to.empty()) {
        node::LongWait wait(say, options.open_wait);
        const auto outcome = once_there(options.open_wait, ErrorKind::missing, [&]() -> Result<> {
            wait.turn([&] { return "the token of the forwarders, " + agent.forward_token_file; });
            if (wait.is_interrupted()) return node::interrupted("the wait for " + agent.forward_token_file);
            FB_TRY_ASSIGN(token, sys::read_private(agent.forward_token_file));
            forwarding = {.to = agent.forward_to, .token = token.substr(0, token.find_last_not_of("\r\n") + 1)};
            return {};
        });
        if (!outcome)
            return with_context(
                outcome.error(), fmt::format("the token for the forwarders cannot be read: {}", outcome.error().what),
                "", fmt::format("start forebay forward first, with --token-file {}", agent.forward_token_file));
    }
    // Each node begins with a different forwarder, so that the load is even.
    auto& to = forwarding.to;
    if (!to.empty())
        std::rotate(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(node_index % to.size()), to.end());
    return forwarding;
}

Result<OpenedRun> open_run(const Options& options, const node::Forwarding& forwarding, const node::Say& say) {
    auto target = agent::target_of(options.run, forwarding, {});
    if (!target) return target.error();
    const auto wait = forwarding.to.empty() ? std::chrono::milliseconds(0) : options.open_wait;
    // Shared with the thread, which may hang.
    const auto identity = std::make_shared<std::atomic<std::uint64_t>>(0);
    FB_TRY(within(
        options.open_wait, "the run directory " + options.run,
        [store = target->store, run = options.run, create_parents = options.create_parents, wait, identity] {
            return once_there(wait, ErrorKind::retry, [&]() -> Result<> {
                if (!create_parents) FB_TRY(check_parent(*store, run));
                const auto result = catalog::make_identity(*store, run);
                if (!result) return not_writable(run, result.error());
                *identity = *result;
                return {};
            });
        },
        say));
    return OpenedRun{std::move(target->store), *identity};
}

// This is also the first write to the target: a failure shows now, not after an hour of computing.
Result<> lock_run(const Options& options, const std::shared_ptr<sys::Store>& target, const std::string& directory,
                  const node::Say& say, LockedRun& claim) {
    const auto lock = node::application_lock_path(directory);
    const catalog::RunLockOwner lock_owner{.host = sys::host_name(),
                                           .user = sys::user_name(),
                                           .boot = sys::boot_id(),
                                           .lock_path = lock,
                                           .lock_id = sys::file_id(lock),
                                           .process = sys::process_id()};
    // Read before the new lock: this key identifies the leftovers of the session before.
    const auto last = catalog::run_lock_key(*target, options.run);
    if (!last) return not_writable(options.run, last.error());
    claim.last_key = *last;
    const auto claimed = catalog::claim(*target, options.run, lock_owner, {.watch = options.takeover_wait, .say = say});
    if (!claimed) return not_writable(options.run, claimed.error());
    claim.session = *claimed;
    FB_TRY_ASSIGN(own, catalog::run_lock_key(*target, options.run));
    claim.key = own;
    return {};
}

}  // namespace forebay
