#include <sys/stat.h>

#include <mutex>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/sys/log_file.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/posix_file_size.hpp"

namespace forebay::sys {

struct LogFile::State {
    std::string path;
    bool is_output = false;
    std::mutex mutex;  // guards the members below
    Fd fd;

    Result<> open();
    bool has_room(std::uint64_t bytes);
};

Result<> LogFile::State::open() {
    FB_TRY_ASSIGN(opened, open_private(path, O_WRONLY | O_APPEND | O_CREAT));
    if (is_output && !becomes_output(opened.get())) return posix_error("dup2 of the log", path, errno);
    fd = std::move(opened);
    return {};
}

// A log that cannot be moved aside is no longer written: without a limit it would fill the node.
bool LogFile::State::has_room(std::uint64_t bytes) {
    struct stat about {};
    if (fd.valid() && ::fstat(fd.get(), &about) != 0) return false;
    auto size = static_cast<std::uint64_t>(about.st_size);
    if (size > 0 && size + bytes > limits::log_bytes_max) {
        // ENOENT: the log was moved or removed by another process.
        if (::rename(path.c_str(), (path + ".1").c_str()) != 0 && errno != ENOENT) return false;
        fd = {};
        size = 0;
    }
    if (!fd.valid() && !open()) return false;
    return check_file_size(path, size + bytes).has_value();
}

LogFile::LogFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
LogFile::LogFile(LogFile&&) noexcept = default;
LogFile& LogFile::operator=(LogFile&&) noexcept = default;
LogFile::~LogFile() = default;

Result<LogFile> LogFile::open(const std::string& path, bool is_output) {
    auto state = std::make_unique<State>();
    state->path = path;
    state->is_output = is_output;
    FB_TRY(state->open());
    return LogFile(std::move(state));
}

void LogFile::write(const std::string& line) const {
    const auto text = line + "\n";
    const std::lock_guard lock(state_->mutex);
    // In one write, so that lines of several processes do not mix.
    if (state_->has_room(text.size())) (void)::write(state_->fd.get(), text.data(), text.size());
}

}  // namespace forebay::sys
