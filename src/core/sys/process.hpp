// This process and other processes: signals, CPUs, starting programs.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::sys {

std::int64_t process_id();
/// The name of the program that started this process, as in /proc/PID/comm: at most 15 characters. Empty if unknown.
std::string name_of_parent();

/// This process and its children go on as another user, with that user's groups, for good. `refused` if this process
/// may not, `missing` if the machine does not know the user.
Result<> become_user(std::uint32_t user_id);

/// Occupies the numbers 0 to 2 if they are closed, so that no file of ours or of a library gets them. Writes to them
/// fail as before. Programs call it at their start; functions that open something here call it themselves.
void hold_standard_descriptors();

/// Programs of ours call this at their start. If a file outgrows the limit on its size (ulimit -f), the write then
/// fails, and no signal ends the program. The library never touches the application's signals.
void ignore_file_size_signal();

/// Waits for SIGTERM, SIGINT and, unless it is ignored, SIGHUP. For programs only; create it before they start threads.
class EndSignals {
public:
    EndSignals();
    /// Waits for a signal and returns its number; the next signal ends the process.
    int wait();
    /// The number of a signal that has come, or 0.
    int come() const;
    /// The same. True in `by_terminal` if a key such as Ctrl-C sent it: then the whole foreground group has it.
    int come(bool& by_terminal) const;
    /// Ends this process as the signal would.
    [[noreturn]] static void end_by(int signal);
};

/// For programs: before SIGINT or SIGTERM ends this process as usual, a line on standard error reports `safe` and
/// `next`. Ignored signals stay ignored.
void say_when_ended(const std::string& safe, const std::string& next);

struct Spawn {
    std::string program;
    std::vector<std::string> arguments;                            // without the program itself
    std::vector<std::pair<std::string, std::string>> environment;  // added to or replacing the caller's
    std::vector<std::string> environment_removed;                  // e.g. LD_PRELOAD
    bool environment_alone = false;                                // true: nothing of the caller's environment
    std::string log_path;                                          // stdout and stderr, appended
    // Checks from outside if the program is ready. Asked when its first process has ended but its exit code cannot
    // be had: the application ignores SIGCHLD or collects all children itself.
    std::function<bool()> is_ready = {};
    std::function<bool()> interrupted = {};  // asked during the wait; true ends the wait like the timeout
};

/// "NAME=value" texts: the caller's environment with the changes of `spawn`.
std::vector<std::string> environment_for(const Spawn& spawn);

/// Starts a program in its own session. It outlives this process and is nobody's zombie. The program must fork, and let
/// its first process exit with 0 when it is ready (see DaemonStart). Waits for that at most `timeout`, then kills the
/// program and returns `retry`. Another exit code is `broken`, with the end of the log in the text. Only descriptors
/// 0-2 are inherited; signals are as in a fresh login. A name without a slash is searched in PATH of this process.
Result<> spawn_daemon(const Spawn& spawn, std::chrono::milliseconds timeout);

/// The other half. The started program calls it early, before it has threads. It forks and returns in the child. The
/// parent exits with 0 when the child calls ready(), or with 1 if the child ends or drops the object before.
class DaemonStart {
public:
    static Result<DaemonStart> fork_away();
    DaemonStart(DaemonStart&& other) noexcept;
    DaemonStart& operator=(DaemonStart&&) = delete;
    DaemonStart(const DaemonStart&) = delete;
    DaemonStart& operator=(const DaemonStart&) = delete;
    ~DaemonStart();
    void ready();

private:
    explicit DaemonStart(int fd) : fd_(fd) {}
    int fd_ = -1;
};

/// The output of a program, with its errors, at most 64 KiB. The program is searched in PATH. `missing` if there is
/// none; `retry` if it had not ended after `timeout` and was killed. An exit code other than 0 is `broken`, with the
/// end of the output.
Result<std::string> output_of(const std::vector<std::string>& command, std::chrono::milliseconds timeout);

/// The same for a script of /bin/sh. When this process ends, for any reason, the script is killed with all that it
/// started.
Result<std::string> output_of_script(const std::string& script, std::chrono::milliseconds timeout);

/// Runs a program in the foreground, with this process's input and outputs. Returns its exit code, or 128 plus the
/// number of the signal that ended it. The program gets SIGTERM when this process ends, for any reason. It also gets
/// the signals that `signal()` returns, which is asked all the time. `missing` if there is no such program.
Result<int> run_in_front(const std::vector<std::string>& command, const std::function<int()>& signal);

/// Results of `signal()`: SIGTERM and SIGKILL, whose numbers POSIX fixes.
inline constexpr int signal_terminate = 15, signal_kill = 9;

/// The same for a background program with empty input. Its output goes to `output_path`, which is made anew, or is
/// appended to the log if that is empty. Errors are appended to `log_path`. The program has its own process group, and
/// the whole group gets the signals. `is_ready` is not used.
Result<int> run_in_front(const Spawn& spawn, const std::string& output_path, const std::function<int()>& signal);

/// Pins all threads of this process to a CPU list such as "0-3,8". "all" is every CPU of the job: it frees an agent
/// from the binding of the rank that started it. An empty list changes nothing.
Result<> pin_to_cpus(const std::string& cpu_list);

/// How many CPUs the calling thread may run on.
int cpus_allowed();

/// How many CPUs of the machine are in use, also if this process may not run on them.
int cpus_online();

/// Moves this thread to one of the CPUs it may use: number `turn`, modulo their count. At its next wake-up the kernel
/// places it as usual.
void take_cpu(std::uint64_t turn);

/// From now on this thread, and threads that it starts, do not preempt a running thread when they wake up. They wait
/// for their turn, and get the same share in the end.
Result<> give_way();

/// The path of the running program or, in a library, of the file it was loaded from.
std::string own_object_path();

}  // namespace forebay::sys
