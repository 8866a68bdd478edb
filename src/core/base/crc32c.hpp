// CRC32C (Castagnoli, reflected 0x82F63B78, initial value and final xor all ones; RFC 3720 appendix B.4),
// alone and fused into a copy. The kernel is chosen once, by what the CPU has; FOREBAY_CRC names another one, for tests
// and measurements. All kernels give the same words.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay {

/// Continues `crc` (0 at the start) over `bytes`: crc32c(b, crc32c(a)) is the checksum of a then b.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

/// Copies `bytes` from `from` to `to`, which must not overlap, and continues `crc` over them in the same
/// pass over memory. Large copies go past the cache (non-temporal stores); they are ordered before the
/// call returns.
std::uint32_t crc32c_copy(std::byte* to, const std::byte* from, std::size_t bytes, std::uint32_t crc = 0);

/// The checksum of two parts that were summed apart: crc32c_join(crc32c(a), crc32c(b), bytes of b) is that of a then b.
std::uint32_t crc32c_join(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

/// The kernel that this process uses: "avx512", "avx2", "pclmul" or "sse4.2" on x86, "pmull" or "crc32" on Arm, or
/// "portable".
const char* crc32c_kernel();

/// Whether the kernel is the one that FOREBAY_CRC names, if it names one; `refused` otherwise.
Result<> check_crc32c_kernel();
/// Whether there is one of this name, which another process is to get; an empty name is none.
Result<> check_crc32c_kernel(std::string_view name);

}  // namespace forebay
