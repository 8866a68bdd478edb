// Extended attributes as in dfuse: names that begin with "user.", and "user.daos" with pool and container at the root
// of a container. Paths are real paths; results are results of FUSE calls.

#pragma once

#include <sys/xattr.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "dfuse_ways.hpp"

namespace dfuse {

inline constexpr const char* root_name = "user.daos";

inline int give(const std::string& text, char* value, std::size_t size) {
    if (size == 0) return static_cast<int>(text.size());
    if (size < text.size()) return -ERANGE;
    std::memcpy(value, text.data(), text.size());
    return static_cast<int>(text.size());
}

inline int list(const std::string& path, bool is_root, char* names, std::size_t size) {
    char own[65536];
    const auto bytes = ::llistxattr(path.c_str(), own, sizeof own);
    if (bytes < 0) return -errno;
    std::string all(own, static_cast<std::size_t>(bytes));
    if (is_root) all.append(root_name, std::strlen(root_name) + 1);
    return give(all, names, size);
}

/// `root` is the value of "user.daos" at the root of a container, null for other paths.
inline int get(const std::string& path, const std::string* root, const char* name, char* value, std::size_t size) {
    if (root != nullptr && std::strcmp(name, root_name) == 0) return give(*root, value, size);
    const auto bytes = ::lgetxattr(path.c_str(), name, value, size);
    return bytes < 0 ? -errno : static_cast<int>(bytes);
}

inline int set(const std::string& path, const char* name, const char* value, std::size_t size, int flags) {
    if (std::strncmp(name, "user.", 5) != 0) return -EOPNOTSUPP;
    if (ways.take_wish(name, std::string(value, size))) return 0;
    return ::lsetxattr(path.c_str(), name, value, size, flags) < 0 ? -errno : 0;
}

inline int remove(const std::string& path, const char* name) {
    return ::lremovexattr(path.c_str(), name) < 0 ? -errno : 0;
}

}  // namespace dfuse
