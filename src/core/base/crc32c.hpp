// CRC32C (Castagnoli, reflected 0x82F63B78, initial value and final xor all ones; RFC 3720 appendix B.4), as a plain
// sum and fused into a copy. The kernel is chosen once, by the CPU's features. For tests and measurements, FOREBAY_CRC
// selects another kernel. All kernels give the same sums.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "forebay/result.hpp"

namespace forebay {

/// Continues `crc` (0 at the start) over `bytes`: crc32c(b, crc32c(a)) is the checksum of a then b.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

/// Copies `bytes` from `from` to `to`, which must not overlap, and continues `crc` over them in the same pass over
/// memory. Large copies go past the cache (non-temporal stores); they are ordered before the call returns.
std::uint32_t crc32c_copy(std::byte* to, const std::byte* from, std::size_t bytes, std::uint32_t crc = 0);

/// Joins checksums of two parts: crc32c_join(crc32c(a), crc32c(b), bytes of b) is the checksum of a then b.
std::uint32_t crc32c_join(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

/// The kernel of this process: "avx512", "avx2", "pclmul" or "sse4.2" on x86, "pmull" or "crc32" on Arm, or "portable".
const char* crc32c_kernel();

/// `refused` if FOREBAY_CRC selects a kernel that this process cannot use.
Result<> check_crc32c_kernel();
/// The same for a kernel name meant for another process; an empty name is fine.
Result<> check_crc32c_kernel(std::string_view name);

}  // namespace forebay
