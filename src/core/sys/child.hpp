// A program that works for this process, asked and answering in lines over its standard input and output.
//
// Life:    start() -> write_line(), read_line() -> the destructor kills it, with what it has started, and collects it.
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

/// Of a line, either way; the longest text of an error fits.
inline constexpr std::size_t child_line_bytes_max = 4096;

class ChildProgram {
public:
    /// Looked for in PATH where it has no slash: `missing` when there is none. Its errors are appended to `log_path`;
    /// without one they come among its lines. It has a session of its own, signals as in a fresh login, and no other
    /// descriptor. `is_ready` is not asked.
    static Result<ChildProgram> start(const Spawn& spawn);
    ChildProgram(ChildProgram&& other) noexcept;
    ChildProgram& operator=(ChildProgram&& other) noexcept;
    ChildProgram(const ChildProgram&) = delete;
    ChildProgram& operator=(const ChildProgram&) = delete;
    ~ChildProgram();

    std::int64_t process() const { return process_; }
    /// Never waits: `broken` where it has ended, `retry` where it has not read what it was told before.
    Result<> write_line(std::string_view line);
    /// The next line, without its end; nothing when none is whole after `at_most`. `corrupt` for one that is too long,
    /// `broken` where it has ended, or closed its input and output, and all of its lines are read.
    Result<std::optional<std::string>> read_line(std::chrono::milliseconds at_most);
    /// Ends its input, which asks it to end, and waits for that; one that does not is killed with its owner.
    void let_end(std::chrono::milliseconds at_most);

private:
    ChildProgram(std::string program, int socket, std::int64_t process);
    void end();
    Error ended();

    std::string program_;
    int socket_ = -1;
    std::int64_t process_ = 0;  // 0: it is collected
    std::int64_t owner_ = 0;    // a forked copy of its owner must not end it
    std::string read_;          // after the last line that was given
};

/// By the started program, at its start: it is killed when the thread that has started it ends, however that comes.
/// `broken` where that has come already.
Result<> end_with_parent();

}  // namespace forebay::sys
