// Blocks that carry a checksum of their own: bytes, and behind them the complement of their CRC-64; perhaps compressed.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/sys/store.hpp"
#include "insight/foreign/ranges.hpp"

namespace forebay::foreign {

struct Sealed {
    Range stored;  // the 8 bytes of the checksum follow it
    bool blosc = false;
    std::uint64_t plain_bytes = 0;  // stored.bytes unless compressed
    bool big_endian = false;        // the checksum of the plain bytes that a compressed block begins with
    friend bool operator==(const Sealed&, const Sealed&) = default;
};

/// Gives a block's plain bytes front to back. A compressed block is held in memory, stored and plain; Blosc's frames
/// have less than 2 GiB.
class SealedReader {
public:
    /// A compressed block is read, checked and decoded here. `corrupt` for any difference, without file or variable in
    /// the text: those are the caller's.
    Result<> begin(sys::File& file, const Sealed& block);
    /// The next bytes; the call that gives the last ones compares the checksum.
    Result<> next(std::span<std::byte> out);

private:
    Result<> unpack();
    Result<> check_end();

    sys::File* file_ = nullptr;
    Sealed block_;
    std::uint64_t at_ = 0;  // in the plain bytes
    std::uint64_t crc_ = 0;
    std::vector<std::byte> stored_, plain_;
};

}  // namespace forebay::foreign
