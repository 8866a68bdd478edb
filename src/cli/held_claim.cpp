#include "cli/held_claim.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/attempt.hpp"
#include "base/try.hpp"
#include "catalog/claim.hpp"
#include "catalog/run.hpp"
#include "cli/log.hpp"
#include "forebay/options.hpp"
#include "sys/machine.hpp"
#include "sys/process.hpp"

namespace forebay::cli {

Result<std::unique_ptr<HeldClaim>> HeldClaim::take(sys::Store& store, const std::string& run) {
    FB_TRY(catalog::make_identity(store, run));
    std::unique_ptr<HeldClaim> held(new HeldClaim(store, run));
    // By this others of this machine see at once whether it lives.
    held->lock_path_ = fmt::format("{}/forebay-claim-{}-{:016x}.lock", std::filesystem::temp_directory_path().string(),
                                   sys::process_id(), sys::random_u64());
    FB_TRY_ASSIGN(lock, sys::FileLock::take(held->lock_path_));
    held->lock_ = std::move(lock);
    FB_TRY_ASSIGN(session, catalog::claim(store, run,
                                          {.host = sys::host_name(),
                                           .user = sys::user_name(),
                                           .boot = sys::boot_id(),
                                           .lock_path = held->lock_path_,
                                           .lock_id = sys::file_id(held->lock_path_),
                                           .process = sys::process_id()},
                                          {.watch = Options{}.takeover_wait, .log = log_to_errors()}));
    held->session_ = session;
    FB_TRY_ASSIGN(thread, sys::Thread::start([one = held.get()] { one->renew(); }));
    held->thread_ = std::move(thread);
    return held;
}

void HeldClaim::renew() {
    std::unique_lock lock(mutex_);
    for (auto count = sys::random_u64(); !wake_.wait_for(lock, catalog::claim_renewal, [this] { return ends_; });) {
        lock.unlock();
        // What cannot be renewed now is tried again; others watch for several rounds.
        static_cast<void>(attempt([&] { return catalog::renew_claim(store_, run_, session_, ++count); }));
        lock.lock();
    }
}

HeldClaim::~HeldClaim() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    wake_.notify_all();
    thread_.join();
    // Else the next session watches it for a while.
    if (session_ != 0) static_cast<void>(attempt([this] { return catalog::end_claim(store_, run_, session_); }));
    lock_.release();
    std::error_code ignored;
    std::filesystem::remove(lock_path_, ignored);
}

}  // namespace forebay::cli
