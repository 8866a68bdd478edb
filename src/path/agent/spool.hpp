// The spool of a session on one node: programs of the job put small finished files there, and the agent packs them.
// This is a thread of the agent's host beside its loop: a long drain does not delay files, and packing does not delay
// drains.
//
// Life:  DIR/spool is open -> closed by a rename to DIR/spool.closed-ID, so a program that still writes there by its
//        path gets ENOENT -> packed -> removed when no finished file is in it. A closed spool that is not fully packed
//        is packed by the next agent or program that serves or drains DIR.

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

/// A batch that is not full is packed this long after its first file was seen, or with this much.
struct SpoolPace {
    std::chrono::milliseconds look{1'000};
    std::chrono::milliseconds wait_max{10'000};
    std::chrono::milliseconds error_pause{10'000};  // after an error of the target
    std::uint64_t files = 1'000, bytes = 64u << 20;
};

/// The stream of a staging directory's packed files: packed-HOST-N; N is the virtual node. Nodes with the same host
/// name share it, and lose nothing.
std::string spool_stream(const std::string& directory, const std::string& host);

/// Succeeds if no spool of this staging directory, open or closed, has a finished file. Otherwise returns an error with
/// some files and their place. An unreadable spool does not count as empty.
Result<> check_spools(const std::string& directory);

/// Closes the spool of an ended session, and removes it with its unfinished files. Errors as check_spools(): the
/// finished files stay then.
Result<> remove_spools(const std::string& directory);

class SpoolKeeper {
public:
    SpoolKeeper(sys::Store& store, const std::string& directory, const node::SessionFile& session, Tell tell,
                const SpoolPace& pace = {});
    SpoolKeeper(const SpoolKeeper&) = delete;
    SpoolKeeper& operator=(const SpoolKeeper&) = delete;
    ~SpoolKeeper();

    /// Ends the thread, closes the spool, packs the rest, and removes the spool. After an error the finished files stay
    /// there.
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
    std::string reported_;                 // the log's last text on the spools; not everything each time

    std::mutex mutex_;  // guards the members below
    std::condition_variable wake_;
    bool ends_ = false;
    sys::Thread thread_;  // without a thread finish() packs
};

}  // namespace forebay::agent
