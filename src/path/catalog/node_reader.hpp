// One drained node file, open for reading. open() reads its first pages, head() its head. Errors have the file's name
// and say if it is absent, cut short, torn or of another kind.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/format/combined.hpp"
#include "core/format/manifest.hpp"
#include "core/format/node_file.hpp"
#include "core/sys/store.hpp"

namespace forebay::catalog {

class NodeReader {
public:
    /// Opens the file, reads 8 KiB and checks its record and its length. A staged file may be longer than its snapshot,
    /// because a slot keeps the room of an earlier layout.
    enum class Length { exact, at_least };
    static Result<NodeReader> open(sys::Store& store, const std::string& path, Length length = Length::exact);
    /// Opens the node file of a manifest's line, in any form.
    static Result<NodeReader> open(sys::Store& store, const std::string& directory, const format::NodeLine& line,
                                   sys::Access access = sys::Access::read);
    /// Uses an open file. `path` is for texts.
    static Result<NodeReader> open(std::unique_ptr<sys::File> file, const std::string& path, Length length);
    /// Uses a file of several nodes. The head begins at byte `head_at`, and the node's bytes lie between the bytes of
    /// other nodes.
    static Result<NodeReader> open_within(std::unique_ptr<sys::File> file, std::uint64_t head_at,
                                          const std::string& path);

    const format::Peek& peek() const { return peek_; }
    Result<format::NodeFile> head();
    /// The head's bytes, not decoded.
    Result<std::vector<std::byte>> head_bytes();
    /// The open file, as open_line() returns it; PlainBytes reads it.
    sys::File& file() { return *file_; }
    /// Moves the file out. The reader cannot be used afterwards.
    std::unique_ptr<sys::File> take_file() && { return std::move(file_); }

private:
    NodeReader(std::string path, std::unique_ptr<sys::File> file, std::uint64_t head_at, const format::Peek& peek)
        : path_(std::move(path)), file_(std::move(file)), head_at_(head_at), peek_(peek) {}

    std::string path_;
    std::unique_ptr<sys::File> file_;
    std::uint64_t head_at_ = 0;  // place of the head in file_; 0 except after open_within()
    format::Peek peek_;
};

/// Reads committed bytes with `read(access)`. If the result is `corrupt`, it reads once more past the page cache. A
/// page cached before its writer was done is wrong only on this machine; the second read drops it from the cache, also
/// for other programs. Sets `healed` (may be null) if the second read succeeds. If not, the error is the first error.
template <class Read>
auto read_healing(const Read& read, bool* healed = nullptr) {
    auto result = read(sys::Access::read);
    if (result || result.error().kind != ErrorKind::corrupt) return result;
    auto again = read(sys::Access::read_direct);
    if (!again) return result;
    if (healed != nullptr) *healed = true;
    return again;
}

/// Checks that the opened file is the node file of the manifest's line. `corrupt` if it is another node file or was
/// written again. `path` is for texts.
Result<> check_listed(const format::Peek& peek, const format::Manifest& manifest, const format::NodeLine& line,
                      const std::string& path);

/// Opens a file of a snapshot for reading. A file in a .part may still be written, also by other machines, so it is
/// read past the page cache. A page cached before its writer is done may stay in the cache for good, and a reader would
/// see it in the committed file (measured on ceph-fuse). Always use this function to read in a .part.
Result<std::unique_ptr<sys::File>> open_file(sys::Store& store, const std::string& path);

/// Opens the file of a manifest's line. For a combined file it gives only the node's region; for a shared file the
/// whole file, because the bytes of each node lie between the bytes of the other nodes.
Result<std::unique_ptr<sys::File>> open_line(sys::Store& store, const std::string& directory,
                                             const format::NodeLine& line, sys::Access access);

/// The node file's name in texts: "DIRECTORY/node-00003.h5", "DIRECTORY/nodes-00000-00015.h5/node-00003".
std::string name_of(const std::string& directory, const format::NodeLine& line);

/// The page of a combined or shared file; errors as format::open_page().
Result<format::CombinedPage> load_page(sys::File& file, const std::string& path);

/// The checked head of one node, at the place that the page gives. `name` is for texts.
Result<format::NodeFile> load_region(sys::File& file, const format::CombinedPage& page, std::uint32_t node,
                                     const std::string& name);

}  // namespace forebay::catalog
