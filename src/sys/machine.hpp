// The rest of the machine: clocks, processes, locks between processes, and a wait on shared memory.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "forebay/result.hpp"

namespace forebay::sys {

using Clock = std::chrono::steady_clock;

/// Nanoseconds since 1970, for records that people and other nodes read.
std::int64_t unix_ns();

std::string host_name();
std::string user_name();
std::uint32_t user_id();
std::int64_t process_id();

/// Which start of this machine's kernel this is; empty where nobody tells.
std::string boot_id();

/// Which file a path leads to, as long as this kernel runs; empty when there is none.
std::string file_id(const std::string& path);

/// A 64-bit number from the kernel's random source.
std::uint64_t random_u64();

/// Takes the numbers 0 to 2 where they are closed, so that no file of ours or of a library gets one; whoever writes to
/// them fails as before. For programs at their start; what opens something here calls it itself.
void hold_standard_descriptors();

/// For programs of ours at their start: a file of theirs that outgrows the limit on its size (ulimit -f) is an error of
/// the write, where the kernel's signal would end them. The library never touches the application's signals.
void ignore_file_size_signal();

/// Waits until `word` is no longer `seen`, or until `timeout`; works between processes that share the word's
/// memory (std::atomic::wait does not: it uses private futexes). May return early.
void wait_on(const std::atomic<std::uint32_t>& word, std::uint32_t seen, std::chrono::nanoseconds timeout);
void wake_all(const std::atomic<std::uint32_t>& word);

/// An exclusive lock on a file, held as long as the object and its process live, and no longer by what that process has
/// forked: how a dead session is told from a living one.
class FileLock {
public:
    FileLock() = default;
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();
    /// Creates the file (0600, never through a link) if need be. `retry` when another process holds the lock,
    /// `unsupported` where the file system has no locks.
    static Result<FileLock> take(const std::string& path);
    bool held() const { return fd_ >= 0; }
    void release();

private:
    int fd_ = -1;
    std::int64_t owner_ = 0;  // the process that took it; a forked child must not unlock its parent's
};

/// Whether some process holds the lock; a missing file is not held. `unsupported` where the file system has no locks.
Result<bool> lock_state(const std::string& path);
/// The same; one that cannot be looked at counts as held.
bool lock_is_held(const std::string& path);

/// Creates a directory that belongs to this user alone (0700); an existing one is accepted only if it is a
/// directory, not a link, owned by this user and closed to others; else `refused` with the reason.
Result<> make_private_directory(const std::string& path);

/// The text, of at most 64 KiB, of a file of this user that is closed to others; `refused` for another file.
Result<std::string> read_private(const std::string& path);
/// Gives `path` this content, in a file that is closed to others from the first moment on.
Result<> write_private(const std::string& path, const std::string& text);
/// The same for a new file; false, and nothing is changed, where one is. Of several that call it, of any hosts, one
/// makes the file.
Result<bool> create_private(const std::string& path, const std::string& text);

/// SIGTERM and SIGINT as something to wait for: for programs, made before they start threads.
class EndSignals {
public:
    EndSignals();
    /// Until one has come; the next one ends the process.
    void wait();
};

struct Spawn {
    std::string program;
    std::vector<std::string> arguments;                            // without the program itself
    std::vector<std::pair<std::string, std::string>> environment;  // added to or replacing the caller's
    std::vector<std::string> environment_removed;                  // e.g. LD_PRELOAD
    std::string log_path;                                          // stdout and stderr, appended
    // Whether it is ready, seen from outside: looked at once it has become a daemon, where its exit code cannot be had
    // since the application ignores SIGCHLD or collects all children itself.
    std::function<bool()> is_ready = {};
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

/// Pins all threads of this process to a CPU list as in "0-3,8"; "all" is every CPU the job may use, which frees an
/// agent from the binding of the rank that started it; an empty list changes nothing.
Result<> pin_to_cpus(const std::string& cpu_list);

/// How many CPUs the calling thread may run on.
int cpus_allowed();

/// From now on this thread, and threads that it starts, take no CPU from whoever runs there when they are woken: they
/// wait for their turn, and get as much in the end.
Result<> give_way();

/// The path of the running program or, for a library, of the file it was loaded from.
std::string own_object_path();

enum class Output { standard, error };
/// Whether a person looks at this output: whether it is a terminal.
bool is_terminal(Output output);

/// Bytes free for this user on the file system of `path`.
Result<std::uint64_t> free_bytes(const std::string& path);

}  // namespace forebay::sys
