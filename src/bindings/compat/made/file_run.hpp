// The run beside a file of another library, FILE.forebay for FILE: snapshots lie in it until the file is made of them.
// Writers, makers and readers of the file find each other by these names, whichever library's file it is:
//
//   FILE.forebay/writer.lock    held as long as a session of the writer is open
//   FILE.forebay/finish.lock    held while the file is made
//   FILE.forebay/*.lock.host    the host of the lock's holder, where the file system has no locks (node/run_lock.hpp)
//   FILE.forebay/expected       how many snapshots there are; an H5Part writer writes it once it has closed the file
//   FILE.forebay/made           the file is durable: nothing in the run is needed any more
//   FILE.forebay/failed         why the file could not be made
//   FILE.forebay/finish.log     what the maker printed
//   FILE.forebay.gone           a run that is being removed

#pragma once

#include <string>

#include "forebay/result.hpp"

namespace forebay::made {

class FileRun {
public:
    explicit FileRun(std::string file) : file_(std::move(file)), path_(file_ + ".forebay") {}

    const std::string& file() const { return file_; }
    const std::string& path() const { return path_; }
    std::string writer_lock() const { return path_ + "/writer.lock"; }
    std::string finish_lock() const { return path_ + "/finish.lock"; }
    std::string finish_log() const { return path_ + "/finish.log"; }
    std::string expected_path() const { return path_ + "/expected"; }
    std::string failed_path() const { return path_ + "/failed"; }
    std::string made_path() const { return path_ + "/made"; }
    std::string gone_path() const { return path_ + ".gone"; }

    /// Whether a process holds the lock, or one of another host may.
    bool has_writer() const;
    bool has_maker() const;
    /// The same, after a while: a writer whose mpiexec was killed is ending.
    bool keeps_writer() const;

    Result<bool> exists() const;  // the run
    /// By its mark, and because the file is there: of a run that was kept, a file that somebody has removed is made
    /// again.
    Result<bool> is_made() const;
    /// Whether the run is there and the file is not made of it yet.
    Result<bool> is_unfinished() const;

    /// `refused`: another program writes the file.
    Error in_use() const;

    /// Older versions gave other names to the locks and marks of a GenericIO file's run. Gives them today's, so that
    /// the file is made of that run as of any other. `retry` while a process of such a version writes or makes the
    /// file.
    Result<> rename_old_marks() const;

private:
    std::string old_name(const char* mark) const { return path_ + "/.genericio-" + mark; }

    std::string file_, path_;
};

}  // namespace forebay::made
