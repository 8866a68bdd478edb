// One drained node file, open for reading: its first pages at once, its head when asked for. Errors name the file and
// say whether it is absent, cut short, torn or of another kind.

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
    /// Opens the file, reads 8 KiB and checks its record and its length. A staged file may be longer than its snapshot:
    /// a slot keeps the room that an earlier layout needed.
    enum class Length { exact, at_least };
    static Result<NodeReader> open(sys::Store& store, const std::string& path, Length length = Length::exact);
    /// The node file of a manifest's line, wherever it lies.
    static Result<NodeReader> open(sys::Store& store, const std::string& directory, const format::NodeLine& line,
                                   sys::Access access = sys::Access::read);
    /// The same of a file that is open; `path` is for texts.
    static Result<NodeReader> open(std::unique_ptr<sys::File> file, const std::string& path, Length length);
    /// The same for a file of several nodes: the head begins at `head_at`, and the node's bytes lie among those of
    /// other nodes.
    static Result<NodeReader> open_within(std::unique_ptr<sys::File> file, std::uint64_t head_at,
                                          const std::string& path);

    const format::Peek& peek() const { return peek_; }
    Result<format::NodeFile> head();
    /// The same undecoded.
    Result<std::vector<std::byte>> head_bytes();
    /// The file whose bytes PlainBytes reads, as open_line() gives it.
    sys::File& file() { return *file_; }
    /// The same for who goes on without this reader.
    std::unique_ptr<sys::File> take_file() && { return std::move(file_); }

private:
    NodeReader(std::string path, std::unique_ptr<sys::File> file, std::uint64_t head_at, const format::Peek& peek)
        : path_(std::move(path)), file_(std::move(file)), head_at_(head_at), peek_(peek) {}

    std::string path_;
    std::unique_ptr<sys::File> file_;
    std::uint64_t head_at_ = 0;  // of the head in file_: 0, but with open_within()
    format::Peek peek_;
};

/// Reads what is committed by `read(access)`: as this machine has it, and where that is `corrupt` once more from
/// storage. A page that was cached before its writer was done is wrong here alone; it is forgotten then, for other
/// programs too. Sets `healed` (may be null) where the second try is good; else the error is that of the first.
template <class Read>
auto read_healing(const Read& read, bool* healed = nullptr) {
    auto result = read(sys::Access::read);
    if (result || result.error().kind != ErrorKind::corrupt) return result;
    auto again = read(sys::Access::read_direct);
    if (!again) return result;
    if (healed != nullptr) *healed = true;
    return again;
}

/// Whether what was opened is the node file that the manifest's line lists: `corrupt` when it is another's, or was
/// written again. `path` is for texts.
Result<> check_listed(const format::Peek& peek, const format::Manifest& manifest, const format::NodeLine& line,
                      const std::string& path);

/// Opens a file of a snapshot for reading. One in a .part may still be written, by other machines too, and is read from
/// storage: a page that comes into this machine's cache before its writer is done may stay there for good, and be read
/// in the committed file (measured: ceph-fuse). So whoever reads in a .part opens by this.
Result<std::unique_ptr<sys::File>> open_file(sys::Store& store, const std::string& path);

/// Opens the file of a manifest's line: in a combined file its region alone, but all of a shared one, since the bytes
/// of each of its nodes lie among those of the others.
Result<std::unique_ptr<sys::File>> open_line(sys::Store& store, const std::string& directory,
                                             const format::NodeLine& line, sys::Access access);

/// The name of a line's node file in texts: "DIRECTORY/node-00003.h5", "DIRECTORY/nodes-00000-00015.h5/node-00003".
std::string name_of(const std::string& directory, const format::NodeLine& line);

/// The page of a combined file; errors as format::open_page().
Result<format::CombinedPage> load_page(sys::File& file, const std::string& path);

/// The head of one of its nodes, checked, where its page says that it lies; `name` is for texts.
Result<format::NodeFile> load_region(sys::File& file, const format::CombinedPage& page, std::uint32_t node,
                                     const std::string& name);

}  // namespace forebay::catalog
