// The common part of the kernels of x86.

#pragma once

#if defined(__x86_64__)

// gcc 12's own AVX-512 header trips these warnings in its _mm512_undefined_epi32.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace forebay::crc32c_kernels {

namespace {

// SSE4.2's CRC instruction.
struct X86 {
    static std::uint32_t word(std::uint32_t state, std::uint64_t data) {
        return static_cast<std::uint32_t>(_mm_crc32_u64(state, data));
    }
    static std::uint32_t byte(std::uint32_t state, std::uint8_t data) { return _mm_crc32_u8(state, data); }
    /// Orders the stores that went past the cache.
    static void fence() { _mm_sfence(); }
};

}  // namespace

}  // namespace forebay::crc32c_kernels

#endif
