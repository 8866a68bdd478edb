// The making of a file as its writers and readers see it: a process behind the application (file_maker.hpp), started
// after the last save and waited for by whoever needs the file.
//
// Ranks: by the first rank alone.

#pragma once

#include <string>
#include <vector>

#include "bindings/compat/made/file_run.hpp"
#include "forebay/options.hpp"

namespace forebay::made {

/// They come by the environment, since interfaces of other libraries have no place for them.
struct Settings {
    Options options;
    bool keep = false;    // the run, when the file is made of it
    std::string program;  // `forebay`
};

struct Making {
    FileRun run;
    Settings settings;
    /// The words behind `forebay` with which a user makes the file by hand; errors advise them.
    std::vector<std::string> command;
    /// Further words for the process behind the application.
    std::vector<std::string> more = {};

    /// Starts that process, which has begun when this returns.
    Result<> start() const;
    /// start() where no process makes the file and it is not made yet.
    Result<> start_if_needed() const;
    /// Waits until the file is made, at most options.close_wait. Gives the maker's reason where it failed.
    Result<> await() const;
    /// Deletes the run if its file is made, and makes way for the maker, which may delete it too.
    Result<> remove_if_made() const;
    /// Deletes the run that earlier writers of the name left; with `finish` their file is made first. `refused` while
    /// another program writes the file.
    Result<> clear(bool finish) const;
};

/// A warning, for one time: programs on other hosts cannot see a lock of `file`, since its file system has none.
std::string warning_of_no_locks(const std::string& file);

}  // namespace forebay::made
