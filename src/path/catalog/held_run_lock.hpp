// The claim of a run that a verb holds while it changes what sessions go by.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "core/sys/lock.hpp"
#include "core/sys/store.hpp"
#include "core/sys/thread.hpp"

namespace forebay::catalog {

class HeldRunLock {
public:
    /// A `copy` saves nothing: when it ends, the run is claimed as before, unless it brings snapshots of later
    /// sessions.
    enum class Use { change, copy };
    using Say = std::function<void(const std::string& line)>;
    /// `refused` while a session or another such verb has the run. Shows that it lives as sessions do, until its end.
    /// Of a copy `source` is the run that it copies: the claim of the source's session may have come along before, and
    /// `brought` is the last session of which it brings a snapshot.
    /// `say` gets a line when the wait for another claim lasts.
    static Result<std::unique_ptr<HeldRunLock>> take(sys::Store& store, const std::string& run, const Say& say,
                                                     Use use = Use::change, const std::string& source = {},
                                                     std::uint32_t brought = 0);
    /// The same refusal, without a claim.
    static Result<> check_free(sys::Store& store, const std::string& run, const Say& say,
                               const std::string& source = {});
    HeldRunLock(const HeldRunLock&) = delete;
    HeldRunLock& operator=(const HeldRunLock&) = delete;
    ~HeldRunLock();

    std::uint32_t session() const { return session_; }
    /// `refused` where others have the run by now: this process stood still for too long.
    Result<> check_held() const;

private:
    HeldRunLock(sys::Store& store, std::string run, Use use) : store_(store), run_(std::move(run)), use_(use) {}
    void renew();

    sys::Store& store_;
    const std::string run_;
    const Use use_;
    std::uint32_t session_ = 0, above_ = 0;
    std::string lock_path_;
    sys::FileLock lock_;
    std::mutex mutex_;  // guards what follows
    std::condition_variable wake_;
    bool ends_ = false;
    sys::Thread thread_;
};

}  // namespace forebay::catalog
