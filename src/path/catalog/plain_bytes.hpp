// Reads a node file as if it were stored plain. All offsets in a node file's head count bytes of that plain form, also
// where the file is stored compressed or its bytes lie in a shared file.

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
    /// All three must outlive it; `file` is as catalog::open_line() gives it.
    PlainBytes(sys::File& file, const format::NodeFile& head, const std::string& name)
        : file_(file), head_(head), name_(name) {}

    /// Memory that one thread needs to read compressed files; kept between its reads.
    struct Scratch {
        PageBuffer stored;
        PageBuffer decoded;
    };

    /// Fills `bytes` from `offset` of the plain form on. Of a compressed or shared file, only bytes of variables: what
    /// lies between them is left as it was. A chunk that lies across the ends of `bytes` is decoded for what is asked
    /// of it. `corrupt` when a chunk is not what was stored.
    Result<> read(std::uint64_t offset, std::span<std::byte> bytes, Scratch& scratch) const;
    /// Fills `stored` with a filtered chunk as it lies in the file; errors as of read().
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
