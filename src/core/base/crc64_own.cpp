// Without ISA-L, in place of crc64_isal.cpp.

#include "core/base/crc64.hpp"

namespace forebay {

std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc) { return crc64_by_tables(bytes, crc); }

}  // namespace forebay
