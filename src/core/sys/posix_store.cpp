// The machine's own file system as a Store.

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "core/base/try.hpp"
#include "core/sys/posix_directory.hpp"
#include "core/sys/posix_file.hpp"
#include "core/sys/store.hpp"
#include "core/sys/store_below.hpp"
#include "core/sys/stripe_layout.hpp"
#include "core/sys/tree.hpp"

namespace forebay::sys {

namespace {

bool is_dot(const char* name) { return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0')); }

Result<Directory> open_directory(int at, const char* name, const std::string& path, int flags) {
    Fd fd(open_at(at, name, O_RDONLY | O_DIRECTORY | flags));
    if (!fd.valid()) return posix_error("open of directory", path, errno);
    Directory directory(::fdopendir(fd.get()));
    if (!directory) return posix_error("fdopendir", path, errno);
    (void)fd.release();  // the Directory owns it now
    return directory;
}

/// Fills `entry`; false if it vanished since its name was read.
Result<bool> look_at(int directory, const struct dirent& listed, const std::string& path, Entry& entry) {
    entry.name = listed.d_name;
    entry.is_directory = listed.d_type == DT_DIR;
    if (entry.is_directory) return true;  // no stat: the size of a directory says nothing
    struct stat about {};
    // A link counts as its target, or as itself if it leads nowhere.
    if (::fstatat(directory, listed.d_name, &about, 0) != 0 &&
        ::fstatat(directory, listed.d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return false;
        return posix_error("fstatat", path + "/" + entry.name, errno);
    }
    entry.is_directory = S_ISDIR(about.st_mode);
    entry.is_link = S_ISLNK(about.st_mode);
    if (entry.is_directory) {
        struct stat itself {};
        entry.is_link =
            ::fstatat(directory, listed.d_name, &itself, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(itself.st_mode);
    }
    entry.size = entry.is_directory ? 0 : static_cast<std::uint64_t>(about.st_size);
    return true;
}

Result<std::vector<std::string>> names_in(DIR* directory, const std::string& path) {
    std::vector<std::string> names;
    ::rewinddir(directory);
    while (true) {
        errno = 0;
        const struct dirent* listed = ::readdir(directory);
        if (listed == nullptr) break;
        if (!is_dot(listed->d_name)) names.emplace_back(listed->d_name);
    }
    if (errno != 0) return posix_error("readdir", path, errno);
    return names;
}

// Snapshots are two levels deep. A deeper tree is not ours, and each level holds a descriptor.
constexpr int tree_levels_max = 16;

/// Needs Linux 5.8 or newer; false before.
Result<bool> is_mounted(int fd, const std::string& path) {
    struct statx about {};
    if (::statx(fd, "", AT_EMPTY_PATH, 0, &about) != 0) return posix_error("statx", path, errno);
    return (about.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

Error mounted_error(const std::string& path) {
    return {ErrorKind::refused, path + ": it is below a mount point, and nothing there is changed"};
}

/// Works relative to open directories, so that no link swapped in on the way leads the removal elsewhere.
Result<> remove_tree_at(int at, const char* name, const std::string& path, int level, bool crosses_mounts) {
    if (level > tree_levels_max)
        return Error{ErrorKind::refused,
                     fmt::format("remove of {}: more than {} levels of directories", path, tree_levels_max)};
    FB_TRY_ASSIGN(directory, open_directory(at, name, path, O_NOFOLLOW));
    const int fd = ::dirfd(directory.get());
    FB_TRY_ASSIGN(is_mount, crosses_mounts ? Result<bool>(false) : is_mounted(fd, path));
    if (is_mount) return mounted_error(path);
    // Another agent may still add or remove names. A few passes settle it; after them it is an error.
    for (int pass = 0;; ++pass) {
        FB_TRY_ASSIGN(names, names_in(directory.get(), path));
        for (const auto& child : names) {
            if (::unlinkat(fd, child.c_str(), 0) == 0 || errno == ENOENT) continue;
            if (errno != EISDIR && errno != EPERM) return posix_error("unlink", path + "/" + child, errno);
            const auto removed = remove_tree_at(fd, child.c_str(), path + "/" + child, level + 1, crosses_mounts);
            if (!removed && removed.error().kind != ErrorKind::missing) return removed;
        }
        if (::unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
        if ((errno != ENOTEMPTY && errno != EEXIST) || pass == 3) return posix_error("rmdir", path, errno);
    }
}

/// A path in the form that the system's calls take.
struct PlaceInFolder {
    Fd folder;  // invalid: the name is a whole path
    std::string name;
    bool follows_links = true;
    bool is_in_mount = false;  // a mount below the root

    int at() const { return folder.valid() ? folder.get() : AT_FDCWD; }
    const char* leaf() const { return name.c_str(); }
    int open_flag() const { return follows_links ? 0 : O_NOFOLLOW; }
    int look_flag() const { return follows_links ? 0 : AT_SYMLINK_NOFOLLOW; }
};

Result<> make_one_directory(const PlaceInFolder& place, const std::string& path) {
    if (::mkdirat(place.at(), place.leaf(), 0777) == 0) return {};
    const int number = errno;
    struct stat about {};
    // EEXIST may mean a file; EROFS and EACCES also come for directories that exist.
    const bool seen = ::fstatat(place.at(), place.leaf(), &about, place.look_flag()) == 0;
    if (seen && S_ISDIR(about.st_mode)) return {};
    // A mount without its server exists too (measured: GlusterFS). Then the failed look is the error to report.
    if (!seen && number == EEXIST && errno != ENOENT) return posix_error("stat", path, errno);
    return posix_error("mkdir", path, number);
}

/// A path below `root`; the directories on the way are opened one by one.
Result<PlaceInFolder> place_below(const std::string& root, std::string_view below, const std::string& path) {
    PlaceInFolder place{Fd(open_no_intr(root.empty() ? "/" : root.c_str(), O_PATH | O_DIRECTORY)), ".", false};
    if (!place.folder.valid()) return posix_error("open of directory", path, errno);
    while (!below.empty()) {
        const auto name = below.substr(0, below.find('/'));
        below.remove_prefix(std::min(below.size(), name.size() + 1));
        if (name.empty()) continue;
        if (!is_entry_name(name)) return Error{ErrorKind::refused, "open: " + path + ": it leads out of " + root};
        Fd next(open_at(place.at(), place.leaf(), O_PATH | O_DIRECTORY | O_NOFOLLOW));
        if (!next.valid()) return posix_error("open of a directory above, without links", path, errno);
        FB_TRY_ASSIGN(is_mount, is_mounted(next.get(), path));
        place.is_in_mount = place.is_in_mount || (is_mount && place.name != ".");
        place.folder = std::move(next);
        place.name = name;
    }
    return place;
}

class PosixStore final : public Store {
public:
    explicit PosixStore(std::vector<std::string> roots = {}) : roots_(std::move(roots)) {
        for (auto& root : roots_)
            while (root.ends_with('/')) root.pop_back();
        // The longest first: a path belongs to the innermost root.
        std::ranges::sort(roots_, std::ranges::greater{}, &std::string::size);
    }

    Result<std::unique_ptr<File>> open(const std::string& path, Access access) override;
    Result<> make_directories(const std::string& path) override;
    Result<> make_directory(const std::string& path) override {
        FB_TRY_ASSIGN(place, place_to_change(path));
        return make_one_directory(place, path);
    }
    Result<> rename(const std::string& from, const std::string& to) override;
    Result<> remove(const std::string& path) override;
    Result<> remove_tree(const std::string& path) override;
    Result<> sync_directory(const std::string& path) override;
    Result<std::vector<Entry>> list(const std::string& path) override;
    Result<bool> exists(const std::string& path) override;
    Result<std::optional<std::int64_t>> changed_unix_ns(const std::string& path) override;
    Result<std::optional<EntryId>> id_for_cut_renames(const std::string& path) override;
    Result<> make_striped(const std::string& path, const Stripes& stripes) override;
    std::optional<StripeDefault> default_stripes(const std::string& directory) override;

private:
    Result<PlaceInFolder> place_of(const std::string& path) const;
    Result<PlaceInFolder> place_to_change(const std::string& path) const;

    std::vector<std::string> roots_;  // the longest first; empty: each path is taken as it is, with its links
};

Result<PlaceInFolder> PosixStore::place_of(const std::string& path) const {
    if (roots_.empty()) return PlaceInFolder{{}, path};
    for (const auto& root : roots_) {
        if (!path.starts_with(root)) continue;
        const auto below = std::string_view(path).substr(root.size());
        if (below.empty() || below.front() == '/') return place_below(root, below, path);
    }
    return Error{ErrorKind::refused, "open: " + path + ": it is outside the directories of this store"};
}

Result<PlaceInFolder> PosixStore::place_to_change(const std::string& path) const {
    auto place = place_of(path);
    if (place && place->is_in_mount) return mounted_error(path);
    return place;
}

Result<std::unique_ptr<File>> PosixStore::open(const std::string& path, Access access) {
    const bool reads = !is_writing(access);
    FB_TRY_ASSIGN(place, reads ? place_of(path) : place_to_change(path));
    bool direct = is_direct(access);
    // O_NONBLOCK: a FIFO under the file's name must not hang us; regular files ignore it.
    const int flags = O_NONBLOCK | (reads ? O_RDONLY | place.open_flag() : O_RDWR | O_CREAT | O_NOFOLLOW);
    Fd fd(open_at(place.at(), place.leaf(), flags | (direct ? O_DIRECT : 0), 0666));
    if (!fd.valid() && direct && (errno == EINVAL || errno == EOPNOTSUPP)) {
        direct = false;
        fd = Fd(open_at(place.at(), place.leaf(), flags, 0666));
    }
    if (!fd.valid()) {
        const int number = errno;
        Error error = posix_error(reads ? "open" : "open for writing", path, number);
        if (number == ELOOP && !reads) error.what += " (it is a symbolic link, and links are not followed for writing)";
        else if (number == ELOOP && !place.follows_links)
            error.what += " (it is a symbolic link, which is not followed)";
        return error;
    }
    struct stat about {};
    if (::fstat(fd.get(), &about) != 0) return descriptor_error("fstat", path, errno);
    if (!S_ISREG(about.st_mode)) return Error{ErrorKind::refused, "open: " + path + ": it is not a regular file"};
    if (!reads && !place.follows_links) {
        FB_TRY_ASSIGN(is_mount, is_mounted(fd.get(), path));
        if (is_mount) return mounted_error(path);
    }
    auto file = std::make_unique<PosixFile>(std::move(fd), path, direct, access == Access::read_direct);
    if (is_emptying(access) && about.st_size > 0) FB_TRY(file->truncate(0));
    return std::unique_ptr<File>(std::move(file));
}

Result<> PosixStore::make_directories(const std::string& path) {
    if (path.empty()) return Error{ErrorKind::refused, "make directories: the path is empty"};
    if (!roots_.empty())
        return Error{ErrorKind::unsupported,
                     "make directories: " + path + ": this store makes only one directory at a time"};
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) return {};
    for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
        FB_TRY(make_directory(path.substr(0, end)));
    if (path.back() != '/') return make_directory(path);
    return {};
}

Result<> PosixStore::rename(const std::string& from, const std::string& to) {
    FB_TRY_ASSIGN(old_place, place_to_change(from));
    FB_TRY_ASSIGN(new_place, place_to_change(to));
    if (::renameat(old_place.at(), old_place.leaf(), new_place.at(), new_place.leaf()) != 0)
        return posix_error("rename to " + to, from, errno);
    return {};
}

Result<> PosixStore::remove(const std::string& path) {
    FB_TRY_ASSIGN(place, place_to_change(path));
    if (::unlinkat(place.at(), place.leaf(), 0) != 0 && errno != ENOENT) return posix_error("unlink", path, errno);
    return {};
}

Result<> PosixStore::remove_tree(const std::string& path) {
    FB_TRY_ASSIGN(place, place_to_change(path));
    struct stat about {};
    // A link is removed itself, never its target.
    if (::fstatat(place.at(), place.leaf(), &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode))
        return remove(path);
    const auto removed = remove_tree_at(place.at(), place.leaf(), path, 1, place.follows_links);
    if (!removed && removed.error().kind != ErrorKind::missing) return removed;
    return {};
}

// Lustre chooses a layout when a file is first opened for writing. A file of mknod has no layout yet, and takes the
// given layout.
Result<> PosixStore::make_striped(const std::string& path, const Stripes& stripes) {
    if (!roots_.empty()) return Store::make_striped(path, stripes);
    const auto wish = lustre_wish(stripes);
    if (::mknod(path.c_str(), S_IFREG | 0666, 0) != 0) return posix_error("mknod", path, errno);
    if (::setxattr(path.c_str(), layout_attribute, wish.data(), wish.size(), 0) == 0) return {};
    const int number = errno;
    FB_TRY(remove(path));
    if (number == EOPNOTSUPP || number == ENOSYS || number == EPERM)
        return Error{ErrorKind::unsupported, "there is no choice of storage targets for " + path};
    return posix_error("setxattr lustre.lov", path, number);
}

std::optional<StripeDefault> PosixStore::default_stripes(const std::string& directory) {
    std::vector<std::byte> attribute(65536);  // the largest size of an attribute
    const auto bytes = ::getxattr(directory.c_str(), layout_attribute, attribute.data(), attribute.size());
    if (bytes <= 0) return {};
    return lustre_default(std::span(attribute).first(static_cast<std::size_t>(bytes)));
}

Result<> PosixStore::sync_directory(const std::string& path) {
    FB_TRY_ASSIGN(place, place_of(path));
    Fd fd(open_at(place.at(), place.leaf(), O_RDONLY | O_DIRECTORY | place.open_flag()));
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
    FB_TRY_ASSIGN(place, place_of(path));
    FB_TRY_ASSIGN(directory, open_directory(place.at(), place.leaf(), path, place.open_flag()));
    std::vector<Entry> entries;
    while (true) {
        errno = 0;
        const struct dirent* listed = ::readdir(directory.get());
        if (listed == nullptr) break;
        if (is_dot(listed->d_name)) continue;
        Entry entry;
        FB_TRY_ASSIGN(there, look_at(::dirfd(directory.get()), *listed, path, entry));
        // Below roots, a link is listed as no directory.
        entry.is_directory = entry.is_directory && (place.follows_links || !entry.is_link);
        if (there) entries.push_back(std::move(entry));
    }
    if (errno != 0) return posix_error("readdir", path, errno);
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
    return entries;
}

Result<bool> PosixStore::exists(const std::string& path) {
    const auto place = place_of(path);
    if (!place && place.error().kind == ErrorKind::missing) return false;
    FB_TRY(place);
    struct stat about {};
    if (::fstatat(place->at(), place->leaf(), &about, AT_SYMLINK_NOFOLLOW) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return posix_error("lstat", path, errno);
}

Result<std::optional<std::int64_t>> PosixStore::changed_unix_ns(const std::string& path) {
    FB_TRY_ASSIGN(place, place_of(path));
    struct stat about {};
    if (::fstatat(place.at(), place.leaf(), &about, place.look_flag()) != 0) return posix_error("stat", path, errno);
    return std::optional<std::int64_t>(std::int64_t{about.st_mtim.tv_sec} * 1'000'000'000 + about.st_mtim.tv_nsec);
}

// Among the file systems of this kind only FUSE file systems, such as dfuse, may cut a rename. By the kernel's calls:
// the preloaded library of DAOS answers stat(2) with a number of the path.
Result<std::optional<EntryId>> PosixStore::id_for_cut_renames(const std::string& path) {
    FB_TRY_ASSIGN(place, place_of(path));
    struct statfs about {};
    const auto failed = place.folder.valid() ? ::syscall(SYS_fstatfs, place.folder.get(), &about)
                                             : ::syscall(SYS_statfs, path.c_str(), &about);
    if (failed != 0) return posix_error("statfs", path, errno);
    if (about.f_type != FUSE_SUPER_MAGIC) return std::optional<EntryId>();
    struct statx entry {};
    if (::syscall(SYS_statx, place.at(), place.leaf(), AT_SYMLINK_NOFOLLOW, STATX_INO, &entry) != 0)
        return posix_error("statx", path, errno);
    return std::optional(EntryId{.device = makedev(entry.stx_dev_major, entry.stx_dev_minor), .number = entry.stx_ino});
}

}  // namespace

Store& posix_store() {
    // Never destroyed: a thread that was left in a dead mount may come back while the process exits.
    // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
    static auto* const store = new PosixStore;
    return *store;
}

std::unique_ptr<Store> open_posix_store_below(std::vector<std::string> roots) {
    return std::make_unique<PosixStore>(std::move(roots));
}

Result<> forget_cached(const std::string& path) {
    Fd fd(open_no_intr(path.c_str(), O_RDONLY));
    if (!fd.valid()) return posix_error("open", path, errno);
    // The kernel does not forget dirty pages: write them back first.
    if (::fdatasync(fd.get()) != 0) return posix_error("fdatasync", path, errno);
    if (const int number = ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED))
        return posix_error("posix_fadvise", path, number);
    return {};
}

}  // namespace forebay::sys
