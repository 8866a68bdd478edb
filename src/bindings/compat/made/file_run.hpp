// The run beside a file of another library, FILE.forebay for FILE: it holds the snapshots until the file is made.
// Writers, makers and readers of the file find each other by these names, for files of any library:
//
//   FILE.forebay/writer.lock    held while a session of the writer is open
//   FILE.forebay/finish.lock    held while the file is made
//   FILE.forebay/*.lock.host    the host of the lock's holder, if the file system has no locks (node/run_lock.hpp)
//   FILE.forebay/expected       the number of snapshots; an H5Part writer writes it after it has closed the file
//   FILE.forebay/made           the file is durable: the run is no longer needed
//   FILE.forebay/failed         the reason why the file could not be made
//   FILE.forebay/finish.log     the maker's output
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

    /// True if a process holds the lock, or if a process on another host may hold it.
    bool has_writer() const;
    bool has_maker() const;
    /// has_writer() after a short wait: a writer may be ending because its mpiexec was killed.
    bool keeps_writer() const;

    Result<bool> exists() const;  // the run
    /// True if the mark and the file exist. If a run was kept and somebody removed its file, the file is made again.
    Result<bool> is_made() const;
    /// True if the run exists and the file is not made yet.
    Result<bool> is_unfinished() const;

    /// The error `refused`: another program writes the file.
    Error in_use() const;

    /// Renames the locks and marks of a GenericIO file's run from the names of older versions, so that its file is made
    /// like any other. `retry` while a process of such a version writes or makes the file.
    Result<> rename_old_marks() const;

private:
    std::string old_name(const char* mark) const { return path_ + "/.genericio-" + mark; }

    std::string file_, path_;
};

}  // namespace forebay::made
