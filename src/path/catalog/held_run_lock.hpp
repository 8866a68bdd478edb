// The run lock that a verb holds while it changes files of the run.

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
    /// A `copy` saves nothing. When it ends, the run lock is as before, unless the copy brings snapshots of later
    /// sessions.
    enum class Use { change, copy };
    using Say = std::function<void(const std::string& line)>;
    /// `refused` while a session or another such verb holds the run. Renews its lock until the object ends, as sessions
    /// do. `say` gets a line if the wait for another lock lasts. For a copy: `source` is the copied run, because the
    /// lock of the source's session may have been copied before; `brought` is the last session with a snapshot in the
    /// copy.
    static Result<std::unique_ptr<HeldRunLock>> take(sys::Store& store, const std::string& run, const Say& say,
                                                     Use use = Use::change, const std::string& source = {},
                                                     std::uint32_t brought = 0);
    /// Returns the same refusal, without taking the lock.
    static Result<> check_free(sys::Store& store, const std::string& run, const Say& say,
                               const std::string& source = {});
    HeldRunLock(const HeldRunLock&) = delete;
    HeldRunLock& operator=(const HeldRunLock&) = delete;
    ~HeldRunLock();

    std::uint32_t session() const { return session_; }
    /// `refused` if another process took the run meanwhile, because this process stood still for too long.
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
    std::mutex mutex_;  // guards the members below
    std::condition_variable wake_;
    bool ends_ = false;
    sys::Thread thread_;
};

}  // namespace forebay::catalog
