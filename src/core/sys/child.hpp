// A program that works for this process. Both exchange lines over the program's standard input and output.
//
// Life:    start() -> write_line(), read_line() -> the destructor kills the program with all that it started, and
//          collects its exit code.
// Threads: one at a time.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/sys/process.hpp"
#include "forebay/result.hpp"

namespace forebay::sys {

/// Limit of a line in either direction; the longest text of an error fits.
inline constexpr std::size_t child_line_bytes_max = 4096;

class ChildProgram {
public:
    /// Searches PATH if the program has no slash: `missing` if there is none. Its standard error is appended to
    /// `log_path`; if that is empty, it comes among its lines. The program gets its own session, signals as in a fresh
    /// login, and no other descriptor. `is_ready` is not used.
    static Result<ChildProgram> start(const Spawn& spawn);
    ChildProgram(ChildProgram&& other) noexcept;
    ChildProgram& operator=(ChildProgram&& other) noexcept;
    ChildProgram(const ChildProgram&) = delete;
    ChildProgram& operator=(const ChildProgram&) = delete;
    ~ChildProgram();

    std::int64_t process() const { return process_; }
    /// Never waits for the reader: `broken` if the program has ended, `retry` if it has not read earlier lines.
    Result<> write_line(std::string_view line);
    /// The next line, without its end; empty if no whole line comes within `at_most`. `corrupt` if a line is too long.
    /// `broken` if all lines are read, and the program has ended or closed its input and output.
    Result<std::optional<std::string>> read_line(std::chrono::milliseconds at_most);
    /// Ends the program's input, which asks it to end, and waits. If it does not end, the destructor kills it.
    void let_end(std::chrono::milliseconds at_most);

private:
    ChildProgram(std::string program, int socket, std::int64_t process);
    void end();
    Error ended();

    std::string program_;
    int socket_ = -1;
    std::int64_t process_ = 0;  // 0: its exit code is collected
    std::int64_t owner_ = 0;    // process that started it: a forked copy must not end it
    std::string read_;          // bytes behind the last returned line
};

/// The started program calls this at its start. It is killed when the thread that started it ends, for any reason.
/// `broken` if its parent has already ended.
Result<> end_with_parent();

}  // namespace forebay::sys
