// A wait for a lock of another process on this machine. A killed process keeps its locks until the kernel has ended it.
// This takes a while if the machine is busy or the process has much memory, so a restart right after a kill waits. A
// living process keeps its lock, so the wait for it ends soon.

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/sys/clock.hpp"
#include "path/node/long_wait.hpp"

namespace forebay::node {

/// In this time the kernel frees some hundred gigabytes of memory.
inline constexpr std::chrono::seconds ending_holder_max{60};
/// Ranks live on for a moment after a kill of their mpiexec. A new session waits this long for a living process.
inline constexpr std::chrono::seconds living_holder_max{2};

/// One wait for one lock.
class HolderWait {
public:
    /// Waits `for_living` for a living holder, and not at all for this process.
    explicit HolderWait(std::string lock, std::chrono::milliseconds for_living = living_holder_max)
        : lock_(std::move(lock)), for_living_(for_living), began_(sys::Clock::now()) {}

    /// Call it when the lock is held, probably by `process` (0: unknown). Returns a text for the log, or nothing if the
    /// wait is over.
    std::optional<std::string> turn(std::int64_t process, sys::Clock::time_point now = sys::Clock::now()) const;

private:
    const std::string lock_;
    const std::chrono::milliseconds for_living_;
    const sys::Clock::time_point began_;
};

/// Waits until nobody holds the file `lock`, as long as HolderWait allows. `say` gets the text of HolderWait. True if
/// the lock is free. `retry` if the application interrupts the wait.
Result<bool> await_free(const std::string& lock, std::int64_t process, const Say& say);

}  // namespace forebay::node
