// A log with a limited size: an agent writes lines into the node's memory as long as its application runs.
//
// Bytes:   PATH, and PATH.1 with the older lines; together at most twice limits::log_bytes_max and a line.
// Threads: several may write lines at once. Other processes may append too, but only one process has a LogFile.

#pragma once

#include <memory>
#include <string>

#include "forebay/result.hpp"

namespace forebay::sys {

class LogFile {
public:
    /// Opens a private file (0600) and appends to it. With `is_output`, standard output and errors of this process go
    /// there from now on, so the output of libraries is bounded too: only for programs.
    static Result<LogFile> open(const std::string& path, bool is_output = false);
    LogFile(LogFile&&) noexcept;
    LogFile& operator=(LogFile&&) noexcept;
    ~LogFile();

    /// Adds a line. A line that cannot be written is lost: nobody could read an error of the log.
    void write(const std::string& line) const;

private:
    struct State;
    explicit LogFile(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace forebay::sys
