#include "core/sys/posix_file_size.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/sys/process.hpp"

namespace forebay::sys {

Result<> check_file_size(const std::string& path, std::uint64_t end_bytes) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || end_bytes <= limit.rlim_cur)
        return {};
    return Error{ErrorKind::full,
                 fmt::format("{} would have {} ({} bytes), but this process may write files of at most {} bytes "
                             "(ulimit -f, RLIMIT_FSIZE). Nothing was written",
                             path, show_bytes(end_bytes), end_bytes, limit.rlim_cur),
                 "", "set ulimit -f unlimited before the program starts"};
}

void ignore_file_size_signal() { ::signal(SIGXFSZ, SIG_IGN); }

}  // namespace forebay::sys
