#include "path/catalog/held_run_lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "forebay/options.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/run_lock.hpp"
#include "path/catalog/savers.hpp"

namespace forebay::catalog {

namespace {

RunLockOwner lock_owner_of(const std::string& lock_path, HeldRunLock::Use use) {
    return {.host = sys::host_name(),
            .user = sys::user_name(),
            .boot = sys::boot_id(),
            .lock_path = lock_path,
            .lock_id = lock_path.empty() ? "" : sys::file_id(lock_path),
            .process = sys::process_id(),
            .is_copy = use == HeldRunLock::Use::copy};
}

Result<RunLockOptions> run_lock_options(sys::Store& store, const HeldRunLock::Say& say, const std::string& source) {
    RunLockOptions options{.watch = Options{}.takeover_wait, .say = [say](const std::string& line) { say(line); }};
    if (source.empty()) return options;
    FB_TRY_ASSIGN(last, last_session(store, source));
    if (last) options.copied_key = last->key;
    return options;
}

}  // namespace

Result<std::unique_ptr<HeldRunLock>> HeldRunLock::take(sys::Store& store, const std::string& run, const Say& say,
                                                       Use use, const std::string& source, std::uint32_t brought) {
    if (use == Use::change) FB_TRY(make_identity(store, run));  // a copy brings the identity of its source
    std::unique_ptr<HeldRunLock> held(new HeldRunLock(store, run, use));
    // Other processes of this machine see at once by this file whether this process lives.
    held->lock_path_ = fmt::format("{}/forebay-claim-{}-{:016x}.lock", std::filesystem::temp_directory_path().string(),
                                   sys::process_id(), sys::random_u64());
    FB_TRY_ASSIGN(lock, sys::FileLock::take(held->lock_path_));
    held->lock_ = std::move(lock);
    FB_TRY_ASSIGN(options, run_lock_options(store, say, source));
    FB_TRY_ASSIGN(last, last_saver_of_all(store, run));
    held->above_ = std::max(last, brought);
    options.above = held->above_;
    FB_TRY_ASSIGN(session, claim(store, run, lock_owner_of(held->lock_path_, use), options));
    held->session_ = session;
    FB_TRY_ASSIGN(thread, sys::Thread::start([claim = held.get()] { claim->renew(); }));
    held->thread_ = std::move(thread);
    return held;
}

Result<> HeldRunLock::check_free(sys::Store& store, const std::string& run, const Say& say, const std::string& source) {
    FB_TRY_ASSIGN(options, run_lock_options(store, say, source));
    return check_unlocked(store, run, lock_owner_of("", Use::copy), options);
}

Result<> HeldRunLock::check_held() const {
    FB_TRY_ASSIGN(later, claimed_after(store_, run_, session_));
    if (!later) return {};
    return Error{ErrorKind::refused, fmt::format("{} has taken over run {} from this process", *later, run_),
                 "the data that were whole before", "repeat the same command when no other process writes there"};
}

void HeldRunLock::renew() {
    std::unique_lock lock(mutex_);
    for (auto count = sys::random_u64(); !wake_.wait_for(lock, run_lock_renewal, [this] { return ends_; });) {
        lock.unlock();
        // A failed renewal is tried again in the next round. Others watch for several rounds before they take over.
        static_cast<void>(attempt([&] { return renew_run_lock(store_, run_, session_, ++count); }));
        lock.lock();
    }
}

HeldRunLock::~HeldRunLock() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    wake_.notify_all();
    // First the thread: no renewal may come after the end of the lock.
    thread_.join();
    // Without this, the next session would watch the lock for a while.
    if (session_ != 0)
        static_cast<void>(attempt([this] {
            return use_ == Use::copy ? withdraw_run_lock(store_, run_, session_, above_)
                                     : end_run_lock(store_, run_, session_);
        }));
    lock_.release();
    std::error_code ignored;
    std::filesystem::remove(lock_path_, ignored);
}

}  // namespace forebay::catalog
