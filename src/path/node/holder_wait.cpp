#include "path/node/holder_wait.hpp"

#include <fmt/format.h>

#include <thread>

#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/sys/process_state.hpp"

namespace forebay::node {

namespace {

constexpr std::chrono::milliseconds look_pause{20};

}  // namespace

std::optional<std::string> HolderWait::turn(std::int64_t process, sys::Clock::time_point now) const {
    // This process holds the lock itself: the wait would never end.
    if (process == sys::process_id()) return {};
    const auto state = process == 0 ? sys::ProcessState::living : sys::state_of_process(process);
    const bool lives = state == sys::ProcessState::living;
    const std::chrono::milliseconds at_most = lives ? for_living_ : ending_holder_max;
    if (now - began_ >= at_most) return {};
    const auto who = process == 0 ? "a process" : fmt::format("process {}", process);
    // The lock may outlive the recorded process: another process may work on its staged files.
    return fmt::format("{} on {}, which {}, and for its lock {}: at most {} s in all", who, sys::host_name(),
                       lives                                ? "may be ending"
                       : state == sys::ProcessState::ending ? "is ending"
                                                            : "has ended",
                       lock_, std::chrono::duration<double>(at_most).count());
}

Result<bool> await_free(const std::string& lock, std::int64_t process, const Say& say) {
    const HolderWait holder(lock);
    LongWait wait(say, ending_holder_max, "");
    while (sys::lock_is_held(lock)) {
        const auto whom = holder.turn(process);
        if (!whom) return false;
        wait.turn([&] { return *whom; });
        if (wait.is_interrupted()) return interrupted("the wait for " + *whom);
        std::this_thread::sleep_for(look_pause);
    }
    return true;
}

}  // namespace forebay::node
