// Directory trees as an interface: open directories, and their entries by ONE name each. No call follows a symbolic
// link. So nothing outside the tree can be reached, whatever other users rename or plant meanwhile.
//
// Life:    open_folder() -> list(), open_file(), make_..., rename() ... -> the destructor closes
// Threads: all calls of one object may run at once, except list(): one thread calls it at a time.
// Errors:  contain only the entry's name: the caller knows the directory. `missing`: there is no such name;
//          `unsupported`: the file system cannot hold this; `refused`: a right is missing, or the entry is of another
//          kind.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sys/entry_id.hpp"
#include "forebay/result.hpp"

namespace forebay::sys {

enum class EntryKind : std::uint8_t { unknown, file, folder, link, fifo, socket, character_device, block_device };

struct FileTime {
    std::int64_t seconds = 0;  // since 1970; negative before it
    std::uint32_t nanoseconds = 0;
    auto operator<=>(const FileTime&) const = default;
};

struct EntryStatus {
    EntryKind kind = EntryKind::unknown;
    std::uint32_t permissions = 0;  // with setuid, setgid and sticky bit: 04755
    std::uint32_t user = 0, group = 0;
    std::uint64_t names = 1;  // hard links
    std::uint64_t bytes = 0, allocated_bytes = 0;
    std::uint64_t device_number = 0;  // of a device: the major number above 32 bits of the minor number
    EntryId id;
    FileTime accessed, modified, changed;
    FileTime born;          // 0 if unknown
    bool is_mount = false;  // a file system, or a part of one, is mounted on this directory (Linux 5.8 and newer)
    bool is_immutable = false, is_append_only = false;  // flags of chattr(1)
    bool has_times = true;  // false for a directory without kept times: its times are this moment's
};

/// True if it can be the name of one entry. No other name is ever opened below an open directory.
inline bool is_entry_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos && name.find('\0') == name.npos;
}

/// A directory's record of an entry, without a look at the entry. The name is valid only during the call that gets it.
struct NamedEntry {
    std::string_view name;
    EntryKind kind = EntryKind::unknown;
    std::uint64_t number = 0;   // of its inode
    bool may_be_folder = true;  // if the kind is unknown
    /// The size, if listings report it. Not for directories.
    std::optional<std::uint64_t> bytes{};
};

/// Case folding: directories take several spellings, such as "A" and "a", for one name. Each finds the same entry.
enum class CaseFolding : std::uint8_t { unknown, never, by_folder, always };

struct FileSystemTraits {
    bool outlives_power = false;     // synced data survive a power cut: not in memory
    std::uint64_t id = 0;            // identifies it, if it has an id
    bool has_own_clock = false;      // this machine's kernel stamps changes, not a server
    bool is_read_only = false;       // as it is mounted here
    bool has_layouts = false;        // storage targets of files can be read and chosen: sys/stripe_layout.hpp
    bool cuts_renames = false;       // a rename that was cut may leave one entry under two names: DAOS
    bool names_change_times = true;  // a directory's times show changes of its names
    CaseFolding case_folding = CaseFolding::never;
};

struct MountBelow {
    std::string path;
    EntryId id;  // of the directory seen there
    auto operator<=>(const MountBelow&) const = default;
};

struct ByteStretch {
    std::uint64_t begin = 0, end = 0;
};

/// As a user: keep the present owner, as in chown(2).
inline constexpr std::uint32_t same_user = UINT32_MAX;

/// An open entry of a tree. Renames and other names do not change what it refers to.
class OpenEntry {
public:
    OpenEntry() = default;
    OpenEntry(const OpenEntry&) = delete;
    OpenEntry& operator=(const OpenEntry&) = delete;
    virtual ~OpenEntry() = default;

    virtual Result<EntryStatus> status() = 0;
    /// Extended attributes, with ACLs and file capabilities. Empty if the file system has none.
    virtual Result<std::vector<std::string>> attribute_names() = 0;
    virtual Result<std::string> attribute(const std::string& attribute_name) = 0;
    virtual Result<> set_attribute(const std::string& attribute_name, const std::string& value) = 0;
    virtual Result<> remove_attribute(const std::string& attribute_name) = 0;
    /// Clears setuid bits and capabilities, so set both after it. With `same_user` it sets only the group.
    virtual Result<> set_owner(std::uint32_t user, std::uint32_t group) = 0;
    virtual Result<> set_permissions(std::uint32_t permissions) = 0;
    virtual Result<> set_times(FileTime accessed, FileTime modified) = 0;
    /// Locks out other processes that call this, as long as this object lives. False if another process has the lock.
    /// True if the file system has no locks.
    virtual Result<bool> lock_alone() { return true; }
    /// Gives up the lock before the object's end.
    virtual void unlock() {}
    /// Call it after the last setting: object stores send all settings together. File systems apply each at once.
    virtual Result<> keep_set() { return {}; }
};

class OpenFile : public OpenEntry {
public:
    /// Fills `bytes`, up to the file's end; returns how many bytes there were.
    virtual Result<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> bytes) = 0;
    virtual Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
    virtual Result<> resize(std::uint64_t bytes) = 0;
    /// The next bytes at or behind `offset` that are no hole; empty if there are none up to the end.
    virtual Result<std::optional<ByteStretch>> next_data(std::uint64_t offset) = 0;
    /// Copies bytes to the same offset of this file, without bringing them into this process. Returns how many, 0 at
    /// the source's end. `unsupported` between these two files.
    virtual Result<std::uint64_t> copy_from(OpenFile& source, std::uint64_t offset, std::uint64_t bytes) = 0;
    /// The same, called on the source, for a target of another kind: it takes its shortest way.
    virtual Result<std::uint64_t> copy_to(OpenFile&, std::uint64_t, std::uint64_t) {
        return Error{ErrorKind::unsupported, "copy between two kinds of trees"};
    }
    /// True if attributes must be set before any bytes, as for objects of an object store.
    virtual bool begins_with_attributes() const { return false; }
    /// Only if begins_with_attributes(): all attributes are set, and the bytes of `source`, with `status`, come next.
    /// In the end the file is renamed to `final_name`. Returns how many of its first bytes a killed run has left.
    virtual Result<std::uint64_t> begin(const std::string&, OpenFile&, const EntryStatus&) { return std::uint64_t{0}; }
    /// How many bytes at `offset` and behind it are there since begin(): they are not sent again.
    virtual std::uint64_t held_at(std::uint64_t) { return 0; }
    /// For a file that several processes write, opened by reopen_file(): a text about the bytes written here, for the
    /// process that completes the file. File systems need none.
    virtual Result<std::string> written_parts() { return std::string(); }
    virtual Result<> take_parts(const std::string&) { return {}; }
    /// CRC32C of all bytes, if known without reading them; for written bytes, the storage's checksum.
    virtual Result<std::optional<std::uint32_t>> checksum() { return std::optional<std::uint32_t>(); }
    /// For a file that was read: an error if its bytes differ from the storage's checksum. False if there is a checksum
    /// but this object did not read all bytes: then its reader has to compare.
    virtual Result<bool> is_read_checked() { return true; }
    virtual Result<> sync() = 0;
    /// Later reads come from storage, as far as the kernel obeys.
    virtual void forget_cached() = 0;
};

/// The answer of a NameTaker: go on, an error that ends the listing, or enough.
class TakerAnswer : public Result<> {
public:
    TakerAnswer() = default;
    TakerAnswer(Result<> result) : Result<>(std::move(result)) {}
    TakerAnswer(Error error) : Result<>(std::move(error)) {}
    static TakerAnswer enough() {
        TakerAnswer taken;
        taken.is_enough_ = true;
        return taken;
    }
    bool is_enough() const { return is_enough_; }

private:
    bool is_enough_ = false;
};

class Folder : public OpenEntry {
public:
    using NameTaker = std::function<TakerAnswer(std::span<const NamedEntry>)>;

    /// Passes all names except "." and ".." to `take`, in batches, until it has enough. Names that come or go meanwhile
    /// may be among them or not.
    virtual Result<> list(const NameTaker& take) = 0;
    /// Call it if list() has ended as `unsupported`, because something here has no valid entry name: passes each such
    /// name with the reason. An empty name stands for the directory itself.
    using UnnamedTaker = std::function<void(const std::string& name, const Error& why)>;
    virtual Result<> tell_unnamed(const UnnamedTaker&) { return {}; }
    virtual Result<EntryStatus> status_of(const std::string& name) = 0;
    virtual Result<std::string> link_text(const std::string& name) = 0;
    /// As in OpenEntry, in one call, and without opening entries that must not be opened, such as a fifo.
    virtual Result<std::vector<std::string>> attribute_names_of(const std::string& name) = 0;
    virtual Result<std::string> attribute_of(const std::string& name, const std::string& attribute_name) = 0;

    virtual Result<std::unique_ptr<Folder>> open_folder(const std::string& name) = 0;
    /// The same for a directory that another process made for both. In stores without empty directories it need not
    /// exist yet.
    virtual Result<std::unique_ptr<Folder>> open_made_folder(const std::string& name) { return open_folder(name); }
    /// Promises: no other process makes the names that this process makes here, and no other entries are in the way.
    virtual void expect_new() {}
    /// To read. Only a regular file: waits for no fifo and touches no device.
    virtual Result<std::unique_ptr<OpenFile>> open_file(const std::string& name) = 0;
    /// To read and write a file of ours that a killed run left.
    virtual Result<std::unique_ptr<OpenFile>> reopen_file(const std::string& name) = 0;
    /// Opens an entry of any kind, to look at it and to set its properties.
    virtual Result<std::unique_ptr<OpenEntry>> open_entry(const std::string& name) = 0;

    /// Makes new names; `refused` if the name is taken. The process's umask is taken from `permissions`.
    virtual Result<std::unique_ptr<OpenFile>> make_file(const std::string& name, std::uint32_t permissions) = 0;
    /// A file without a layout: set layout_attribute before you write any bytes.
    virtual Result<std::unique_ptr<OpenFile>> make_unlaid_file(const std::string& name, std::uint32_t) {
        return Error{ErrorKind::unsupported, "there is no choice of storage targets for " + name};
    }
    virtual Result<> make_folder(const std::string& name, std::uint32_t permissions) = 0;
    virtual Result<> make_link(const std::string& name, const std::string& text) = 0;
    /// A fifo, socket or device like `like`, open only to its owner.
    virtual Result<> make_special(const std::string& name, const EntryStatus& like) = 0;
    /// A further name for an entry of `other`, a directory of the same implementation.
    virtual Result<> make_hard_link(const std::string& name, Folder& other, const std::string& other_name) = 0;

    /// Replaces anything except a directory. The entry keeps its modification time, even on DAOS.
    virtual Result<> rename(const std::string& name, const std::string& new_name) = 0;
    /// Replaces nothing: `refused` if the new name is taken.
    virtual Result<> rename_new(const std::string& name, const std::string& new_name);
    virtual Result<> remove(const std::string& name) = 0;
    virtual Result<> remove_folder(const std::string& name) = 0;
    virtual Result<FileSystemTraits> file_system() { return FileSystemTraits{}; }
    /// If file_system() says `by_folder`: whether this directory folds. A new directory does as its parent.
    virtual bool folds_case() { return false; }

    /// Checks new entries without making one. An error is the reason why this process cannot make such an entry here,
    /// or give it this owner, this attribute or a further name. Success is no promise.
    virtual Result<> can_make(EntryKind) { return {}; }
    virtual Result<> can_own(std::uint32_t, std::uint32_t) { return {}; }
    virtual Result<> can_have(const std::string&) { return {}; }
    virtual Result<> can_link() { return {}; }
    /// The time that a new file here would get in place of `modified`; the same if unknown.
    virtual FileTime time_held(FileTime modified) { return modified; }

    /// Removes each as remove() does, with fewer requests to a server; `taker` gets each result.
    using RemovedTaker = std::function<void(const std::string& name, const Result<>& removed)>;
    virtual void remove_each(std::span<const std::string> names, const RemovedTaker& taker) {
        for (const auto& name : names) taker(name, remove(name));
    }
    /// How many names one system call or one request removes.
    virtual std::size_t removed_at_once() const { return 1; }
    /// Brings all data of this directory's file system, and of the mounts below it, to storage.
    virtual Result<> sync_file_system() = 0;
    /// The mounts below this directory, as paths below it, sorted.
    virtual Result<std::vector<MountBelow>> mounts_below() { return std::vector<MountBelow>(); }
    /// True if this directory is `id`, or lies below it.
    virtual Result<bool> lies_in(const EntryId& id) = 0;
};

inline Result<> Folder::rename_new(const std::string& name, const std::string& new_name) {
    if (status_of(new_name)) return Error{ErrorKind::refused, "rename: " + new_name + " is there"};
    return rename(name, new_name);
}

/// Opens the root of a tree. Links in `path` are followed: the caller chose it.
Result<std::unique_ptr<Folder>> open_posix_folder(const std::string& path);

/// The properties of a new entry of this process, before anything is set.
struct NewEntryOwner {
    std::uint32_t user = 0, group = 0;
    std::uint32_t umask = 0;
};
NewEntryOwner new_entry_owner();
/// The effective capabilities of this process, in hexadecimal. They decide which entries it can see.
std::string own_capabilities();
/// Sets the umask of this process.
void set_umask(std::uint32_t umask);

/// The number of a user or group of this machine; empty if there is no such name.
std::optional<std::uint32_t> user_of_name(const std::string& name);
std::optional<std::uint32_t> group_of_name(const std::string& name);

}  // namespace forebay::sys
