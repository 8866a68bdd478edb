// The machine's own file system as a Store.

#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "base/try.hpp"
#include "sys/posix_directory.hpp"
#include "sys/posix_file.hpp"
#include "sys/store.hpp"
#include "sys/stripe_layout.hpp"

namespace forebay::sys {

namespace {

bool is_dot(const char* name) { return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0')); }

Result<Directory> open_directory(int at, const char* name, const std::string& path, int flags) {
    Fd fd(open_at(at, name, O_RDONLY | O_DIRECTORY | flags));
    if (!fd.valid()) return posix_error("open of directory", path, errno);
    Directory directory(::fdopendir(fd.get()));
    if (!directory) return posix_error("fdopendir", path, errno);
    (void)fd.release();  // the Directory's now
    return directory;
}

/// An entry, unless it vanished since its name was read.
Result<bool> look_at(int directory, const struct dirent& found, const std::string& path, Entry& entry) {
    entry.name = found.d_name;
    entry.is_directory = found.d_type == DT_DIR;
    if (entry.is_directory) return true;  // no stat: its size says nothing
    struct stat about {};
    // A link counts as what it leads to; one that leads nowhere as itself.
    if (::fstatat(directory, found.d_name, &about, 0) != 0 &&
        ::fstatat(directory, found.d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return false;
        return posix_error("fstatat", path + "/" + entry.name, errno);
    }
    entry.is_directory = S_ISDIR(about.st_mode);
    if (entry.is_directory) {
        struct stat itself {};
        entry.is_link =
            ::fstatat(directory, found.d_name, &itself, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(itself.st_mode);
    }
    entry.size = entry.is_directory ? 0 : static_cast<std::uint64_t>(about.st_size);
    return true;
}

Result<std::vector<std::string>> names_in(DIR* directory, const std::string& path) {
    std::vector<std::string> names;
    ::rewinddir(directory);
    while (true) {
        errno = 0;
        const struct dirent* found = ::readdir(directory);
        if (found == nullptr) break;
        if (!is_dot(found->d_name)) names.emplace_back(found->d_name);
    }
    if (errno != 0) return posix_error("readdir", path, errno);
    return names;
}

// Snapshots are two levels deep; deeper than this is not ours, and each level holds a descriptor.
constexpr int tree_levels_max = 16;

/// Relative to open directories, so that no link swapped in on the way leads the removal elsewhere.
Result<> remove_tree_at(int at, const char* name, const std::string& path, int level) {
    if (level > tree_levels_max)
        return Error{ErrorKind::refused,
                     fmt::format("remove of {}: more than {} levels of directories", path, tree_levels_max)};
    FB_TRY_ASSIGN(directory, open_directory(at, name, path, O_NOFOLLOW));
    const int fd = ::dirfd(directory.get());
    // Another agent may still add or remove names; a few passes settle it, and then it is an error.
    for (int pass = 0;; ++pass) {
        FB_TRY_ASSIGN(names, names_in(directory.get(), path));
        for (const auto& child : names) {
            if (::unlinkat(fd, child.c_str(), 0) == 0 || errno == ENOENT) continue;
            if (errno != EISDIR && errno != EPERM) return posix_error("unlink", path + "/" + child, errno);
            const auto removed = remove_tree_at(fd, child.c_str(), path + "/" + child, level + 1);
            if (!removed && removed.error().kind != ErrorKind::missing) return removed;
        }
        if (::unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
        if ((errno != ENOTEMPTY && errno != EEXIST) || pass == 3) return posix_error("rmdir", path, errno);
    }
}

Result<> make_one_directory(const std::string& path) {
    if (::mkdir(path.c_str(), 0777) == 0) return {};
    const int number = errno;
    struct stat about {};
    // EEXIST may stand for a file; EROFS and EACCES are also given for directories that exist.
    const bool seen = ::stat(path.c_str(), &about) == 0;
    if (seen && S_ISDIR(about.st_mode)) return {};
    // A mount whose server is gone exists too (measured: GlusterFS); what keeps us from looking is the fault to tell.
    if (!seen && number == EEXIST && errno != ENOENT) return posix_error("stat", path, errno);
    return posix_error("mkdir", path, number);
}

class PosixStore final : public Store {
public:
    Result<std::unique_ptr<File>> open(const std::string& path, Access access) override;
    Result<> make_directories(const std::string& path) override;
    Result<> make_directory(const std::string& path) override { return make_one_directory(path); }
    Result<> rename(const std::string& from, const std::string& to) override;
    Result<> remove(const std::string& path) override;
    Result<> remove_tree(const std::string& path) override;
    Result<> sync_directory(const std::string& path) override;
    Result<std::vector<Entry>> list(const std::string& path) override;
    Result<bool> exists(const std::string& path) override;
    Result<> make_striped(const std::string& path, const Stripes& stripes) override;
    std::optional<StripeDefault> default_stripes(const std::string& directory) override;
};

Result<std::unique_ptr<File>> PosixStore::open(const std::string& path, Access access) {
    const bool reads = !is_writing(access);
    bool direct = is_direct(access);
    // O_NONBLOCK: a FIFO in the place of a file must not hang us; regular files do not know it.
    const int flags = O_NONBLOCK | (reads ? O_RDONLY : O_RDWR | O_CREAT | O_NOFOLLOW);
    Fd fd(open_no_intr(path.c_str(), flags | (direct ? O_DIRECT : 0), 0666));
    if (!fd.valid() && direct && (errno == EINVAL || errno == EOPNOTSUPP)) {
        direct = false;
        fd = Fd(open_no_intr(path.c_str(), flags, 0666));
    }
    if (!fd.valid()) {
        const int number = errno;
        Error error = posix_error(reads ? "open" : "open for writing", path, number);
        if (number == ELOOP && !reads) error.what += " (it is a symbolic link, and links are not followed for writing)";
        return error;
    }
    struct stat about {};
    if (::fstat(fd.get(), &about) != 0) return posix_error("fstat", path, errno);
    if (!S_ISREG(about.st_mode)) return Error{ErrorKind::refused, "open: " + path + ": it is not a regular file"};
    auto file = std::make_unique<PosixFile>(std::move(fd), path, direct, access == Access::read_direct);
    if (is_emptying(access) && about.st_size > 0) FB_TRY(file->truncate(0));
    return std::unique_ptr<File>(std::move(file));
}

Result<> PosixStore::make_directories(const std::string& path) {
    if (path.empty()) return Error{ErrorKind::refused, "make directories: the path is empty"};
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) return {};
    for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
        FB_TRY(make_one_directory(path.substr(0, end)));
    if (path.back() != '/') return make_one_directory(path);
    return {};
}

Result<> PosixStore::rename(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) return posix_error("rename to " + to, from, errno);
    return {};
}

Result<> PosixStore::remove(const std::string& path) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return posix_error("unlink", path, errno);
    return {};
}

Result<> PosixStore::remove_tree(const std::string& path) {
    struct stat about {};
    if (::lstat(path.c_str(), &about) == 0 && S_ISLNK(about.st_mode)) return remove(path);
    const auto removed = remove_tree_at(AT_FDCWD, path.c_str(), path, 1);
    if (!removed && removed.error().kind != ErrorKind::missing) return removed;
    return {};
}

// Lustre lays a file out as it is opened for writing for the first time: what mknod makes has no layout yet, and takes
// the one that it is given.
Result<> PosixStore::make_striped(const std::string& path, const Stripes& stripes) {
    const auto wish = lustre_wish(stripes);
    if (::mknod(path.c_str(), S_IFREG | 0666, 0) != 0) return posix_error("mknod", path, errno);
    if (::setxattr(path.c_str(), layout_attribute, wish.data(), wish.size(), 0) == 0) return {};
    const int number = errno;
    FB_TRY(remove(path));
    if (number == EOPNOTSUPP || number == ENOSYS || number == EPERM)
        return Error{ErrorKind::unsupported, "nobody may choose where " + path + " lies"};
    return posix_error("setxattr lustre.lov", path, number);
}

std::optional<StripeDefault> PosixStore::default_stripes(const std::string& directory) {
    std::vector<std::byte> attribute(65536);  // the most that an attribute can have
    const auto bytes = ::getxattr(directory.c_str(), layout_attribute, attribute.data(), attribute.size());
    if (bytes <= 0) return {};
    return lustre_default(std::span(attribute).first(static_cast<std::size_t>(bytes)));
}

Result<> PosixStore::sync_directory(const std::string& path) {
    Fd fd(open_no_intr(path.c_str(), O_RDONLY | O_DIRECTORY));
    if (!fd.valid()) return posix_error("open of directory", path, errno);
    while (::fsync(fd.get()) != 0) {
        if (errno == EINTR) continue;
        // EINVAL: a file system without a sync of directories (some FUSE); its own journal orders the names.
        if (errno == EINVAL) return {};
        return posix_error("fsync of directory", path, errno);
    }
    return {};
}

Result<std::vector<Entry>> PosixStore::list(const std::string& path) {
    FB_TRY_ASSIGN(directory, open_directory(AT_FDCWD, path.c_str(), path, 0));
    std::vector<Entry> entries;
    while (true) {
        errno = 0;
        const struct dirent* found = ::readdir(directory.get());
        if (found == nullptr) break;
        if (is_dot(found->d_name)) continue;
        Entry entry;
        FB_TRY_ASSIGN(there, look_at(::dirfd(directory.get()), *found, path, entry));
        if (there) entries.push_back(std::move(entry));
    }
    if (errno != 0) return posix_error("readdir", path, errno);
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
    return entries;
}

Result<bool> PosixStore::exists(const std::string& path) {
    struct stat about {};
    if (::lstat(path.c_str(), &about) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return posix_error("lstat", path, errno);
}

}  // namespace

Store& posix_store() {
    // Never destroyed: a thread that was left in a dead mount may come back while the process exits.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
    static auto* const store = new PosixStore;
    return *store;
}

Result<> forget_cached(const std::string& path) {
    Fd fd(open_no_intr(path.c_str(), O_RDONLY));
    if (!fd.valid()) return posix_error("open", path, errno);
    // Dirty pages are not forgotten.
    if (::fdatasync(fd.get()) != 0) return posix_error("fdatasync", path, errno);
    if (const int number = ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED))
        return posix_error("posix_fadvise", path, number);
    return {};
}

}  // namespace forebay::sys
