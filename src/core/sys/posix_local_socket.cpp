// Connections of one machine, at a path (Unix sockets).

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/socket.hpp"

namespace forebay::sys {

namespace {

constexpr int waiting_sessions = 128;

// The address has 107 bytes, and a path may be longer. So the address names the directory by its descriptor.
struct LocalAddress {
    Fd directory;
    sockaddr_un address{};

    const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Result<LocalAddress> local_address(const std::string& path) {
    LocalAddress local;
    local.directory = Fd(open_no_intr(directory_of(path).c_str(), O_PATH | O_DIRECTORY));
    if (!local.directory.valid()) return posix_error("open", directory_of(path), errno);
    const auto name = fmt::format("/proc/self/fd/{}/{}", local.directory.get(), leaf_of(path));
    if (name.size() >= sizeof local.address.sun_path)
        return Error{ErrorKind::refused, fmt::format("the name of {} is too long for a socket", path)};
    local.address.sun_family = AF_UNIX;
    std::memcpy(local.address.sun_path, name.c_str(), name.size() + 1);
    return local;
}

}  // namespace

Result<Connection> Connection::open_local(const std::string& path) {
    FB_TRY_ASSIGN(local, local_address(path));
    Fd fd(new_socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK));
    if (!fd.valid()) return posix_error("socket", path, errno);
    if (::connect(fd.get(), local.get(), sizeof local.address) == 0) return Connection(fd.release(), path);
    const int number = errno;
    auto error = posix_error("connect", path, number);
    if (number != ENOENT) error.kind = ErrorKind::retry;
    return error;
}

Result<Listener> Listener::open_local(const std::string& path) {
    FB_TRY_ASSIGN(local, local_address(path));
    Fd fd(new_socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK));
    if (!fd.valid()) return posix_error("socket", path, errno);
    bool bound = ::bind(fd.get(), local.get(), sizeof local.address) == 0;
    if (!bound && errno == EADDRINUSE) {
        if (Connection::open_local(path))
            return Error{ErrorKind::retry, fmt::format("listen: {}: another process listens there", path)};
        if (::unlink(path.c_str()) != 0 && errno != ENOENT) return posix_error("unlink", path, errno);
        bound = ::bind(fd.get(), local.get(), sizeof local.address) == 0;
    }
    if (!bound || ::listen(fd.get(), waiting_sessions) != 0) return posix_error("listen", path, errno);
    return Listener(fd.release(), 0);
}

}  // namespace forebay::sys
