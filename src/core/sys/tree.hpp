// Directory trees as an interface: open directories, and what they hold by ONE name each. No call follows a symbolic
// link, so that nothing outside the tree can be reached, whatever other users rename or plant meanwhile.
//
// Life:    open_folder() -> list(), open_file(), make_..., rename() ... -> the destructor closes
// Threads: all calls of one object may run at once, but for list(), which one thread calls at a time.
// Errors:  name the entry alone: the caller knows where the directory lies. `missing`: the name is not there;
//          `unsupported`: the file system does not hold this; `refused`: a right is missing, or the name has another
//          kind than the one asked for.

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

#include "forebay/result.hpp"

namespace forebay::sys {

enum class EntryKind : std::uint8_t { unknown, file, folder, link, fifo, socket, character_device, block_device };

struct FileTime {
    std::int64_t seconds = 0;  // since 1970; before it below 0
    std::uint32_t nanoseconds = 0;
    auto operator<=>(const FileTime&) const = default;
};

/// Which inode it is, on this machine, as long as it exists.
struct EntryId {
    std::uint64_t device = 0, number = 0;
    auto operator<=>(const EntryId&) const = default;
};

struct EntryStatus {
    EntryKind kind = EntryKind::unknown;
    std::uint32_t permissions = 0;  // with the bits of setuid, setgid and the sticky bit: 04755
    std::uint32_t user = 0, group = 0;
    std::uint64_t names = 1;  // hard links
    std::uint64_t bytes = 0, allocated_bytes = 0;
    std::uint64_t device_number = 0;  // of a device: its major number above 32 bits of its minor one
    EntryId id;
    FileTime accessed, modified, changed;
    FileTime born;          // 0 where the file system does not tell it
    bool is_mount = false;  // of a folder: a file system, or a part of one, is mounted there (Linux 5.8 and newer)
    bool is_immutable = false, is_append_only = false;  // flags of the inode, as chattr(1) sets them
    bool has_times = true;  // false of a folder of which nobody has kept any: its times are this moment's
};

/// Whether it can be the name of one entry, whoever says it: nothing else is ever opened below an open directory.
inline bool is_entry_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos && name.find('\0') == name.npos;
}

/// What a directory says of an entry without looking at it; its name is valid during the call that gets it.
struct NamedEntry {
    std::string_view name;
    EntryKind kind = EntryKind::unknown;
    std::uint64_t number = 0;   // of its inode
    bool may_be_folder = true;  // where the kind is unknown
    /// Of what is no folder, where listings tell it.
    std::optional<std::uint64_t> bytes{};
};

/// Whether folders take several spellings for one name, such as "A" and "a": then either is found under both.
enum class CaseFolding : std::uint8_t { unknown, never, by_folder, always };

struct FileSystemTraits {
    bool outlives_power = false;     // what is synced is there after a power cut: not in memory
    std::uint64_t id = 0;            // which one it is, as far as it says
    bool has_own_clock = false;      // changes are stamped by this machine's kernel, and not by a server
    bool is_read_only = false;       // as it is mounted here
    bool has_layouts = false;        // on which storage targets files lie is told and chosen: sys/stripe_layout.hpp
    bool names_change_times = true;  // a folder's times say when a name came or went
    CaseFolding case_folding = CaseFolding::never;
};

struct MountBelow {
    std::string path;
    EntryId id;  // of the folder that is seen there
    auto operator<=>(const MountBelow&) const = default;
};

struct ByteStretch {
    std::uint64_t begin = 0, end = 0;
};

/// In place of a user: the one that an entry has already, as chown(2) takes it.
inline constexpr std::uint32_t same_user = UINT32_MAX;

/// Whatever has a name in a tree, opened; other names and renames do not change what it is.
class OpenEntry {
public:
    OpenEntry() = default;
    OpenEntry(const OpenEntry&) = delete;
    OpenEntry& operator=(const OpenEntry&) = delete;
    virtual ~OpenEntry() = default;

    virtual Result<EntryStatus> status() = 0;
    /// Extended attributes: ACLs and capabilities of files are some of them. No names where the file system has none.
    virtual Result<std::vector<std::string>> attribute_names() = 0;
    virtual Result<std::string> attribute(const std::string& attribute_name) = 0;
    virtual Result<> set_attribute(const std::string& attribute_name, const std::string& value) = 0;
    virtual Result<> remove_attribute(const std::string& attribute_name) = 0;
    /// Clears setuid bits and capabilities: both are set after it. `same_user`: the group alone.
    virtual Result<> set_owner(std::uint32_t user, std::uint32_t group) = 0;
    virtual Result<> set_permissions(std::uint32_t permissions) = 0;
    virtual Result<> set_times(FileTime accessed, FileTime modified) = 0;
    /// Excludes other processes that ask the same, as long as this object lives; false where one has it. True where the
    /// file system has no locks.
    virtual Result<bool> lock_alone() { return true; }
    /// Before the object's end.
    virtual void unlock() {}
    /// What was set is kept from here on. File systems have done so at once; object stores send all of it together.
    virtual Result<> keep_set() { return {}; }
};

class OpenFile : public OpenEntry {
public:
    /// Fills `bytes`, up to the file's end: how many there were.
    virtual Result<std::uint64_t> read(std::uint64_t offset, std::span<std::byte> bytes) = 0;
    virtual Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
    virtual Result<> resize(std::uint64_t bytes) = 0;
    /// The next bytes at or behind `offset` that are no hole; none up to the end.
    virtual Result<std::optional<ByteStretch>> next_data(std::uint64_t offset) = 0;
    /// Copies bytes without bringing them into this process, to the same offset of this file; how many, 0 at the
    /// source's end. `unsupported` between these two files.
    virtual Result<std::uint64_t> copy_from(OpenFile& source, std::uint64_t offset, std::uint64_t bytes) = 0;
    /// The same, asked of the source: it brings bytes to a target of another kind by the shortest way that it has.
    virtual Result<std::uint64_t> copy_to(OpenFile&, std::uint64_t, std::uint64_t) {
        return Error{ErrorKind::unsupported, "copy between two kinds of trees"};
    }
    /// An object of an object store is sent attributes first: true where these are to be set before any bytes.
    virtual bool begins_with_attributes() const { return false; }
    /// Where that is so: the attributes are set, and the bytes of `source`, which has `status`, come next; in the end
    /// the file is renamed to `final_name`. Gives how many of its first bytes are there from a run that was killed.
    virtual Result<std::uint64_t> begin(const std::string&, OpenFile&, const EntryStatus&) { return std::uint64_t{0}; }
    /// How many of the bytes at `offset` and behind it are there since then: they are not brought once more.
    virtual std::uint64_t held_at(std::uint64_t) { return 0; }
    /// Of a file that several processes write, opened by reopen_file(): what the one that completes it must be told of
    /// the bytes that this one has written. File systems know it themselves.
    virtual Result<std::string> written_parts() { return std::string(); }
    virtual Result<> take_parts(const std::string&) { return {}; }
    /// CRC32C of all bytes, where it is known without reading them; of what was written as the storage has it.
    virtual Result<std::optional<std::uint32_t>> checksum() { return std::optional<std::uint32_t>(); }
    /// Of a file whose bytes were read: an error where what came is not what the storage has the checksum of. False
    /// where it has one and some bytes were not read by this object, so that its reader has to compare.
    virtual Result<bool> is_read_checked() { return true; }
    virtual Result<> sync() = 0;
    /// What is read next comes from storage, as far as the kernel does what it is asked for.
    virtual void forget_cached() = 0;
};

/// What a taker of names says: go on, an error that ends the listing, or that it has seen enough.
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

    /// All names but "." and "..", in portions, or the first ones where `take` has enough of them. Names that come or
    /// go meanwhile may be among them or not.
    virtual Result<> list(const NameTaker& take) = 0;
    /// Where list() has ended as `unsupported`, since not all that lies here has the name of an entry: each of that,
    /// and why; with an empty name what is said of the folder itself.
    using UnnamedTaker = std::function<void(const std::string& name, const Error& why)>;
    virtual Result<> tell_unnamed(const UnnamedTaker&) { return {}; }
    virtual Result<EntryStatus> status_of(const std::string& name) = 0;
    virtual Result<std::string> link_text(const std::string& name) = 0;
    /// The same as those of OpenEntry, in one call and without opening what may not be opened, such as a fifo.
    virtual Result<std::vector<std::string>> attribute_names_of(const std::string& name) = 0;
    virtual Result<std::string> attribute_of(const std::string& name, const std::string& attribute_name) = 0;

    virtual Result<std::unique_ptr<Folder>> open_folder(const std::string& name) = 0;
    /// The same of a folder that another process has made for both: where folders come with what is in them, nothing
    /// of it need be there yet.
    virtual Result<std::unique_ptr<Folder>> open_made_folder(const std::string& name) { return open_folder(name); }
    /// From now on: what this process makes here nobody else makes, and no other entries are in the way of it.
    virtual void expect_new() {}
    /// To read. Only a regular file: no fifo is waited for and no device touched.
    virtual Result<std::unique_ptr<OpenFile>> open_file(const std::string& name) = 0;
    /// To write and read, for a file of ours that a killed run left.
    virtual Result<std::unique_ptr<OpenFile>> reopen_file(const std::string& name) = 0;
    /// Anything, to look at it and to set what OpenEntry can set.
    virtual Result<std::unique_ptr<OpenEntry>> open_entry(const std::string& name) = 0;

    /// New names; `refused` where the name is taken. The process's umask takes from `permissions`.
    virtual Result<std::unique_ptr<OpenFile>> make_file(const std::string& name, std::uint32_t permissions) = 0;
    /// A file that lies nowhere until it is given its layout, the attribute layout_attribute, before any bytes.
    virtual Result<std::unique_ptr<OpenFile>> make_unlaid_file(const std::string& name, std::uint32_t) {
        return Error{ErrorKind::unsupported, "there is no choice of storage targets for " + name};
    }
    virtual Result<> make_folder(const std::string& name, std::uint32_t permissions) = 0;
    virtual Result<> make_link(const std::string& name, const std::string& text) = 0;
    /// A fifo, socket or device, as `like` is one, open to its owner alone.
    virtual Result<> make_special(const std::string& name, const EntryStatus& like) = 0;
    /// A further name for an entry of `other`, a folder of the same maker.
    virtual Result<> make_hard_link(const std::string& name, Folder& other, const std::string& other_name) = 0;

    /// Replaces what is not a folder.
    virtual Result<> rename(const std::string& name, const std::string& new_name) = 0;
    /// Replaces nothing: `refused` where the new name is taken.
    virtual Result<> rename_new(const std::string& name, const std::string& new_name);
    virtual Result<> remove(const std::string& name) = 0;
    virtual Result<> remove_folder(const std::string& name) = 0;
    virtual Result<FileSystemTraits> file_system() { return FileSystemTraits{}; }
    /// Where that says `by_folder`: whether this one does. A new folder does as the one above it.
    virtual bool folds_case() { return false; }

    /// What is known of new entries without making one: an error says why this process cannot make such a one here, or
    /// give it this owner, this attribute or a further name. That nothing is known against it is no promise.
    virtual Result<> can_make(EntryKind) { return {}; }
    virtual Result<> can_own(std::uint32_t, std::uint32_t) { return {}; }
    virtual Result<> can_have(const std::string&) { return {}; }
    virtual Result<> can_link() { return {}; }
    /// The time that a new file here would have in place of `modified`: the same where nothing else is known.
    virtual FileTime time_held(FileTime modified) { return modified; }

    /// The same as remove() of each, by fewer requests where there is a server; `told` hears what became of each.
    using RemovedTaker = std::function<void(const std::string& name, const Result<>& removed)>;
    virtual void remove_each(std::span<const std::string> names, const RemovedTaker& taker) {
        for (const auto& name : names) taker(name, remove(name));
    }
    /// How many of them one call of the system, or one request, removes.
    virtual std::size_t removed_at_once() const { return 1; }
    /// All that was written to this folder's file system is on storage.
    /// Of what is mounted below it, too.
    virtual Result<> sync_file_system() = 0;
    /// Where something is mounted below it, as paths below it, and what: sorted.
    virtual Result<std::vector<MountBelow>> mounts_below() { return std::vector<MountBelow>(); }
    /// Whether this folder is the one of `id`, or lies below it.
    virtual Result<bool> lies_in(const EntryId& id) = 0;
};

inline Result<> Folder::rename_new(const std::string& name, const std::string& new_name) {
    if (status_of(new_name)) return Error{ErrorKind::refused, "rename: " + new_name + " is there"};
    return rename(name, new_name);
}

/// The root of a tree by its path, of which links are followed: the caller chose it.
Result<std::unique_ptr<Folder>> open_posix_folder(const std::string& path);

/// As whom this process makes entries: what a new entry has before anything is set.
struct NewEntryOwner {
    std::uint32_t user = 0, group = 0;
    std::uint32_t umask = 0;
};
NewEntryOwner new_entry_owner();
/// The capabilities of this process that are in effect, in hexadecimal: what it may see of an entry depends on them.
std::string own_capabilities();
/// Of this process, from now on.
void set_umask(std::uint32_t umask);

/// The number of a user or group of this machine, by which entries are theirs; nothing where there is none of the name.
std::optional<std::uint32_t> user_of_name(const std::string& name);
std::optional<std::uint32_t> group_of_name(const std::string& name);

}  // namespace forebay::sys
