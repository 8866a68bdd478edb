#include "path/node/run_lock.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/bytes.hpp"
#include "core/base/siphash.hpp"
#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/process.hpp"
#include "core/sys/store.hpp"
#include "path/node/staging.hpp"

namespace forebay::node {

namespace {

std::string record_of(const std::string& path) { return path + ".host"; }

// The path of the replacement, the same for all names of the lock file.
Result<std::string> stand_in_of(const std::string& path) {
    const std::filesystem::path given(path);
    std::error_code failed;
    const auto parent = std::filesystem::canonical(given.parent_path(), failed);
    if (failed)
        return Error{failed == std::errc::no_such_file_or_directory ? ErrorKind::missing : ErrorKind::retry,
                     fmt::format("lock {}: {}", path, failed.message())};
    FB_TRY_ASSIGN(home, staging_home(""));
    return fmt::format("{}/lock-{:016x}", home, siphash({}, bytes_of((parent / given.filename()).string())));
}

/// The host of the holder or last holder. `missing` if there is none, "" if its write was cut off.
Result<std::string> host_in(const std::string& record) {
    FB_TRY_ASSIGN(there, sys::posix_store().exists(record));
    if (!there) return Error{ErrorKind::missing, record};
    FB_TRY_ASSIGN(text, sys::read_private(record));
    return text.substr(0, text.find('\n'));
}

bool is_elsewhere(const Result<std::string>& host) {
    return host ? *host != sys::host_name() : host.error().kind != ErrorKind::missing;
}

}  // namespace

RunLock& RunLock::operator=(RunLock&& other) noexcept {
    if (this != &other) {
        release();
        lock_ = std::move(other.lock_);
        stand_in_ = std::move(other.stand_in_);
        record_ = std::move(other.record_);
        owner_ = other.owner_;
    }
    return *this;
}

Result<RunLock> RunLock::take(const std::string& path) {
    RunLock taken;
    taken.owner_ = sys::process_id();
    auto lock = sys::FileLock::take(path);
    const bool has_none = !lock && lock.error().kind == ErrorKind::unsupported;
    if (has_none) {
        FB_TRY_ASSIGN(stand_in, stand_in_of(path));
        lock = sys::FileLock::take(stand_in);
        if (!lock) return with_context(lock.error(), fmt::format("{}, in place of {}", lock.error().what, path));
        taken.stand_in_ = stand_in;
    }
    if (!lock) return lock.error();
    taken.lock_ = std::move(*lock);
    if (!has_none) return taken;
    const auto record = record_of(path);
    // The file is created exclusively, so only one host gets it.
    FB_TRY_ASSIGN(file, sys::create_private(record, sys::host_name() + "\n"));
    const auto host = file ? sys::host_name() : host_in(record);
    // A record of this host is from a killed process: a living holder would still hold the replacement lock.
    if (!host || *host != sys::host_name())
        return Error{ErrorKind::retry,
                     fmt::format("lock {}: another process may hold it{}", path, run_lock_doubt(path))};
    taken.record_ = record;
    return taken;
}

// The lock goes last, so until then no other process of this host makes files with these names.
void RunLock::release() {
    if (lock_.held() && is_of_host() && owner_ == sys::process_id()) {
        // If the removal fails, the record is like the record of a killed process: it blocks other hosts, but not this
        // one. Do not remove it by the store: this lock may be released after the store ends with the process.
        std::error_code stays;
        if (!record_.empty()) std::filesystem::remove(record_, stays);
        std::filesystem::remove(stand_in_, stays);
    }
    lock_.release();
}

bool run_lock_is_held(const std::string& path) {
    const auto held = sys::lock_state(path);
    if (held) return *held;
    if (held.error().kind != ErrorKind::unsupported) return true;
    const auto stand_in = stand_in_of(path);
    if (!stand_in) return stand_in.error().kind != ErrorKind::missing;
    return sys::lock_is_held(*stand_in) || is_elsewhere(host_in(record_of(path)));
}

std::string run_lock_doubt(const std::string& path) {
    const auto held = sys::lock_state(path);
    const auto host = host_in(record_of(path));
    if (held || held.error().kind != ErrorKind::unsupported || !is_elsewhere(host)) return "";
    return fmt::format(
        " (on {}, if it still runs: the file system has no working locks. Mount Lustre with flock, or NFS with a lock "
        "manager. If it has ended: remove {})",
        host && !host->empty() ? *host : "another host", record_of(path));
}

}  // namespace forebay::node
