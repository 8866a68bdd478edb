// This process and others: signals, CPUs, programs that are started.

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

/// This process and its children go on as another user, with that user's groups, for good. `refused` if this process may
/// not, `missing` if the machine does not know the user.
Result<> become_user(std::uint32_t user_id);

/// Takes the numbers 0 to 2 where they are closed, so that no file of ours or of a library gets one; whoever writes to
/// them fails as before. For programs at their start; what opens something here calls it itself.
void hold_standard_descriptors();

/// For programs of ours at their start: a file of theirs that outgrows the limit on its size (ulimit -f) is an error of
/// the write, where the kernel's signal would end them. The library never touches the application's signals.
void ignore_file_size_signal();

/// SIGTERM, SIGINT and, unless it is ignored, SIGHUP as something to wait for: for programs, made before they start
/// threads.
class EndSignals {
public:
    EndSignals();
    /// Until one has come, whose number it gives; the next one ends the process.
    int wait();
    /// Its number, if one has come; 0: none.
    int come() const;
    /// Ends this process as the signal would have done.
    [[noreturn]] static void end_by(int signal);
};

/// For programs: before SIGINT or SIGTERM ends this process, as it would have done, a line says on standard error what
/// is `safe` and what is `next`. A signal that is ignored stays so.
void say_when_ended(const std::string& safe, const std::string& next);

struct Spawn {
    std::string program;
    std::vector<std::string> arguments;                            // without the program itself
    std::vector<std::pair<std::string, std::string>> environment;  // added to or replacing the caller's
    std::vector<std::string> environment_removed;                  // e.g. LD_PRELOAD
    std::string log_path;                                          // stdout and stderr, appended
    // Whether it is ready, seen from outside: looked at once it has become a daemon, where its exit code cannot be had
    // since the application ignores SIGCHLD or collects all children itself.
    std::function<bool()> is_ready = {};
    std::function<bool()> interrupted = {};  // asked during the wait; true ends it as the timeout does
};

/// Starts a program in a session of its own that outlives this process and is nobody's zombie: the program is
/// expected to fork and let its first process exit with 0 once it is ready (see DaemonStart). Waits for that at
/// most `timeout`, then kills what it started and answers `retry`. Another exit code is `broken`, with the end of
/// the log in the text. Only descriptors 0-2 are inherited; signals are as in a fresh login.
Result<> spawn_daemon(const Spawn& spawn, std::chrono::milliseconds timeout);

/// The other half, called early by the started program, before it has threads: forks and returns in the child; the
/// parent exits with 0 when the object's ready() is called, or with 1 if the child ends or drops the object before.
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

/// What a program prints, its errors too, at most 64 KiB of it. The program is looked for in PATH. `missing` when there
/// is no such program, `retry` when it was killed because it had not ended after `timeout`, else an exit code but 0 is
/// `broken`, with the end of what it printed.
Result<std::string> output_of(const std::vector<std::string>& command, std::chrono::milliseconds timeout);

/// The same of a script for /bin/sh, which is killed with all that it has started when this process ends, however that
/// comes.
Result<std::string> output_of_script(const std::string& script, std::chrono::milliseconds timeout);

/// Runs a program in the foreground, with this one's input and outputs, and gives its exit code, or 128 and the number
/// of the signal that ended it. It gets SIGTERM when this process ends, however that comes, and what `signal()` gives,
/// which is asked all the time. `missing` when there is no such program.
Result<int> run_in_front(const std::vector<std::string>& command, const std::function<int()>& signal);

/// What may be given to it: SIGTERM and SIGKILL, whose numbers POSIX fixes.
inline constexpr int signal_terminate = 15, signal_kill = 9;

/// The same for a program that works unseen: its input is empty, its output goes to `output_path`, which is made anew,
/// and its errors are appended to `log_path`, as is its output where `output_path` is empty. It has a process group of
/// its own, and signals go to all of that. `is_ready` is not asked.
Result<int> run_in_front(const Spawn& spawn, const std::string& output_path, const std::function<int()>& signal);

/// Pins all threads of this process to a CPU list as in "0-3,8"; "all" is every CPU the job may use, which frees an
/// agent from the binding of the rank that started it; an empty list changes nothing.
Result<> pin_to_cpus(const std::string& cpu_list);

/// How many CPUs the calling thread may run on.
int cpus_allowed();

/// How many CPUs the machine has in use, whoever may run on them.
int cpus_online();

/// Moves this thread to one of the CPUs it may use: number `turn`, modulo how many there are. When it next wakes, the
/// kernel places it as ever.
void take_cpu(std::uint64_t turn);

/// From now on this thread, and threads that it starts, take no CPU from whoever runs there when they are woken: they
/// wait for their turn, and get as much in the end.
Result<> give_way();

/// The path of the running program or, for a library, of the file it was loaded from.
std::string own_object_path();

}  // namespace forebay::sys
