// The run lock. Each session takes it at the target before it stages anything, and gets the run's next number. While a
// session lives, a second session is refused, on any host and by any path. The lock of a dead session is taken over.
// The numbers order all saves, so a session that was believed dead and comes back replaces nothing.
//
//   RUN/forebay/sessions/000005/claim.json   the owner
//   RUN/forebay/sessions/000005/alive        a number that changes while the session lives
//   RUN/forebay/sessions/000005/ended        the session was closed
//
// A copy into the run also takes the lock, so that no session saves meanwhile, and withdraws it at its end. If the copy
// brought snapshots of later sessions than all locks, its lock stays, as ended, because its number is above theirs.
//
// On the owner's machine a file lock shows if it lives. Other machines watch the number: the agent beside the session's
// first rank changes it every run_lock_renewal. Clocks are never compared.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/sys/machine.hpp"
#include "core/sys/store.hpp"
#include "path/node/long_wait.hpp"

namespace forebay::catalog {

/// One node of a run writes one small file at this interval.
inline constexpr std::chrono::seconds run_lock_renewal{5};

/// The owner of a run lock, as its claim.json describes it.
struct RunLockOwner {
    std::string host;
    std::string user;
    std::string boot;       // sys::boot_id()
    std::string lock_path;  // locked while the owner lives, on its machine
    std::string lock_id;    // its sys::file_id(): other machines have files of the same path
    std::int64_t process = 0;
    /// The owner is a copy of files, no session. Its lock keeps sessions out. It does not remove the locks before it,
    /// because they show the sessions that computed in the run.
    bool is_copy = false;
};

struct RunLockOptions {
    std::chrono::milliseconds watch{};  // how long to watch a lock of another machine; 0: it counts as dead
    node::Say say = {};                 // reports waits; its `interrupted` ends them
    /// The key of a lock that was copied here from another run. Its owner lives there and does not block this run.
    std::string copied_key = {};
    /// Snapshots of sessions up to this number exist or will come. The new number is above it.
    std::uint32_t above = 0;
};

/// "RUN/forebay/sessions/000005". A later session that takes the run lock removes it.
std::string run_lock_directory(const std::string& run, std::uint32_t session);

/// Takes the run lock. Returns the number of the new session, above the numbers of all locks and of last_saver().
/// `refused` while another session lives, with its owner and place.
Result<std::uint32_t> claim(sys::Store& store, const std::string& run, const RunLockOwner& lock_owner,
                            const RunLockOptions& options);

/// The same check as claim() without taking the lock. `asking` is the owner that would take it.
Result<> check_unlocked(sys::Store& store, const std::string& run, const RunLockOwner& asking,
                        const RunLockOptions& options);

/// The newest session that took the run lock. Copies do not count.
struct LastSession {
    std::uint32_t session = 0;
    std::string key;   // unique among all sessions of all runs
    std::string name;  // "session 6 of USER on HOST (process 4711)"
};
Result<std::optional<LastSession>> last_session(sys::Store& store, const std::string& run);

/// The key of the newest session's lock, unique among all sessions of all runs; 0 if there is none. Copies do not
/// count.
Result<std::uint64_t> run_lock_key(sys::Store& store, const std::string& run);

/// Shows that the session lives. `count` must differ from the last count.
Result<> renew_run_lock(sys::Store& store, const std::string& run, std::uint32_t session, std::uint64_t count);

/// Ends the session in order: nobody needs to watch it.
Result<> end_run_lock(sys::Store& store, const std::string& run, std::uint32_t session);

/// Ends a copy in order and removes its lock, so the run lock is as before. But if the locks before are of earlier
/// sessions than `above`, the copy's lock stays and replaces the locks of other copies.
Result<> withdraw_run_lock(sys::Store& store, const std::string& run, std::uint32_t session, std::uint32_t above);

/// "session 6 of USER on HOST" if a later session took the run lock. Costs one look at the target.
Result<std::optional<std::string>> claimed_after(sys::Store& store, const std::string& run, std::uint32_t session);

}  // namespace forebay::catalog
