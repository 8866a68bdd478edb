// The bytes of one node file's blocks, verified: nothing is given out before its checksums were compared.
//
// Over: a drained file, whether it is stored plain, compressed or in a file of several nodes; or the image of a sealed
//       slot, which is read where it lies.
// Threads: any number may read at once, each with a Scratch of its own.

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

    /// Opens the node file of a manifest's line and reads its head. `corrupt` when it is not the file that was
    /// committed; else errors as NodeReader. `store` must outlive the reader.
    static Result<BlockReader> open(sys::Store& store, const std::string& directory, const format::NodeLine& line);
    /// The same where the head has been read; `store` must outlive the reader.
    static Result<BlockReader> open(sys::Store& store, const std::string& directory, const format::NodeLine& line,
                                    format::NodeFile head);
    /// Reads a file that is open already, with its head; `name` is for texts.
    BlockReader(std::unique_ptr<sys::File> file, format::NodeFile head, std::string name)
        : file_(std::move(file)), head_(std::move(head)), name_(std::move(name)) {}
    /// Over the image of a sealed slot, which must outlive the reader.
    static BlockReader over(format::NodeFile head, std::span<const std::byte> image, std::string name);

    const format::NodeFile& head() const { return head_; }
    const std::string& name() const { return name_; }

    /// Fills `to` with the bytes of a block from its byte `at` on: whole segments, so `at` is a multiple of
    /// limits::segment_bytes and `to` ends at one or at the block's end. `block` counts in head().blocks. `corrupt`,
    /// with variable, rank and bytes named, when a segment is not what the application gave; `to` is then of no use.
    Result<> read(std::size_t block, std::uint64_t at, std::span<std::byte> to, Scratch& scratch) const;
    /// Segment `i` of a block, where it lies in an image, else in `buffer`; errors as of read().
    Result<std::span<const std::byte>> segment(std::size_t block, std::uint64_t i, std::vector<std::byte>& buffer,
                                               Scratch& scratch) const;
    /// Several segments in rising order by one read: fills `to` from the first byte of the first one to the last byte
    /// of the last one. What lies between two of them is not verified.
    Result<> read(std::span<const format::Segment> segments, std::span<std::byte> to, Scratch& scratch) const;
    /// Fills `to` with a chunk of head().chunk_table that is filtered, as it is stored; errors as of read().
    Result<> read_stored(const format::Chunk& chunk, std::span<std::byte> to) const;
    /// The value of a replicated variable of which this file holds a block.
    Result<std::vector<std::byte>> value(std::size_t variable) const;

    /// Closes the file of a manifest's line: nothing is read until it is opened again, and the head stays. For who has
    /// more of them than a process may have files.
    void close() { file_.reset(); }
    Result<> reopen();

private:
    using Reopen = std::function<Result<std::unique_ptr<sys::File>>(sys::Access)>;
    static Reopen reopening(sys::Store& store, const std::string& directory, const format::NodeLine& line);

    Result<std::span<const std::byte>> in_image(std::uint64_t offset, std::uint64_t bytes) const;
    Result<> fill(sys::File* file, std::uint64_t offset, std::span<std::byte> to, Scratch& scratch) const;
    /// Reads by `once(file)`, of a committed file once more from storage before it is called damaged.
    template <class Once>
    Result<> read_once_or_healing(const Once& once) const;
    template <class Check>
    Result<> fill_checked(std::uint64_t offset, std::span<std::byte> to, Scratch& scratch, const Check& check) const;

    std::unique_ptr<sys::File> file_;  // none over an image
    Reopen reopen_;                    // of a committed file
    std::span<const std::byte> image_;
    format::NodeFile head_;
    std::string name_;
};

}  // namespace forebay::catalog
