// Reads the blocks of one node file. It compares the checksums before it returns any byte.
//
// Reads: a drained file, plain, compressed or in a file of several nodes; or the image of a sealed slot, in place.
// Threads: any number may read at once, each with its own Scratch.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/format/segments.hpp"
#include "path/catalog/node_reader.hpp"
#include "path/catalog/plain_bytes.hpp"

namespace forebay::catalog {

class BlockReader {
public:
    using Scratch = PlainBytes::Scratch;

    /// Opens the node file of a manifest's line and reads its head. `corrupt` if it is not the committed file; other
    /// errors as NodeReader. `store` must outlive the reader.
    static Result<BlockReader> open(sys::Store& store, const std::string& directory, const format::NodeLine& line);
    /// The same for a head that was read before; `store` must outlive the reader.
    static Result<BlockReader> open(sys::Store& store, const std::string& directory, const format::NodeLine& line,
                                    format::NodeFile head);
    /// Reads a file that is already open, with its head. `name` is for texts.
    BlockReader(std::unique_ptr<sys::File> file, format::NodeFile head, std::string name)
        : file_(std::move(file)), head_(std::move(head)), name_(std::move(name)) {}
    /// Reads the image of a sealed slot. The image must outlive the reader.
    static BlockReader over(format::NodeFile head, std::span<const std::byte> image, std::string name);

    const format::NodeFile& head() const { return head_; }
    const std::string& name() const { return name_; }

    /// Fills `to` with the bytes of a block from its byte `at` on. It reads whole segments: `at` is a multiple of
    /// limits::segment_bytes, and `to` ends at the end of a segment. `block` is an index of head().blocks. `corrupt`,
    /// with variable, rank and bytes, if a segment differs from the application's data. Then do not use `to`.
    Result<> read(std::size_t block, std::uint64_t at, std::span<std::byte> to, Scratch& scratch) const;
    /// Segment `i` of a block: a view into the image, or a copy in `buffer`. Errors as read().
    Result<std::span<const std::byte>> segment(std::size_t block, std::uint64_t i, std::vector<std::byte>& buffer,
                                               Scratch& scratch) const;
    /// Reads several segments, in rising order, with one read. It fills `to` from the first byte of the first segment
    /// to the last byte of the last segment. Bytes between two of these segments are not verified.
    Result<> read(std::span<const format::Segment> segments, std::span<std::byte> to, Scratch& scratch) const;
    /// Fills `to` with the stored bytes of a filtered chunk of head().chunk_table; errors as read().
    Result<> read_stored(const format::Chunk& chunk, std::span<std::byte> to) const;
    /// The value of a replicated variable. This file must hold a block of it.
    Result<std::vector<std::byte>> value(std::size_t variable) const;

    /// Closes the file and keeps the head. Call reopen() before the next read. For callers with more node files than a
    /// process may have open. Only for readers from open().
    void close() { file_.reset(); }
    Result<> reopen();

private:
    using Reopen = std::function<Result<std::unique_ptr<sys::File>>(sys::Access)>;
    static Reopen reopening(sys::Store& store, const std::string& directory, const format::NodeLine& line);

    Result<std::span<const std::byte>> in_image(std::uint64_t offset, std::uint64_t bytes) const;
    Result<> fill(sys::File* file, std::uint64_t offset, std::span<std::byte> to, Scratch& scratch) const;
    /// Reads with `once(file)`. For a committed file: reads again from storage before it reports damage.
    template <class Once>
    Result<> read_once_or_healing(const Once& once) const;
    template <class Check>
    Result<> fill_checked(std::uint64_t offset, std::span<std::byte> to, Scratch& scratch, const Check& check) const;

    std::unique_ptr<sys::File> file_;  // nullptr for an image
    Reopen reopen_;                    // only for a committed file
    std::span<const std::byte> image_;
    format::NodeFile head_;
    std::string name_;
};

}  // namespace forebay::catalog
