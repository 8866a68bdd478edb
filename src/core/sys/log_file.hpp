// A log that stays small: an agent writes lines as long as its application runs, into the node's memory.
//
// Bytes:   PATH, and PATH.1, which is what PATH was before; together at most twice limits::log_bytes_max and a line.
// Threads: lines may come from several at once. Other processes may append too; one of them only is a LogFile.

#pragma once

#include <memory>
#include <string>

#include "forebay/result.hpp"

namespace forebay::sys {

class LogFile {
public:
    /// Appends to what is there; a private file (0600). With `is_output`, standard output and errors of this process go
    /// there from now on, so that what libraries print is bounded with it: for programs alone.
    static Result<LogFile> open(const std::string& path, bool is_output = false);
    LogFile(LogFile&&) noexcept;
    LogFile& operator=(LogFile&&) noexcept;
    ~LogFile();

    /// Adds a line. What cannot be written is lost: whoever logs has nobody to tell it to.
    void write(const std::string& line) const;

private:
    struct State;
    explicit LogFile(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace forebay::sys
