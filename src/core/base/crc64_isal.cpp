// With ISA-L, in place of crc64_own.cpp.

#include "core/base/crc64.hpp"

#include <isa-l/crc64.h>

namespace forebay {

std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t crc) {
    return crc64_ecma_refl(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace forebay
