// OpenEntry over a descriptor: the part that all kinds of entries share. For sys/posix_tree*.cpp only.

#pragma once

#include <sys/stat.h>

#include <string>
#include <utility>

#include "core/sys/posix_fd.hpp"
#include "core/sys/tree.hpp"

namespace forebay::sys {

/// The kernel refuses calls on O_PATH descriptors (EBADF). Such an entry is reached through /proc/self/fd, a link of
/// the kernel that always leads to the open inode.
enum class OpenedHow { fully, as_path };

/// Makes one statx(2) call. It works for symbolic links and for entries that cannot be opened.
Result<EntryStatus> status_at(int fd, const char* name, int flags, const std::string& shown_name);
/// Renames in one directory. On FUSE file systems a rename may set the modification time to now, as DAOS does. Then it
/// is set back.
class RenamesKeepingTime {
public:
    /// `flags` as in renameat2(2); `unsupported` if the file system lacks them.
    Result<> rename(int folder, const std::string& name, const std::string& new_name, unsigned flags);

private:
    std::atomic<std::int64_t> file_system_{0};  // statfs::f_type, asked at the first rename
};
EntryKind kind_of_mode(unsigned mode);

/// Attributes by path: of a descriptor with `follow`, of a name below it without.
Result<std::vector<std::string>> attribute_names_at(const std::string& path, const std::string& shown_name,
                                                    bool follow);
Result<std::string> attribute_at(const std::string& path, const std::string& attribute_name,
                                 const std::string& shown_name, bool follow);
/// The same by listxattrat(2), in Linux since 6.13. It saves the lookup of a path through /proc, which takes longer
/// than the call. Empty if the kernel lacks it.
std::optional<Result<std::vector<std::string>>> attribute_names_below(int folder, const std::string& name);
/// Removes the attribute with which dfuse marks the root of each container: it is no part of the tree. On other file
/// systems the attribute stays, because it makes a directory stand for a container. `name` is an entry of `fd`, or "".
void drop_told_by_dfuse(std::vector<std::string>& names, int fd, const char* name);
std::string path_of_fd(int fd);
/// `refused` if `name` is not a single component. The kernel cannot check this, because it ends names at a zero byte.
Result<> check_component(const std::string& name);

/// Implements OpenEntry for any kind of entry.
class PosixEntry {
public:
    PosixEntry(Fd fd, std::string name, OpenedHow opened)
        : fd_(std::move(fd)), name_(std::move(name)), opened_(opened) {}

    int fd() const { return fd_.get(); }
    const std::string& name() const { return name_; }
    Result<EntryStatus> status() const { return status_at(fd(), "", AT_EMPTY_PATH, name_); }
    Result<std::vector<std::string>> attribute_names() const;
    Result<std::string> attribute(const std::string& attribute_name) const;
    Result<> set_attribute(const std::string& attribute_name, const std::string& value) const;
    Result<> remove_attribute(const std::string& attribute_name) const;
    Result<> set_owner(std::uint32_t user, std::uint32_t group) const;
    Result<> set_permissions(std::uint32_t permissions) const;
    Result<> set_times(FileTime accessed, FileTime modified) const;
    Result<bool> lock_alone() const;
    void unlock() const;

private:
    Fd fd_;
    std::string name_;
    OpenedHow opened_;
};

/// An interface derived from OpenEntry, with the OpenEntry part implemented.
template <class Interface>
class EntryOver : public Interface {
public:
    explicit EntryOver(PosixEntry entry) : entry_(std::move(entry)) {}

    Result<EntryStatus> status() override { return entry_.status(); }
    Result<std::vector<std::string>> attribute_names() override { return entry_.attribute_names(); }
    Result<std::string> attribute(const std::string& name) override { return entry_.attribute(name); }
    Result<> set_attribute(const std::string& name, const std::string& value) override {
        return entry_.set_attribute(name, value);
    }
    Result<> remove_attribute(const std::string& name) override { return entry_.remove_attribute(name); }
    Result<> set_owner(std::uint32_t user, std::uint32_t group) override { return entry_.set_owner(user, group); }
    Result<> set_permissions(std::uint32_t permissions) override { return entry_.set_permissions(permissions); }
    Result<> set_times(FileTime accessed, FileTime modified) override { return entry_.set_times(accessed, modified); }
    Result<bool> lock_alone() override { return entry_.lock_alone(); }
    void unlock() override { entry_.unlock(); }

protected:
    int fd() const { return entry_.fd(); }
    const std::string& name() const { return entry_.name(); }

private:
    PosixEntry entry_;
};

std::unique_ptr<OpenFile> open_file_over(PosixEntry entry);  // posix_tree_file.cpp

}  // namespace forebay::sys
