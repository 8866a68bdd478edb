#include "core/sys/posix_error.hpp"

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "core/base/show_text.hpp"
#include "core/sys/tree_place.hpp"

namespace forebay::sys {

ErrorKind kind_of(int number) {
    switch (number) {
        case EIO:
        case ETIMEDOUT:
        case EAGAIN:
        case ESTALE:
        case ENOTCONN:
        case EINTR:
        case EBUSY:
        case ENODEV:
        case EREMOTEIO:
        case ECONNRESET:
        case ECONNREFUSED:
        case ECONNABORTED:
        case EHOSTDOWN:
        case EHOSTUNREACH:
        case ENETUNREACH:
        case ENETDOWN:
        case ESHUTDOWN:
        case ENOLCK:
        case EDEADLK: return ErrorKind::retry;
        case ENOSPC:
        case EDQUOT:
        case ENOMEM:
        case EMFILE:
        case ENFILE: return ErrorKind::full;
        case ENOENT: return ErrorKind::missing;
        case EACCES:
        case EPERM:
        case ELOOP:
        case EEXIST:
        case EROFS:
        case ENOTEMPTY:
        case ENOTDIR:
        case EISDIR:
        case ENAMETOOLONG:
        case EXDEV:
        case ETXTBSY:
        case EFBIG:
        case EMLINK:
        case ENXIO: return ErrorKind::refused;
        case ENOSYS:
        case EOPNOTSUPP: return ErrorKind::unsupported;
        default: return ErrorKind::broken;
    }
}

namespace {

// Callers see only `full`, as for storage, and cannot know the limit.
std::string next_of(int number) {
    switch (number) {
        case EMFILE: return "raise the limit of open files of a process: ulimit -n";
        case ENFILE: return "raise the limit of open files of this machine: sysctl fs.file-max";
        case ENOMEM: return "get more memory, as in a larger job";
        default: return {};
    }
}

}  // namespace

Error posix_error(std::string_view call, std::string_view path, int number) {
    // generic_category, not strerror: it is safe between threads.
    return {kind_of(number),
            fmt::format("{}: {}: {}", show_text(call), show_text(path), std::generic_category().message(number)), "",
            next_of(number)};
}

Error descriptor_error(std::string_view call, std::string_view path, int number) {
    auto error = posix_error(call, path, number);
    if (number == ENOENT || number == ENOTDIR) error.kind = ErrorKind::retry;
    return error;
}

Error error_of_number(std::string_view call, std::string_view name, int number) {
    return posix_error(call, name, number);
}

}  // namespace forebay::sys
