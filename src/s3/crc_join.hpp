// The checksum of two stretches, one behind the other, from theirs: parts are sent by several threads.

#pragma once

#include <cstdint>

namespace forebay::s3 {

/// crc32c(a then b) from crc32c(a), crc32c(b) and the bytes of b.
std::uint32_t joined_crc32c(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

}  // namespace forebay::s3
