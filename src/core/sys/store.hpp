// Files at a target or on the node, as an interface: `posix_store()` is the real one, tests have one that
// loses what was not synced. Paths are plain strings; errors name the path, the call and errno's text.
//
// Threads: a Store and a File may be used by several threads at once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/sys/stripe_map.hpp"
#include "forebay/result.hpp"

namespace forebay::sys {

enum class Access {
    read,           // must exist
    create,         // new or emptied, with the mode that the umask leaves of 0666; never through a link
    create_direct,  // as create, and past the page cache where the file system can (File::direct() says)
    read_direct,    // as read, but of what storage has now, not of what this machine has cached of the file
    update,         // as create, but what is there stays: a file that several machines write
    update_direct   // as update, and past the page cache in the same way
};
constexpr bool is_direct(Access access) {
    return access == Access::create_direct || access == Access::read_direct || access == Access::update_direct;
}
constexpr bool is_writing(Access access) { return access != Access::read && access != Access::read_direct; }
constexpr bool is_emptying(Access access) { return access == Access::create || access == Access::create_direct; }

class File {
public:
    virtual ~File() = default;
    /// All of `bytes`, at `offset`; short writes are continued. With direct(), address, offset and size are
    /// multiples of 4096.
    virtual Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
    /// Fills `bytes`; a file that ends before is `corrupt` ("truncated"). Opened by read_direct any offset and size
    /// will do; whole pages into memory that starts at one are read without a copy.
    virtual Result<> read(std::uint64_t offset, std::span<std::byte> bytes) = 0;
    virtual Result<std::uint64_t> size() = 0;
    virtual Result<> truncate(std::uint64_t size) = 0;
    /// Several threads are about to write this stretch, which may become the file's end: past the page cache, ext4 lets
    /// one thread at a time lengthen a file or fill its holes, but any number write where it has room. A hint: what
    /// cannot be had, the writes ask for, and say when it is missing.
    virtual void reserve(std::uint64_t offset, std::uint64_t bytes) = 0;
    /// This stretch of a new file stays zeros: nobody writes there, and the file will reach to its end at least. A
    /// hint, before the writes, to a file that is sent in parts: those that border on the stretch need not be held
    /// until the file's end. Others have no use for it.
    virtual void leave_zeros(std::uint64_t, std::uint64_t) {}
    /// Bytes and length are durable (fdatasync). After a failure the bytes may be lost for good, so every later sync
    /// of this File fails too: open the file anew and write it again.
    virtual Result<> sync() = 0;
    /// Whether writes go past the page cache.
    virtual bool direct() const = 0;
    /// Where its bytes lie; an empty map where the file system does not tell it, or there are none yet.
    virtual StripeMap stripes() { return {}; }
    /// Closes and reports what close(2) reports; the destructor closes too.
    virtual Result<> close() = 0;
};

struct Entry {
    std::string name;
    bool is_directory = false;
    std::uint64_t size = 0;
    bool is_link = false;  // to a directory, as is_directory says too; or one that leads nowhere
};

class Store {
public:
    virtual ~Store() = default;
    virtual Result<std::unique_ptr<File>> open(const std::string& path, Access access) = 0;
    /// Creates the directory and its missing parents; existing is fine. New names are durable after
    /// sync_directory() of the directory that holds each.
    virtual Result<> make_directories(const std::string& path) = 0;
    /// Creates one directory; existing is fine, `missing` where the one that is to hold it does not exist.
    virtual Result<> make_directory(const std::string& path) = 0;
    /// Replaces a file by a file at once; a directory takes the place of nothing or of an empty directory.
    virtual Result<> rename(const std::string& from, const std::string& to) = 0;
    virtual Result<> remove(const std::string& path) = 0;  // a file; missing is fine
    /// A directory with all in it, following no link: one in its place goes itself. Missing is fine.
    virtual Result<> remove_tree(const std::string& path) = 0;
    virtual Result<> sync_directory(const std::string& path) = 0;
    /// Entries but "." and "..", sorted by name; `missing` when the directory does not exist.
    virtual Result<std::vector<Entry>> list(const std::string& path) = 0;
    virtual Result<bool> exists(const std::string& path) = 0;
    /// When the bytes of a file were last changed, in nanoseconds since 1970 by the clock of its file system; nothing
    /// where the store does not tell. `missing` when the file does not exist.
    virtual Result<std::optional<std::int64_t>> changed_unix_ns(const std::string&) {
        return std::optional<std::int64_t>();
    }
    /// How new files of a directory lie unless somebody wishes otherwise; nothing where that is not told.
    virtual std::optional<StripeDefault> default_stripes(const std::string&) { return {}; }
    /// Makes an empty file whose bytes will lie so; `unsupported` where the file system lets nobody choose, and then no
    /// file is there.
    virtual Result<> make_striped(const std::string& path, const Stripes& stripes);
};

/// The machine's own file system.
Store& posix_store();

/// A stretch of a file as a File of its own: offsets begin at `offset`, nothing outside is read or written, and its
/// size cannot be changed.
std::unique_ptr<File> stretch_of(std::unique_ptr<File> file, std::uint64_t offset, std::uint64_t bytes);
/// Of a file that the caller keeps.
std::unique_ptr<File> stretch_of(File& file, std::uint64_t offset, std::uint64_t bytes);

/// Asks the kernel to forget the clean pages of a file, so that the next read comes from storage.
Result<> forget_cached(const std::string& path);

/// Reads a whole file of at most `bytes_max` bytes; a larger one is `corrupt`.
Result<std::string> read_text(Store& store, const std::string& path, std::uint64_t bytes_max);

/// Writes `text` so that `path` holds the old or the new content after a crash at any instant:
/// bytes, sync, rename, sync of the directory. After an error `path` holds the old content, or the new one if only
/// the last of the four failed. `last_look` (may be empty) is asked before the rename: its error is this call's.
Result<> write_text_durable(Store& store, const std::string& path, std::string_view text,
                            const std::function<Result<>()>& last_look = {});

/// Makes a directory and those above it, and syncs the names of those that were not there.
Result<> make_directories_durable(Store& store, const std::string& path);

/// Makes a directory below `root` and those between them, but never `root` itself: `missing` where it does not exist,
/// as on a mount point whose file system is gone.
Result<> make_directories_below(Store& store, const std::string& root, const std::string& path);

/// A new name for a file that stays only as long as somebody writes it, beside `path`.
std::string temporary_beside(const std::string& path);
/// Whether a name is one of those, as write_text_durable() gives it: what a crash leaves.
bool is_temporary(std::string_view name);

/// Takes a directory away by a rename to PATH.gone, then file by file, so that nobody sees a part of it under its name.
/// Missing is fine.
Result<> remove_tree_at_once(Store& store, const std::string& path);

}  // namespace forebay::sys
