// Arguments of posix_spawn(3), with owners. For sys/posix_*.cpp only.

#pragma once

#include <fcntl.h>
#include <spawn.h>

#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <vector>

#include "core/sys/clock.hpp"
#include "core/sys/process.hpp"

namespace forebay::sys {

struct FileActions {
    posix_spawn_file_actions_t raw;
    FileActions() { ::posix_spawn_file_actions_init(&raw); }
    ~FileActions() { ::posix_spawn_file_actions_destroy(&raw); }
    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;

    /// Input comes from `input`, or from /dev/null if it is below 0; output and errors go to `output`. All other
    /// descriptors are closed: they would keep files, sockets and mpiexec's pipes of a dead application alive.
    int only_output_to(int output, int input = -1) {
        if (int e = input < 0 ? ::posix_spawn_file_actions_addopen(&raw, 0, "/dev/null", O_RDONLY, 0)
                              : ::posix_spawn_file_actions_adddup2(&raw, input, 0))
            return e;
        if (int e = ::posix_spawn_file_actions_adddup2(&raw, output, 1)) return e;
        if (int e = ::posix_spawn_file_actions_adddup2(&raw, output, 2)) return e;
        return ::posix_spawn_file_actions_addclosefrom_np(&raw, 3);
    }
    /// Input and output use `socket`, errors go to `errors`, and all other descriptors are closed.
    int only_talk_over(int socket, int errors) {
        if (int e = ::posix_spawn_file_actions_adddup2(&raw, socket, 0)) return e;
        if (int e = ::posix_spawn_file_actions_adddup2(&raw, socket, 1)) return e;
        if (int e = ::posix_spawn_file_actions_adddup2(&raw, errors, 2)) return e;
        return ::posix_spawn_file_actions_addclosefrom_np(&raw, 3);
    }
};

struct SpawnAttributes {
    posix_spawnattr_t raw;
    SpawnAttributes() { ::posix_spawnattr_init(&raw); }
    ~SpawnAttributes() { ::posix_spawnattr_destroy(&raw); }
    SpawnAttributes(const SpawnAttributes&) = delete;
    SpawnAttributes& operator=(const SpawnAttributes&) = delete;

    /// A new session, and signals as in a fresh login. The application may block or ignore signals, but the program
    /// must still obey them.
    int fresh_session() {
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        if (int e = ::posix_spawnattr_setsigmask(&raw, &none)) return e;
        if (int e = ::posix_spawnattr_setsigdefault(&raw, &all)) return e;
        return ::posix_spawnattr_setflags(&raw, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }
};

/// The form of a list for exec: pointers into `strings`, and a null pointer.
inline std::vector<char*> pointers_to(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    pointers.reserve(strings.size() + 1);
    for (auto& text : strings) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Starts the program in its own session. Input and output use `socket`, errors go to `errors`; nothing else is
/// inherited.
Result<pid_t> spawn_talking(const Spawn& spawn, int socket, int errors);

/// The exit status of a child as from waitpid; 0 if other code collected it; empty if it had not ended by then.
std::optional<int> end_of(pid_t child, Clock::time_point deadline);

}  // namespace forebay::sys
