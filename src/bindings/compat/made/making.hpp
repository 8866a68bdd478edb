// The making of a file, from the side of its writers and readers: a background process (file_maker.hpp), started after
// the last save. Everybody who needs the file waits for it.
//
// Ranks: only the first rank.

#pragma once

#include <string>
#include <vector>

#include "bindings/compat/made/file_run.hpp"
#include "forebay/options.hpp"

namespace forebay::made {

/// Settings from the environment, since interfaces of other libraries have no place for them.
struct Settings {
    Options options;
    bool keep = false;    // keep the run after the file is made
    std::string program;  // the path of `forebay`
};

struct Making {
    FileRun run;
    Settings settings;
    /// The words after `forebay` with which a user makes the file by hand. Errors advise this command.
    std::vector<std::string> command;
    /// Further words for the background process.
    std::vector<std::string> more = {};

    /// Starts the background process. When this returns, the process has begun.
    Result<> start() const;
    /// Calls start() if no process makes the file and it is not made yet.
    Result<> start_if_needed() const;
    /// Waits until the file is made, at most options.close_wait. Returns the maker's error if it failed.
    Result<> await() const;
    /// Deletes the run if its file is made. The maker may delete it too; this waits for the maker's lock.
    Result<> remove_if_made() const;
    /// Deletes the run of earlier writers of the name. With `finish` their file is made first. `refused` while another
    /// program writes the file.
    Result<> clear(bool finish) const;
};

/// A warning to print once: programs on other hosts cannot see a lock of `file`, since its file system has no locks.
std::string warning_of_no_locks(const std::string& file);

}  // namespace forebay::made
