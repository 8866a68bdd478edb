// Reads a node file as if it were stored plain. Offsets in a node file's head always count bytes of the plain form,
// also for compressed and shared files.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/page_buffer.hpp"
#include "core/format/node_file.hpp"
#include "core/sys/store.hpp"

namespace forebay::catalog {

class PlainBytes {
public:
    /// All three must outlive this object. Get `file` from catalog::open_line().
    PlainBytes(sys::File& file, const format::NodeFile& head, const std::string& name)
        : file_(file), head_(head), name_(name) {}

    /// Memory to read compressed files. Each thread keeps its own between reads.
    struct Scratch {
        PageBuffer stored;
        PageBuffer decoded;
    };

    /// Fills `bytes` from `offset` of the plain form on. In a compressed or shared file it fills only bytes of
    /// variables and leaves the bytes between them as they were. If a chunk is only partly inside `bytes`, it decodes
    /// the chunk and copies the part. `corrupt` if a chunk is damaged.
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes, Scratch& scratch) const;
    /// Fills `stored` with the stored bytes of a filtered chunk; errors as read().
    Result<> read_stored(const format::Chunk& chunk, std::span<std::byte> stored) const;

private:
    struct Want;
    Want want_of(const format::Chunk& chunk, std::uint64_t offset, std::uint64_t end) const;
    Result<> read_chunks(std::uint64_t offset, std::span<std::byte> bytes, Scratch& scratch) const;
    Result<> read_spread(std::uint64_t offset, std::span<std::byte> bytes, PageBuffer& room) const;
    Error damaged(const format::Chunk& chunk, const std::string& why) const;
    Result<> check_stored(const format::Chunk& chunk, std::span<const std::byte> stored) const;
    Result<> decode(const format::Chunk& chunk, std::span<const std::byte> stored, std::uint64_t offset,
                    std::span<std::byte> bytes, PageBuffer& room) const;

    sys::File& file_;
    const format::NodeFile& head_;
    const std::string& name_;
};

}  // namespace forebay::catalog
