// The spool of a session on one node: programs of the job put small finished files there, the agent packs them. A
// thread of the agent's host, beside its loop: a drain that takes long holds no file up, nor the other way round.
//
// Life:  DIR/spool is open -> closed by a rename to DIR/spool.closed-ID, so that who still writes there by its path is
//        told (ENOENT) -> packed -> removed when nothing finished is in it. A closed one that is not packed to its end
//        is packed by whoever serves or drains DIR next.

#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/sys/clock.hpp"
#include "core/sys/thread.hpp"
#include "path/agent/events.hpp"
#include "path/agent/pack.hpp"
#include "path/node/staging.hpp"

namespace forebay::agent {

/// When a batch is packed that is not full: so long after its first file was seen, or with so much.
struct SpoolPace {
    std::chrono::milliseconds look{1'000};
    std::chrono::milliseconds wait_max{10'000};
    std::chrono::milliseconds error_pause{10'000};  // after an error of the target
    std::uint64_t files = 1'000, bytes = 64u << 20;
};

/// The stream of a staging directory's packed files: packed-HOST-N, N being the virtual node. Nodes of one host name
/// share it, and lose nothing by that.
std::string spool_stream(const std::string& directory, const std::string& host);

/// Nothing when no finished file is in a spool of this staging directory, open or closed; else an error that names some
/// and says where they are. A spool that cannot be looked at is not empty.
Result<> check_spools(const std::string& directory);

/// Closes the spool of a session that has ended, and removes it with its unfinished files. Errors as check_spools();
/// the finished files stay then.
Result<> remove_spools(const std::string& directory);

class SpoolKeeper {
public:
    SpoolKeeper(sys::Store& store, const std::string& directory, const node::SessionFile& session, Tell tell,
                const SpoolPace& pace = {});
    SpoolKeeper(const SpoolKeeper&) = delete;
    SpoolKeeper& operator=(const SpoolKeeper&) = delete;
    ~SpoolKeeper();

    /// Ends the thread, closes the spool, packs all that is left, and removes the spool. After an error what is
    /// finished stays there.
    Result<> finish();

private:
    struct Spool {
        Packer packer;
        sys::Clock::time_point first_seen{};
        bool seen = false;
        std::vector<LeftOut> left_out = {};
    };

    void keep();
    Result<> pack(bool all);
    Result<> pack_spool(const std::string& path, bool all);
    void tell_change(const Result<>& packed);

    sys::Store& store_;
    const std::string directory_, run_;
    const std::uint64_t run_id_;
    const std::string stream_;
    const SpoolPace pace_;
    const Tell tell_;
    std::map<std::string, Spool> spools_;  // by path
    std::string reported_;                 // what the log says of the spools now; not everything each time

    std::mutex mutex_;  // guards what follows
    std::condition_variable wake_;
    bool ends_ = false;
    sys::Thread thread_;  // none where none could be had: finish() packs then
};

}  // namespace forebay::agent
