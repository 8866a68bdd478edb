// Files, directories and links of the fake libdfs; see fake_container.cpp.

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>

#include "transfer/tests/daos/fake_dfs.hpp"

namespace {

int answer(int outcome) { return outcome < 0 ? errno : 0; }

daos_obj_id_t id_of(const struct stat& about) { return {about.st_ino, about.st_dev}; }

void show_as_daos(struct stat& about) {
    about.st_ino = 0;
    about.st_dev = 0;
    about.st_nlink = 1;
    about.st_blocks = S_ISREG(about.st_mode) ? (about.st_size + 511) / 512 : 0;
    const auto later = [](const timespec& a, const timespec& b) {
        return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
    };
    about.st_atim = later(about.st_ctim, about.st_mtim) ? about.st_ctim : about.st_mtim;
}

bool is_name(const char* name) {
    return name != nullptr && std::strlen(name) <= 255 && std::strchr(name, '/') == nullptr;
}

// Attributes lie beside the container, because the file system below may have none. Each is a file with its name, a
// zero byte and its value.
fs::path attributes_of(const dfs_t* dfs, std::uint64_t inode) {
    return dfs->root + ".attributes/" + std::to_string(inode);
}
fs::path place_of(const dfs_t* dfs, std::uint64_t inode, const std::string& name) {
    return attributes_of(dfs, inode) / std::to_string(std::hash<std::string>()(name));
}
std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void forget(const dfs_t* dfs, std::uint64_t inode) {
    std::error_code ignored;
    fs::remove_all(attributes_of(dfs, inode), ignored);
}

// Checks that an open entry still has its name, and reads its status there.
int find(const dfs_obj_t* object, struct stat& about) {
    if (::lstat(object->path().c_str(), &about) != 0) return errno;
    return id_of(about).lo == object->id.lo ? 0 : ENOENT;
}

void touch(const dfs_obj_t* object) {
    const timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
    ::utimensat(AT_FDCWD, object->path().c_str(), times, AT_SYMLINK_NOFOLLOW);
}

dfs_obj_t* opened(const std::string& folder, const std::string& name, int flags, int fd, const struct stat& about) {
    ++open_objects;
    return new dfs_obj{.folder = folder,
                       .name = name,
                       .mode = about.st_mode,
                       .flags = flags,
                       .fd = fd,
                       .text = {},
                       .id = id_of(about)};
}

std::string folder_path(dfs_t* dfs, const dfs_obj_t* parent) { return parent == nullptr ? dfs->root : parent->path(); }

// As DAOS makes them: no umask, and not the directory's group.
int give_own(const std::string& path, mode_t mode) {
    if (::lchown(path.c_str(), ::geteuid(), ::getegid()) != 0) return errno;
    return answer(::chmod(path.c_str(), mode & 07777));
}

int make(dfs_t* dfs, const std::string& path, const std::string& folder, const char* name, mode_t mode, int flags,
         const char* text, dfs_obj_t** object) {
    int fd = -1;
    struct stat about {};
    const bool is_new = ::lstat(path.c_str(), &about) != 0;
    if (S_ISLNK(mode)) {
        if (text == nullptr) return EINVAL;
        if (::symlink(text, path.c_str()) != 0) return errno;
        if (::lchown(path.c_str(), ::geteuid(), ::getegid()) != 0) return errno;
    } else if (S_ISREG(mode)) {
        const int passed = flags & (O_CREAT | O_EXCL | O_TRUNC);
        fd = ::open(path.c_str(), O_RDWR | passed | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0) return errno;
        if (const int failed = is_new ? give_own(path, mode) : 0) return failed;
    } else {
        return EINVAL;
    }
    if (::lstat(path.c_str(), &about) != 0) return errno;
    if (is_new) forget(dfs, about.st_ino);
    *object = opened(folder, name, O_RDWR, fd, about);
    return 0;
}

}  // namespace

int dfs_lookup(dfs_t* dfs, const char* path, int flags, dfs_obj_t** object, mode_t*, struct stat*) {
    if (const int failed = wished_failure("dfs_lookup")) return failed;
    struct stat about {};
    if (path[0] != '/') return EINVAL;
    const auto place = std::strcmp(path, "/") == 0 ? fs::path(dfs->root) : fs::path(dfs->root + path);
    if (::stat(place.c_str(), &about) != 0) return errno;
    const int access = flags & O_ACCMODE;
    if (access != O_RDONLY && !dfs->may_write) return EPERM;
    int fd = -1;
    if (S_ISREG(about.st_mode) && (fd = ::open(place.c_str(), access | O_CLOEXEC)) < 0) return errno;
    *object = opened(place.parent_path(), place.filename(), flags, fd, about);
    return 0;
}

int dfs_stat(dfs_t* dfs, dfs_obj_t* parent, const char* name, struct stat* status) {
    if (const int failed = wished_failure("dfs_stat")) return failed;
    if (!is_name(name)) return EINVAL;
    if (::lstat((folder_path(dfs, parent) + "/" + name).c_str(), status) != 0) return errno;
    show_as_daos(*status);
    return 0;
}

int dfs_lookup_rel(dfs_t* dfs, dfs_obj_t* parent, const char* name, int flags, dfs_obj_t** object, mode_t* mode,
                   struct stat* status) {
    if (const int failed = wished_failure("dfs_lookup_rel")) return failed;
    if (!is_name(name) || (flags & O_NOFOLLOW) == 0) return EINVAL;
    const auto folder = folder_path(dfs, parent), path = folder + "/" + name;
    struct stat about {};
    if (::lstat(path.c_str(), &about) != 0) return errno;
    if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode) && !S_ISLNK(about.st_mode)) return EINVAL;
    const int access = flags & O_ACCMODE;
    if (access != O_RDONLY && !dfs->may_write) return EPERM;
    int fd = -1;
    std::string text;
    if (S_ISREG(about.st_mode) && (fd = ::open(path.c_str(), access | O_NOFOLLOW | O_CLOEXEC)) < 0) return errno;
    if (S_ISLNK(about.st_mode)) text = fs::read_symlink(path);
    *object = opened(folder, name, access, fd, about);
    (*object)->text = text;
    if (mode != nullptr) *mode = about.st_mode;
    if (status != nullptr) show_as_daos(*status = about);
    return 0;
}

int dfs_open(dfs_t* dfs, dfs_obj_t* parent, const char* name, mode_t mode, int flags, daos_oclass_id_t, daos_size_t,
             const char* text, dfs_obj_t** object) {
    if (const int failed = wished_failure("dfs_open")) return failed;
    if (!is_name(name) || (flags & O_CREAT) == 0) return EINVAL;
    if (!dfs->may_write) return EPERM;
    const auto folder = folder_path(dfs, parent);
    return make(dfs, folder + "/" + name, folder, name, mode, flags, text, object);
}

int dfs_release(dfs_obj_t* object) {
    if (object->fd >= 0) ::close(object->fd);
    delete object;
    --open_objects;
    return 0;
}

int dfs_mkdir(dfs_t* dfs, dfs_obj_t* parent, const char* name, mode_t mode, daos_oclass_id_t) {
    if (!is_name(name)) return EINVAL;
    if (!dfs->may_write) return EPERM;
    const auto path = folder_path(dfs, parent) + "/" + name;
    struct stat about {};
    if (::mkdir(path.c_str(), 0700) != 0 || ::lstat(path.c_str(), &about) != 0) return errno;
    forget(dfs, about.st_ino);
    return give_own(path, mode);
}

int dfs_remove(dfs_t* dfs, dfs_obj_t* parent, const char* name, bool force, daos_obj_id_t*) {
    if (!is_name(name)) return EINVAL;
    if (!dfs->may_write) return EPERM;
    const auto path = folder_path(dfs, parent) + "/" + name;
    struct stat about {};
    if (::lstat(path.c_str(), &about) != 0) return errno;
    std::error_code none;
    if (force && S_ISDIR(about.st_mode))
        for (const auto& entry : fs::directory_iterator(path, none)) fs::remove_all(entry.path(), none);
    if ((S_ISDIR(about.st_mode) ? ::rmdir(path.c_str()) : ::unlink(path.c_str())) != 0) return errno;
    forget(dfs, about.st_ino);
    return 0;
}

int dfs_move(dfs_t* dfs, dfs_obj_t* parent, const char* name, dfs_obj_t* new_parent, const char* new_name,
             daos_obj_id_t*) {
    if (!is_name(name) || !is_name(new_name)) return EINVAL;
    if (!dfs->may_write) return EPERM;
    const auto from = folder_path(dfs, parent) + "/" + name, to = folder_path(dfs, new_parent) + "/" + new_name;
    struct stat about {
    }, replaced{};
    if (::lstat(from.c_str(), &about) != 0) return errno;
    if (S_ISLNK(about.st_mode)) return 0;  // as DAOS 2.8 in the mode "balanced", which moves nothing
    const bool replaces = ::lstat(to.c_str(), &replaced) == 0;
    if (replaces && S_ISDIR(replaced.st_mode) && !S_ISDIR(about.st_mode)) return EINVAL;
    if (replaces && !S_ISDIR(replaced.st_mode) && S_ISDIR(about.st_mode)) ::unlink(to.c_str());
    if (::rename(from.c_str(), to.c_str()) != 0) return errno;
    if (replaces) forget(dfs, replaced.st_ino);
    const timespec now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
    return answer(::utimensat(AT_FDCWD, to.c_str(), now, AT_SYMLINK_NOFOLLOW));
}

int dfs_readdir(dfs_t*, dfs_obj_t* folder, daos_anchor_t* anchor, uint32_t* count, struct dirent* entries) {
    if (const int failed = wished_failure("dfs_readdir")) return failed;
    if (!S_ISDIR(folder->mode)) return ENOTDIR;
    DIR* open = ::opendir(folder->path().c_str());
    if (open == nullptr) return errno;
    long place = 0;
    std::memcpy(&place, anchor->da_buf, sizeof place);
    if (anchor->da_type != 0) ::seekdir(open, place);
    anchor->da_type = 1;
    uint32_t filled = 0;
    while (filled < *count) {
        const dirent* entry = ::readdir(open);
        if (entry == nullptr) {
            anchor->da_type = DAOS_ANCHOR_TYPE_EOF;
            break;
        }
        if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
        std::memset(&entries[filled], 0, sizeof entries[filled]);
        std::strcpy(entries[filled++].d_name, entry->d_name);
    }
    place = ::telldir(open);
    std::memcpy(anchor->da_buf, &place, sizeof place);
    ::closedir(open);
    *count = filled;
    return 0;
}

int dfs_obj2id(dfs_obj_t* object, daos_obj_id_t* id) {
    *id = object->id;
    return 0;
}
int dfs_get_mode(dfs_obj_t* object, mode_t* mode) {
    *mode = object->mode;
    return 0;
}
int dfs_get_symlink_value(dfs_obj_t* object, char* text, daos_size_t* bytes) {
    if (!S_ISLNK(object->mode)) return EINVAL;
    const auto needed = object->text.size() + 1;
    if (*bytes >= needed) std::memcpy(text, object->text.c_str(), needed);
    *bytes = needed;
    return 0;
}

int dfs_ostat(dfs_t*, dfs_obj_t* object, struct stat* status) {
    if (const int failed = find(object, *status)) return failed;
    show_as_daos(*status);
    return 0;
}

int dfs_osetattr(dfs_t* dfs, dfs_obj_t* object, struct stat* status, int flags) {
    if (!dfs->may_write || (object->flags & O_ACCMODE) == O_RDONLY) return EPERM;
    if ((flags & DFS_SET_ATTR_MODE) != 0 && (status->st_mode & S_IFMT) != (object->mode & S_IFMT)) return EINVAL;
    if ((flags & DFS_SET_ATTR_MODE) != 0 && (status->st_mode & S_ISVTX) != 0) return ENOTSUP;
    struct stat about {};
    if (const int failed = find(object, about)) return failed;
    const auto path = object->path();
    const auto user = (flags & DFS_SET_ATTR_UID) != 0 ? status->st_uid : about.st_uid;
    const auto group = (flags & DFS_SET_ATTR_GID) != 0 ? status->st_gid : about.st_gid;
    if ((flags & (DFS_SET_ATTR_UID | DFS_SET_ATTR_GID)) != 0 && ::lchown(path.c_str(), user, group) != 0) return errno;
    const auto mode = (flags & DFS_SET_ATTR_MODE) != 0 ? status->st_mode : about.st_mode;
    if (!S_ISLNK(about.st_mode) && ::chmod(path.c_str(), mode & 07777) != 0) return errno;
    if ((flags & DFS_SET_ATTR_MTIME) != 0) {
        const timespec times[2] = {{0, UTIME_OMIT}, status->st_mtim};
        if (::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    }
    return dfs_ostat(dfs, object, status);
}

int dfs_setxattr(dfs_t* dfs, dfs_obj_t* object, const char* name, const void* value, daos_size_t bytes, int) {
    struct stat about {};
    if (!dfs->may_write) return EPERM;
    if (bytes > DFS_MAX_XATTR_LEN || std::strlen(name) > DFS_MAX_XATTR_NAME) return EINVAL;
    if (const int failed = find(object, about)) return failed;
    const auto place = place_of(dfs, about.st_ino, name);
    touch(object);
    fs::remove(place);
    if (bytes == 0) return 0;  // DAOS ignores a record without bytes
    fs::create_directories(place.parent_path());
    std::ofstream(place, std::ios::binary) << name << '\0' << std::string(static_cast<const char*>(value), bytes);
    return 0;
}

int dfs_getxattr(dfs_t* dfs, dfs_obj_t* object, const char* name, void* value, daos_size_t* bytes) {
    const auto content = content_of(place_of(dfs, object->id.lo, name));
    if (content.empty()) return ENOENT;
    const auto own = content.substr(std::strlen(name) + 1);
    if (value != nullptr && *bytes != 0 && *bytes < own.size()) return EOVERFLOW;
    if (value != nullptr && *bytes != 0) std::memcpy(value, own.data(), own.size());
    *bytes = own.size();
    return 0;
}

int dfs_removexattr(dfs_t* dfs, dfs_obj_t* object, const char* name) {
    if (!dfs->may_write) return EPERM;
    touch(object);
    return fs::remove(place_of(dfs, object->id.lo, name)) ? 0 : ENOENT;
}

int dfs_listxattr(dfs_t* dfs, dfs_obj_t* object, char* list, daos_size_t* bytes) {
    if (!dfs->may_write) return EPERM;  // it opens the directory for writing
    std::string all;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(attributes_of(dfs, object->id.lo), none)) {
        const auto content = content_of(entry.path());
        all += content.substr(0, content.find('\0') + 1);
    }
    if (list != nullptr) std::memcpy(list, all.data(), std::min<std::size_t>(*bytes, all.size()));
    *bytes = all.size();
    return 0;
}

int dfs_get_size(dfs_t*, dfs_obj_t* file, daos_size_t* bytes) {
    struct stat about {};
    if (::fstat(file->fd, &about) != 0) return errno;
    *bytes = static_cast<daos_size_t>(about.st_size);
    return 0;
}

int dfs_punch(dfs_t* dfs, dfs_obj_t* file, daos_off_t offset, daos_size_t bytes) {
    if (!dfs->may_write || (file->flags & O_ACCMODE) == O_RDONLY) return EPERM;
    return bytes == DFS_MAX_FSIZE ? answer(::ftruncate(file->fd, static_cast<off_t>(offset))) : EINVAL;
}
