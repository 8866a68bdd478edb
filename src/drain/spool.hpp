// The spool of a session on one node: programs of the job put small finished files there, the agent packs them. A
// thread of the agent's host, beside its loop: a drain that takes long holds no file up, nor the other way round.

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "drain/agent.hpp"
#include "drain/pack.hpp"
#include "sys/thread.hpp"

namespace forebay::drain {

/// When a batch is packed that is not full: so long after its first file was seen, or with so much.
struct SpoolPace {
    std::chrono::milliseconds look{1'000};
    std::chrono::milliseconds wait_max{10'000};
    std::uint64_t files = 1'000, bytes = 64u << 20;
};

/// The stream of a staging directory's packed files: packed-HOST-N, N being the virtual node.
std::string spool_stream(const std::string& directory, const std::string& host);

class SpoolKeeper {
public:
    SpoolKeeper(sys::Store& store, const std::string& directory, const stage::SessionFile& session, Log log,
                const SpoolPace& pace = {});
    SpoolKeeper(const SpoolKeeper&) = delete;
    SpoolKeeper& operator=(const SpoolKeeper&) = delete;
    ~SpoolKeeper();

    /// Ends the thread, then packs all that is left. After an error it stays in the spool.
    Result<> finish();

private:
    void keep();
    Result<> pack(bool all);

    const std::string spool_;
    const SpoolPace pace_;
    const Log log_;
    Packer packer_;
    sys::Clock::time_point first_seen_{};
    bool seen_ = false;

    std::mutex mutex_;  // guards what follows
    std::condition_variable wake_;
    bool ends_ = false;
    sys::Thread thread_;  // none where none could be had: finish() packs then
};

}  // namespace forebay::drain
