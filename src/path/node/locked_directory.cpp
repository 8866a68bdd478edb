#include "path/node/locked_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "core/base/limits.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/process_state.hpp"
#include "core/sys/store.hpp"
#include "path/node/staging.hpp"
#include "path/node/watch.hpp"

namespace forebay::node {

namespace {

// On a busy node an agent takes seconds to free gigabytes of memory.
constexpr std::chrono::seconds freeing_max{60};
constexpr std::chrono::milliseconds lock_pause{20};

// An agent that frees a directory removes the control page first.
bool is_being_freed(const std::string& directory) {
    const auto old = Watch::open(directory);
    return old ? old->page().lingering.load() == lingering_frees : old.error().kind == ErrorKind::missing;
}

}  // namespace

std::int64_t process_of_session(const std::string& directory) {
    const auto path = session_path(directory);
    const auto text = sys::read_text(sys::posix_store(), path, limits::session_bytes_max);
    const auto session = text ? decode_session(*text, path) : Result<SessionFile>(text.error());
    return session ? session->process : 0;
}

DirectoryLocking::DirectoryLocking(std::string directory, std::string run, std::chrono::milliseconds for_living)
    : directory_(std::move(directory)),
      run_(std::move(run)),
      wait_(application_lock_path(directory_), for_living),
      freed_by_(sys::Clock::now() + freeing_max) {}

std::optional<Result<LockedDirectory>> DirectoryLocking::turn() {
    if (auto directory = sys::make_private_directory(directory_); !directory) return directory.error();
    auto lock = sys::FileLock::take(application_lock_path(directory_));
    if (lock) return LockedDirectory(directory_, std::move(*lock));
    const auto kind = lock.error().kind;
    if (kind != ErrorKind::missing && kind != ErrorKind::retry) return not_usable(directory_, lock.error());
    // An agent that frees the directory holds the lock and removes the directory during this call.
    if ((kind == ErrorKind::missing || is_being_freed(directory_)) && sys::Clock::now() < freed_by_) {
        named_ = fmt::format("an agent that frees {}: at most {} s in all", directory_, freeing_max.count());
        return {};
    }
    if (kind == ErrorKind::missing) return lock.error();
    const auto process = process_of_session(directory_);
    if (auto holder = wait_.turn(process)) {
        named_ = std::move(*holder);
        return {};
    }
    return refusal(process);
}

Error DirectoryLocking::refusal(std::int64_t process) const {
    const auto lock = application_lock_path(directory_);
    const auto who = process == 0 ? std::string() : fmt::format(" (process {})", process);
    const auto run = run_.empty() ? "the staged copies in " + directory_ : "run " + run_;
    if (process == 0 || sys::state_of_process(process) != sys::ProcessState::ending)
        return {ErrorKind::refused,
                fmt::format("another session{} writes {} on this node ({} is locked)", who, run, lock),
                "all of its snapshots", "end that session, or choose another run directory"};
    return {ErrorKind::retry,
            fmt::format("the session{} that wrote {} on this node is ending, and {} is still locked after {} s", who,
                        run, lock, ending_holder_max.count()),
            "all of its snapshots",
            fmt::format(
                "look at /proc/{}/stack: the process hangs on a disk or a file system. Start again when it has ended",
                process)};
}

Result<LockedDirectory> LockedDirectory::lock(const std::string& directory, const std::string& run, const Say& say) {
    // A living session is no reason to wait: a person who starts our program wants the answer at once.
    DirectoryLocking locking(directory, run, std::chrono::milliseconds(0));
    LongWait wait(say, ending_holder_max, "");
    while (true) {
        if (auto outcome = locking.turn()) return std::move(*outcome);
        wait.turn([&] { return locking.holder(); });
        if (wait.is_interrupted()) return interrupted("the wait for " + locking.holder());
        std::this_thread::sleep_for(lock_pause);
    }
}

LockedDirectory::~LockedDirectory() {
    if (!lock_.held()) return;
    const auto entries = sys::posix_store().list(path_);
    const bool holds_nothing =
        entries && std::ranges::all_of(*entries, [](const sys::Entry& entry) { return entry.name.ends_with(".lock"); });
    if (holds_nothing) static_cast<void>(sys::posix_store().remove_tree(path_));
}

}  // namespace forebay::node
