// The claim of a run: each session claims the run at the target before it stages anything, and gets the run's next
// number. A second session is refused as long as the first one lives, on whatever host and by whatever path the two
// come; the claim of a dead session is taken over. All saves are ordered by these numbers, so a session that comes back
// after it was taken for dead can replace nothing.
//
//   RUN/forebay/sessions/000005/claim.json    who
//   RUN/forebay/sessions/000005/alive         a number that changes while the session lives
//   RUN/forebay/sessions/000005/ended         it was closed
//
// A copy into the run claims it likewise, so that no session saves there meanwhile, and withdraws its claim at its end.
// If the copy has brought snapshots of later sessions than the claims tell, its claim stays, ended: its number is above
// theirs.
//
// On the claimant's own machine a lock tells whether it lives. From elsewhere the number is watched: the agent beside
// the session's first rank changes it every run_lock_renewal. No two clocks are compared.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/sys/machine.hpp"
#include "core/sys/store.hpp"
#include "path/node/long_wait.hpp"

namespace forebay::catalog {

/// One small file every so often, from one node of a run.
inline constexpr std::chrono::seconds run_lock_renewal{5};

/// A session as it describes itself in its claim.
struct RunLockOwner {
    std::string host;
    std::string user;
    std::string boot;       // sys::boot_id()
    std::string lock_path;  // held as long as it lives, on its machine
    std::string lock_id;    // sys::file_id() of that: other machines have files of the same path
    std::int64_t process = 0;
    /// A copy of files, and no session. Its claim keeps sessions out, and leaves the claims before it where they are:
    /// they tell who has computed in the run.
    bool is_copy = false;
};

struct RunLockOptions {
    std::chrono::milliseconds watch{};  // how long a claim from elsewhere is watched; 0: it counts as dead
    node::Say say = {};                 // hears of waits; its `interrupted` ends them
    /// The key of a claim of another place that was copied here: whoever has it lives there.
    std::string copied_key = {};
    /// Snapshots of sessions up to this one are there or will come: the number is above it.
    std::uint32_t above = 0;
};

/// "RUN/forebay/sessions/000005"; it goes when a later session claims the run.
std::string run_lock_directory(const std::string& run, std::uint32_t session);

/// The number of the new session, above those of all claims and of the sessions that last_saver() finds. `refused`
/// while another session lives, with who and where it is.
Result<std::uint32_t> claim(sys::Store& store, const std::string& run, const RunLockOwner& lock_owner,
                            const RunLockOptions& options);

/// `refused` while a session or a copy holds the run, as claim() says; claims nothing. `asking` is who would claim it.
Result<> check_unlocked(sys::Store& store, const std::string& run, const RunLockOwner& asking,
                        const RunLockOptions& options);

/// The newest session that has claimed the run, other than a copy.
struct LastSession {
    std::uint32_t session = 0;
    std::string key;   // no other session has it, of this run or another
    std::string name;  // "session 6 of USER on HOST (process 4711)"
};
Result<std::optional<LastSession>> last_session(sys::Store& store, const std::string& run);

/// The key of the newest claim, which no other session has, of this run or another; 0 where there is none. Claims of
/// copies do not count.
Result<std::uint64_t> run_lock_key(sys::Store& store, const std::string& run);

/// Shows that the session lives; `count` must differ from the one before.
Result<> renew_run_lock(sys::Store& store, const std::string& run, std::uint32_t session, std::uint64_t count);

/// The session ends in order: nobody needs to watch it.
Result<> end_run_lock(sys::Store& store, const std::string& run, std::uint32_t session);

/// A copy ends in order. Its claim goes, and the run is claimed as it was before; but if the claims before are of
/// earlier sessions than `above`, it takes the place of those of copies.
Result<> withdraw_run_lock(sys::Store& store, const std::string& run, std::uint32_t session, std::uint32_t above);

/// "session 6 of USER on HOST" when a later session has claimed the run; one look at the target.
Result<std::optional<std::string>> claimed_after(sys::Store& store, const std::string& run, std::uint32_t session);

}  // namespace forebay::catalog
