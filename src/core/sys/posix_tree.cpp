// Directories of POSIX file systems, only by descriptors.

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <functional>

#include "core/base/try.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/posix_mounts.hpp"
#include "core/sys/posix_tree_entry.hpp"
#include "core/sys/stripe_layout.hpp"

namespace forebay::sys {

namespace {

// Some 1,500 names at once: 100 names of 20 bytes are 5 KB, and a call for 32 KiB costs as much as a smaller call.
constexpr std::size_t listing_bytes = 65'536;

// In no header, because they are no part of the kernel.
constexpr decltype(statfs::f_type) zfs_magic = 0x2fc1'2fc1, lustre_magic = 0x0bd0'0bd0;
constexpr decltype(statfs::f_type) ntfs3_magic = 0x7366'746e, ntfs_magic = 0x5346'544e, hfs_magic = 0x4244,
                                   hfsplus_magic = 0x482b, cifs_magic = 0xff53'4d42, smb2_magic = 0xfe53'4d42,
                                   exfat_magic = 0x2011'bab0, bcachefs_magic = 0xca45'1a4e;
// O_LOV_DELAY_CREATE of Lustre's lustre_user.h. On other file systems neither flag affects an open file.
constexpr int lays_out_later = O_NOCTTY | O_ASYNC;

EntryKind kind_of_listed(unsigned char type) {
    switch (type) {
        case DT_REG: return EntryKind::file;
        case DT_DIR: return EntryKind::folder;
        case DT_LNK: return EntryKind::link;
        case DT_FIFO: return EntryKind::fifo;
        case DT_SOCK: return EntryKind::socket;
        case DT_CHR: return EntryKind::character_device;
        case DT_BLK: return EntryKind::block_device;
        default: return EntryKind::unknown;
    }
}

// True if this process has the capability: root of a container may lack it. Asked once, because each entry needs it.
bool has_right(unsigned capability) {
    static const auto rights = [] {
        __user_cap_header_struct head{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
        std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
        if (::syscall(SYS_capget, &head, sets.data()) != 0) return ::geteuid() == 0 ? ~std::uint64_t{0} : 0;
        return std::uint64_t{sets[1].effective} << 32 | sets[0].effective;
    }();
    return (rights >> capability & 1u) != 0;
}

bool is_in_group(std::uint32_t group) {
    if (group == ::getegid()) return true;
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
    const auto count = ::getgroups(static_cast<int>(groups.size()), groups.data());
    return count > 0 && std::find(groups.begin(), groups.begin() + count, group) != groups.begin() + count;
}

unsigned type_bits_of(EntryKind kind) {
    switch (kind) {
        case EntryKind::fifo: return S_IFIFO;
        case EntryKind::socket: return S_IFSOCK;
        case EntryKind::character_device: return S_IFCHR;
        case EntryKind::block_device: return S_IFBLK;
        default: return 0;
    }
}

class PosixFolder final : public EntryOver<Folder> {
public:
    using EntryOver::EntryOver;

    Result<> list(const NameTaker& take) override;
    Result<EntryStatus> status_of(const std::string& name) override {
        FB_TRY(check_component(name));
        return status_at(fd(), name.c_str(), 0, name);
    }
    Result<std::string> link_text(const std::string& name) override;
    Result<std::vector<std::string>> attribute_names_of(const std::string& name) override {
        FB_TRY(check_component(name));
        auto names = lists_below_ ? attribute_names_below(fd(), name) : std::nullopt;
        if (!names) {
            // The kernel lacks listxattrat(2): asked by path from now on.
            lists_below_ = false;
            names = attribute_names_at(path_of_fd(fd()) + "/" + name, name, false);
        }
        if (*names) drop_told_by_dfuse(**names, fd(), name.c_str());
        return *std::move(names);
    }
    Result<std::string> attribute_of(const std::string& name, const std::string& attribute_name) override {
        FB_TRY(check_component(name));
        return attribute_at(path_of_fd(fd()) + "/" + name, attribute_name, name, false);
    }
    Result<std::unique_ptr<Folder>> open_folder(const std::string& name) override;
    Result<std::unique_ptr<OpenFile>> open_file(const std::string& name) override {
        return open_regular(name, O_RDONLY);
    }
    Result<std::unique_ptr<OpenFile>> reopen_file(const std::string& name) override {
        return open_regular(name, O_RDWR);
    }
    Result<std::unique_ptr<OpenEntry>> open_entry(const std::string& name) override;
    Result<std::unique_ptr<OpenFile>> make_file(const std::string& name, std::uint32_t permissions) override {
        return make_regular(name, permissions, 0);
    }
    Result<std::unique_ptr<OpenFile>> make_unlaid_file(const std::string& name, std::uint32_t permissions) override {
        return make_regular(name, permissions, lays_out_later);
    }
    Result<> make_folder(const std::string& name, std::uint32_t permissions) override {
        FB_TRY(check_component(name));
        return done(::mkdirat(fd(), name.c_str(), permissions), "mkdir", name);
    }
    Result<> make_link(const std::string& name, const std::string& text) override {
        FB_TRY(check_component(name));
        if (text.find('\0') != text.npos) return posix_error("symlink to a text with a zero byte", name, EINVAL);
        return done(::symlinkat(text.c_str(), fd(), name.c_str()), "symlink", name);
    }
    Result<> make_special(const std::string& name, const EntryStatus& like) override;
    Result<> make_hard_link(const std::string& name, Folder& other, const std::string& other_name) override;
    Result<> rename(const std::string& name, const std::string& new_name) override {
        FB_TRY(check_component(name));
        FB_TRY(check_component(new_name));
        return renames_.rename(fd(), name, new_name, 0);
    }
    Result<> rename_new(const std::string& name, const std::string& new_name) override {
        FB_TRY(check_component(name));
        FB_TRY(check_component(new_name));
        const auto renamed = renames_.rename(fd(), name, new_name, RENAME_NOREPLACE);
        if (renamed || renamed.error().kind != ErrorKind::unsupported) return renamed;
        return Folder::rename_new(name, new_name);  // the file system has no such rename
    }
    Result<> remove(const std::string& name) override {
        FB_TRY(check_component(name));
        return done(::unlinkat(fd(), name.c_str(), 0), "unlink", name);
    }
    Result<> remove_folder(const std::string& name) override {
        FB_TRY(check_component(name));
        return done(::unlinkat(fd(), name.c_str(), AT_REMOVEDIR), "rmdir", name);
    }
    Result<FileSystemTraits> file_system() override;
    bool folds_case() override {
        int flags = 0;
        return ::ioctl(fd(), FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_CASEFOLD_FL) != 0;
    }
    Result<> can_make(EntryKind kind) override;
    Result<> can_own(std::uint32_t user, std::uint32_t group) override;
    Result<> can_have(const std::string& attribute_name) override;
    FileTime time_held(FileTime modified) override;
    Result<> sync_file_system() override;
    Result<std::vector<MountBelow>> mounts_below() override;
    Result<bool> lies_in(const EntryId& id) override;

private:
    using TakeMount = std::function<Result<>(const std::string& path, int fd)>;
    Result<> each_mount(const TakeMount& take);
    static Result<> done(int failed, const char* call, const std::string& name) {
        if (failed != 0) return posix_error(call, name, errno);
        return {};
    }
    Result<std::unique_ptr<OpenFile>> open_regular(const std::string& name, int flags);
    Result<std::unique_ptr<OpenFile>> make_regular(const std::string& name, std::uint32_t permissions, int flags);

    RenamesKeepingTime renames_;
    bool was_listed_ = false;
    std::atomic<bool> lists_below_{true};  // until the kernel turns out to lack the call
};

Result<> PosixFolder::list(const NameTaker& take) {
    // A second listing begins at the first name again.
    if (was_listed_ && ::lseek(fd(), 0, SEEK_SET) != 0) return posix_error("lseek", name(), errno);
    was_listed_ = true;
    const std::unique_ptr<char[]> buffer(new char[listing_bytes]);
    std::vector<NamedEntry> names;
    while (true) {
        const auto got = ::syscall(SYS_getdents64, fd(), buffer.get(), listing_bytes);
        if (got < 0) return posix_error("getdents64", name(), errno);
        if (got == 0) return {};
        names.clear();
        for (const char *at = buffer.get(), *end = at + got; at < end;) {
            struct dirent64 listed;  // copied in part: the record is only as long as its name
            std::memcpy(&listed, at, offsetof(struct dirent64, d_name));
            const std::string_view listed_name(at + offsetof(struct dirent64, d_name));
            if (listed_name != "." && listed_name != "..")
                names.push_back({listed_name, kind_of_listed(listed.d_type), listed.d_ino});
            at += listed.d_reclen;
        }
        if (names.empty()) continue;
        const auto taken = take(names);
        if (!taken || taken.is_enough()) return taken;
    }
}

Result<std::string> PosixFolder::link_text(const std::string& name) {
    FB_TRY(check_component(name));
    std::array<char, PATH_MAX> text;
    const auto bytes = ::readlinkat(fd(), name.c_str(), text.data(), text.size());
    if (bytes < 0) return posix_error("readlink", name, errno);
    return std::string(text.data(), static_cast<std::size_t>(bytes));
}

Result<std::unique_ptr<Folder>> PosixFolder::open_folder(const std::string& name) {
    FB_TRY(check_component(name));
    Fd opened(open_at_alone(fd(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (!opened.valid()) return posix_error("open", name, errno);
    return std::unique_ptr<Folder>(
        std::make_unique<PosixFolder>(PosixEntry(std::move(opened), name, OpenedHow::fully)));
}

// O_NONBLOCK: a fifo or device that took the file's name must not hang the open. Callers ask for the status next, and
// see there if it is a regular file: no extra call is spent on that here.
Result<std::unique_ptr<OpenFile>> PosixFolder::open_regular(const std::string& name, int flags) {
    FB_TRY(check_component(name));
    Fd opened(open_at_alone(fd(), name.c_str(), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (!opened.valid()) return posix_error("open", name, errno);
    return open_file_over(PosixEntry(std::move(opened), name, OpenedHow::fully));
}

Result<std::unique_ptr<OpenEntry>> PosixFolder::open_entry(const std::string& name) {
    FB_TRY(check_component(name));
    Fd opened(open_at_alone(fd(), name.c_str(), O_PATH | O_NOFOLLOW));
    if (!opened.valid()) return posix_error("open", name, errno);
    return std::unique_ptr<OpenEntry>(
        std::make_unique<EntryOver<OpenEntry>>(PosixEntry(std::move(opened), name, OpenedHow::as_path)));
}

Result<std::unique_ptr<OpenFile>> PosixFolder::make_regular(const std::string& name, std::uint32_t permissions,
                                                            int flags) {
    FB_TRY(check_component(name));
    Fd opened(open_at_alone(fd(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | flags, permissions));
    if (!opened.valid()) return posix_error("create", name, errno);
    return open_file_over(PosixEntry(std::move(opened), name, OpenedHow::fully));
}

Result<> PosixFolder::make_special(const std::string& name, const EntryStatus& like) {
    FB_TRY(check_component(name));
    const auto device = makedev(static_cast<unsigned>(like.device_number >> 32),
                                static_cast<unsigned>(like.device_number & 0xffff'ffffu));
    return done(::mknodat(fd(), name.c_str(), type_bits_of(like.kind) | 0600u, device), "mknod", name);
}

Result<> PosixFolder::make_hard_link(const std::string& name, Folder& other, const std::string& other_name) {
    FB_TRY(check_component(name));
    FB_TRY(check_component(other_name));
    const auto* folder = dynamic_cast<PosixFolder*>(&other);
    if (folder == nullptr) return Error{ErrorKind::unsupported, "hard link between two kinds of trees: " + name};
    return done(::linkat(folder->fd(), other_name.c_str(), fd(), name.c_str(), 0), "link", name);
}

// File systems with `always` may be mounted without folding. That costs a listing of directories with old entries.
CaseFolding case_folding_of(decltype(statfs::f_type) type) {
    switch (static_cast<std::uint32_t>(type)) {
        case MSDOS_SUPER_MAGIC:
        case exfat_magic:
        case ntfs_magic:
        case ntfs3_magic:
        case SMB_SUPER_MAGIC:
        case cifs_magic:
        case smb2_magic:
        case hfs_magic:
        case hfsplus_magic: return CaseFolding::always;
        case EXT4_SUPER_MAGIC:
        case F2FS_SUPER_MAGIC:
        case TMPFS_MAGIC:
        case OVERLAYFS_SUPER_MAGIC:
        case bcachefs_magic: return CaseFolding::by_folder;
        default: return CaseFolding::never;
    }
}

Result<FileSystemTraits> PosixFolder::file_system() {
    struct statfs about {};
    if (::fstatfs(fd(), &about) != 0) return posix_error("statfs", name(), errno);
    const bool in_memory = about.f_type == TMPFS_MAGIC || about.f_type == RAMFS_MAGIC;
    static constexpr std::array<decltype(about.f_type), 6> local{
        EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, zfs_magic};
    std::uint64_t id = 0;
    static_assert(sizeof(about.f_fsid) == sizeof(id));
    // The fields of f_fsid are not public.
    std::memcpy(&id, &about.f_fsid, sizeof(id));
    const bool has_layouts = about.f_type == lustre_magic || ::fgetxattr(fd(), layout_attribute, nullptr, 0) > 0;
    return FileSystemTraits{.outlives_power = !in_memory,
                            .id = id,
                            .has_own_clock = in_memory || std::ranges::find(local, about.f_type) != local.end(),
                            .is_read_only = (about.f_flags & ST_RDONLY) != 0,
                            .has_layouts = has_layouts,
                            .cuts_renames = about.f_type == FUSE_SUPER_MAGIC,
                            .case_folding = case_folding_of(about.f_type)};
}

Result<> PosixFolder::can_make(EntryKind kind) {
    const bool is_device = kind == EntryKind::character_device || kind == EntryKind::block_device;
    if (!is_device || has_right(CAP_MKNOD)) return {};
    return Error{ErrorKind::refused, "only root makes devices"};
}

// An ordinary user keeps the owner, and gives entries only to the user's own groups.
Result<> PosixFolder::can_own(std::uint32_t user, std::uint32_t group) {
    if (has_right(CAP_CHOWN)) return {};
    const bool stays = user == ::geteuid() || user == same_user;
    if (stays && is_in_group(group)) return {};
    return Error{ErrorKind::refused,
                 "this user may not give entries to " + std::to_string(user) + ":" + std::to_string(group)};
}

// A file system that lacks this kind of attribute also says so when it is asked for one.
Result<> PosixFolder::can_have(const std::string& attribute_name) {
    if (attribute_name == "security.capability" && !has_right(CAP_SETFCAP))
        return Error{ErrorKind::refused, "only root gives files capabilities"};
    const auto asked = attribute(attribute_name);
    if (asked || asked.error().kind != ErrorKind::unsupported) return {};
    return asked.error();
}

// Uses a nameless file, which is gone with its descriptor: file systems show the times that they keep in no other way.
FileTime PosixFolder::time_held(FileTime modified) {
    const Fd file(open_at_alone(fd(), ".", O_TMPFILE | O_WRONLY, 0600));
    const std::array<timespec, 2> times{
        {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, {.tv_sec = modified.seconds, .tv_nsec = modified.nanoseconds}}};
    struct stat status {};
    if (file.get() < 0 || ::futimens(file.get(), times.data()) != 0 || ::fstat(file.get(), &status) != 0)
        return modified;
    return {status.st_mtim.tv_sec, static_cast<std::uint32_t>(status.st_mtim.tv_nsec)};
}

// Only mounts that this process may open: it has written nothing to the rest.
Result<> PosixFolder::each_mount(const TakeMount& take) {
    const auto mounts = kernel_text("/proc/self/mountinfo");
    std::array<char, PATH_MAX> path{};
    // mountinfo has whole paths, so the path of this directory is needed.
    const auto bytes = ::readlink(path_of_fd(fd()).c_str(), path.data(), path.size());
    if (!mounts || bytes < 0) return {};
    for (const auto& below : mount_points_below(*mounts, {path.data(), static_cast<std::size_t>(bytes)})) {
        const Fd mount(open_at(fd(), below.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK));
        if (mount.get() >= 0) FB_TRY(take(below, mount.get()));
    }
    return {};
}

Result<> PosixFolder::sync_file_system() {
    // syncfs(2) syncs a single file system, so the mounts below are synced one by one.
    FB_TRY(done(::syncfs(fd()), "syncfs", name()));
    return each_mount([](const std::string& path, int mount) { return done(::syncfs(mount), "syncfs", path); });
}

Result<std::vector<MountBelow>> PosixFolder::mounts_below() {
    std::vector<MountBelow> mounts;
    FB_TRY(each_mount([&](const std::string& path, int mount) -> Result<> {
        FB_TRY_ASSIGN(status, status_at(mount, "", AT_EMPTY_PATH, path));
        mounts.push_back({path, status.id});
        return {};
    }));
    return mounts;
}

Result<bool> PosixFolder::lies_in(const EntryId& id) {
    FB_TRY_ASSIGN(at, status());
    Fd below;
    while (at.id != id) {
        Fd above(open_at_alone(below.valid() ? below.get() : fd(), "..", O_PATH | O_DIRECTORY | O_NOFOLLOW));
        if (!above.valid()) return posix_error("open", name() + "/..", errno);
        FB_TRY_ASSIGN(up, status_at(above.get(), "", AT_EMPTY_PATH, name()));
        if (up.id == at.id) return false;  // the root is its own parent
        at = up;
        below = std::move(above);
    }
    return true;
}

}  // namespace

Result<std::unique_ptr<Folder>> open_posix_folder(const std::string& path) {
    Fd opened(open_no_intr(path.c_str(), O_RDONLY | O_DIRECTORY));
    if (!opened.valid()) return posix_error("open", path, errno);
    return std::unique_ptr<Folder>(
        std::make_unique<PosixFolder>(PosixEntry(std::move(opened), path, OpenedHow::fully)));
}

}  // namespace forebay::sys
