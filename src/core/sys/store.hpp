// Files at a target or on the node, as an interface. `posix_store()` is the real file system; tests use a store that
// loses unsynced data. Paths are plain strings. Errors contain the path, the call and errno's text.
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

#include "core/sys/entry_id.hpp"
#include "core/sys/stripe_map.hpp"
#include "forebay/result.hpp"

namespace forebay::sys {

enum class Access {
    read,           // must exist
    create,         // new or emptied, mode 0666 less the umask; never through a link
    create_direct,  // as create, and past the page cache if the file system can (see File::direct())
    read_direct,    // as read, but from storage, not from this machine's cache
    update,         // as create, but existing bytes stay: for a file that several machines write
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
    /// Writes all of `bytes` at `offset`; continues short writes. With direct(), address, offset and size are multiples
    /// of 4096.
    virtual Result<> write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
    /// Fills `bytes`; `corrupt` ("truncated") if the file ends before. With read_direct, any offset and size are
    /// allowed; whole pages into page-aligned memory are read without a copy.
    virtual Result<> read(std::uint64_t offset, std::span<std::byte> bytes) = 0;
    virtual Result<std::uint64_t> size() = 0;
    virtual Result<> truncate(std::uint64_t size) = 0;
    /// A hint: several threads will write this stretch, which may become the file's end. Past the page cache, ext4 lets
    /// one thread at a time lengthen a file or fill its holes, but any number may write to reserved space. If the
    /// reservation fails, the writes report the lack of space.
    virtual void reserve(std::uint64_t offset, std::uint64_t bytes) = 0;
    /// A hint before the writes: this stretch of a new file stays zero, and the file reaches at least to its end. A
    /// file that is sent in parts need not hold the parts beside the stretch until the file's end. Other files ignore
    /// the hint.
    virtual void leave_zeros(std::uint64_t, std::uint64_t) {}
    /// Makes bytes and length durable (fdatasync). After a failure the bytes may be lost for good, so every later sync
    /// of this File fails too: open the file anew and write it again.
    virtual Result<> sync() = 0;
    /// True if writes go past the page cache.
    virtual bool direct() const = 0;
    /// The storage targets of its bytes; empty if the file system does not report them, or the file has none yet.
    virtual StripeMap stripes() { return {}; }
    /// Closes and returns the error of close(2); the destructor closes too.
    virtual Result<> close() = 0;
};

struct Entry {
    std::string name;
    bool is_directory = false;
    std::uint64_t size = 0;
    bool is_link = false;  // a link to a directory (is_directory is set too), or a link that leads nowhere
};

class Store {
public:
    virtual ~Store() = default;
    virtual Result<std::unique_ptr<File>> open(const std::string& path, Access access) = 0;
    /// Creates the directory and its missing parents; existing is fine. A new name is durable after sync_directory() of
    /// its parent.
    virtual Result<> make_directories(const std::string& path) = 0;
    /// Creates one directory; existing is fine, `missing` if its parent does not exist.
    virtual Result<> make_directory(const std::string& path) = 0;
    /// Replaces a file by a file at once. A directory may only replace nothing or an empty directory.
    virtual Result<> rename(const std::string& from, const std::string& to) = 0;
    virtual Result<> remove(const std::string& path) = 0;  // a file; missing is fine
    /// Removes a directory with all in it, without following links: a link at `path` is removed itself. Missing is
    /// fine.
    virtual Result<> remove_tree(const std::string& path) = 0;
    virtual Result<> sync_directory(const std::string& path) = 0;
    /// Entries except "." and "..", sorted by name; `missing` if the directory does not exist.
    virtual Result<std::vector<Entry>> list(const std::string& path) = 0;
    virtual Result<bool> exists(const std::string& path) = 0;
    /// When the bytes of a file last changed, in nanoseconds since 1970 by the clock of its file system; empty if the
    /// store does not know. `missing` if the file does not exist.
    virtual Result<std::optional<std::int64_t>> changed_unix_ns(const std::string&) {
        return std::optional<std::int64_t>();
    }
    /// Identifies a file or directory if a rename of this store is not atomic. On DAOS a rename that was cut leaves one
    /// entry under both names, and a removal by either name removes its bytes. Empty for other stores. `missing` if
    /// there is no such name.
    virtual Result<std::optional<EntryId>> id_for_cut_renames(const std::string&) { return std::optional<EntryId>(); }
    /// The default stripes of new files in a directory; empty if unknown.
    virtual std::optional<StripeDefault> default_stripes(const std::string&) { return {}; }
    /// Makes an empty file with these stripes. `unsupported` if the file system does not let you choose; then there is
    /// no file.
    virtual Result<> make_striped(const std::string& path, const Stripes& stripes);
};

/// The machine's own file system.
Store& posix_store();

/// A stretch of a file as a separate File: offsets begin at `offset`, nothing outside is read or written, and the size
/// cannot change.
std::unique_ptr<File> stretch_of(std::unique_ptr<File> file, std::uint64_t offset, std::uint64_t bytes);
/// The same for a file that the caller keeps.
std::unique_ptr<File> stretch_of(File& file, std::uint64_t offset, std::uint64_t bytes);

/// Asks the kernel to forget the clean pages of a file, so that the next read comes from storage.
Result<> forget_cached(const std::string& path);

/// Reads a whole file of at most `bytes_max` bytes; a larger file is `corrupt`.
Result<std::string> read_text(Store& store, const std::string& path, std::uint64_t bytes_max);

/// Writes `text` so that after a crash at any instant `path` holds the old or the new content: bytes, sync, rename,
/// sync of the directory. After an error `path` holds the old content, or the new content if only the last step failed.
/// `last_look` (may be empty) is called before the rename: its error is this call's error.
Result<> write_text_durable(Store& store, const std::string& path, std::string_view text,
                            const std::function<Result<>()>& last_look = {});

/// Makes a directory and its missing parents, and syncs the new names.
Result<> make_directories_durable(Store& store, const std::string& path);

/// Makes a directory and its missing parents below `root`, but never `root` itself: `missing` if `root` does not exist,
/// for example if a mount has gone.
Result<> make_directories_below(Store& store, const std::string& root, const std::string& path);

/// A new temporary name beside `path`, for a file while it is written.
std::string temporary_beside(const std::string& path);
/// True if it is such a temporary name, as of write_text_durable(). A crash leaves such files.
bool is_temporary(std::string_view name);

/// A second name of the entry in its directory, as a cut rename leaves it. `counts` chooses the names that are looked
/// at. Nothing if the store has atomic renames, or if `path` does not exist.
Result<std::optional<std::string>> second_name(Store& store, const std::string& path,
                                               const std::function<bool(const Entry&)>& counts);
/// Removes a temporary file that nobody writes. If a cut rename gave the file a second name, both names stay. Missing
/// is fine.
Result<> remove_unless_renamed(Store& store, const std::string& path);

/// Renames a directory to PATH.gone, then removes its files. So nobody sees a part of it under its name. Missing is
/// fine.
Result<> remove_tree_at_once(Store& store, const std::string& path);

}  // namespace forebay::sys
