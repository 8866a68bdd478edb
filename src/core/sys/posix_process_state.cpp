// The state of a process, from the states of its threads in /proc.

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/sys/process_state.hpp"

namespace forebay::sys {

namespace {

// Bits of the flags in /proc/PID/stat, from include/linux/sched.h. Linux has not changed them since 2.6.
constexpr unsigned long is_exiting = 0x4, dumps_core = 0x200, ended_by_signal = 0x400;

enum class ThreadState { gone, exiting, killed, living };

// "4711 (a name) S 1 4711 ..." -> the words behind the name, which may hold spaces and brackets. The state is the first
// word, the flags are the seventh.
ThreadState by_stat(const std::string& text) {
    std::istringstream words(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::string state, skipped;
    unsigned long flags = 0;
    words >> state;
    for (int i = 0; i < 5; ++i) words >> skipped;
    words >> flags;
    if (!words) return ThreadState::gone;
    if ((flags & (dumps_core | ended_by_signal)) != 0) return ThreadState::killed;
    const bool has_ended = state == "Z" || state == "X";
    return has_ended || (flags & is_exiting) != 0 ? ThreadState::exiting : ThreadState::living;
}

// True if a thread has not taken a SIGKILL yet: the process waits for a disk, or for its turn on a busy machine.
bool has_kill_pending(const std::string& status) {
    for (const auto* name : {"SigPnd:\t", "ShdPnd:\t"}) {
        const auto at = status.find(name);
        if (at == status.npos) continue;
        std::uint64_t signals = 0;
        std::from_chars(status.data() + at + 8, status.data() + status.size(), signals, 16);
        if ((signals >> (signal_kill - 1) & 1) != 0) return true;
    }
    return false;
}

ThreadState state_of_thread(const std::string& folder) {
    const auto stat = kernel_text((folder + "/stat").c_str());
    const auto state = stat ? by_stat(*stat) : ThreadState::gone;
    if (state != ThreadState::living) return state;
    const auto status = kernel_text((folder + "/status").c_str());
    return status && has_kill_pending(*status) ? ThreadState::killed : state;
}

}  // namespace

ProcessState state_of_process(std::int64_t process) {
    if (process <= 0) return ProcessState::gone;
    std::error_code failed;
    std::filesystem::directory_iterator thread(fmt::format("/proc/{}/task", process), failed);
    bool has_threads = false, lives = false;
    for (; !failed && thread != std::filesystem::directory_iterator(); thread.increment(failed)) {
        const auto state = state_of_thread(thread->path().string());
        // A signal that ends one thread ends all threads.
        if (state == ThreadState::killed) return ProcessState::ending;
        has_threads = has_threads || state != ThreadState::gone;
        lives = lives || state == ThreadState::living;
    }
    if (has_threads) return lives ? ProcessState::living : ProcessState::ending;
    // Without /proc, a process that exists counts as living (EPERM: of another user).
    return ::kill(static_cast<pid_t>(process), 0) == 0 || errno == EPERM ? ProcessState::living : ProcessState::gone;
}

}  // namespace forebay::sys
