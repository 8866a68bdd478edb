// Blocks with their own checksum: the bytes, maybe compressed, then the complement of their CRC-64.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/sys/store.hpp"
#include "insight/foreign/ranges.hpp"

namespace forebay::foreign {

struct Sealed {
    Range stored;  // the 8 bytes of the checksum follow
    bool blosc = false;
    std::uint64_t plain_bytes = 0;  // stored.bytes, unless compressed
    bool big_endian = false;        // order of the plain bytes' checksum at the start of a compressed block
    friend bool operator==(const Sealed&, const Sealed&) = default;
};

/// Returns a block's plain bytes front to back. A compressed block is in memory twice, stored and plain; Blosc frames
/// are smaller than 2 GiB.
class SealedReader {
public:
    /// Reads, checks and decodes a compressed block. `corrupt` for any difference. The text does not contain file or
    /// variable: the caller adds them.
    Result<> begin(sys::File& file, const Sealed& block);
    /// Reads the next bytes. The call that reaches the end compares the checksum.
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
