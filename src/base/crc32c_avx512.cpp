#include "base/crc32c_kernels.hpp"

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstring>

// gcc 12's own AVX-512 header trips this warning in its _mm512_undefined_epi32.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace forebay {

namespace {

constexpr std::uint32_t polynomial = 0x82F63B78;  // x^32 is implied; bit 31 is x^0 (reflected)

// The folding constant for a distance of `bits`: x^bits mod P, reflected into 33 bits, as in V. Gopal et al., "Fast
// CRC computation for generic polynomials using PCLMULQDQ instruction" (Intel, 2009), section on reflected data.
constexpr std::uint64_t fold_constant(int bits) {
    std::uint32_t value = 0x80000000u;  // x^0
    for (int i = 0; i < bits; ++i) value = (value >> 1) ^ ((value & 1u) != 0 ? polynomial : 0u);
    return static_cast<std::uint64_t>(value) << 1;
}

struct Fold {
    std::uint64_t low, high;  // multipliers of the 64 bits that come first in memory, and of those that follow
};
constexpr Fold fold_over(int bytes) { return {fold_constant(bytes * 8 + 32), fold_constant(bytes * 8 - 32)}; }

constexpr Fold by_256 = fold_over(256), by_64 = fold_over(64);
constexpr Fold by_48 = fold_over(48), by_32 = fold_over(32), by_16 = fold_over(16);

// Below this the fold's start and end cost more than they save.
constexpr std::size_t fold_bytes_min = 1024;

#define FB_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,vpclmulqdq,pclmul,sse4.2")))

FB_AVX512 inline __m512i folded(__m512i sum, __m512i by, __m512i data) {
    const __m512i low = _mm512_clmulepi64_epi128(sum, by, 0x00);
    const __m512i high = _mm512_clmulepi64_epi128(sum, by, 0x11);
    return _mm512_ternarylogic_epi64(low, high, data, 0x96);  // three-way xor
}

FB_AVX512 inline __m128i folded(__m128i sum, Fold by, __m128i data) {
    const __m128i k = _mm_set_epi64x(static_cast<long long>(by.high), static_cast<long long>(by.low));
    return _mm_xor_si128(data, _mm_xor_si128(_mm_clmulepi64_si128(sum, k, 0x00), _mm_clmulepi64_si128(sum, k, 0x11)));
}

FB_AVX512 inline __m512i spread(Fold by) {
    return _mm512_broadcast_i32x4(_mm_set_epi64x(static_cast<long long>(by.high), static_cast<long long>(by.low)));
}

FB_AVX512 std::uint32_t small_raw(const std::byte* from, std::size_t bytes, std::uint32_t state) {
    std::uint64_t crc = state;
    for (; bytes >= 8; bytes -= 8, from += 8) {
        std::uint64_t word;
        std::memcpy(&word, from, 8);
        crc = _mm_crc32_u64(crc, word);
    }
    auto crc32 = static_cast<std::uint32_t>(crc);
    for (; bytes > 0; --bytes, ++from) crc32 = _mm_crc32_u8(crc32, std::to_integer<std::uint8_t>(*from));
    return crc32;
}

FB_AVX512 std::uint32_t reduce(__m512i sum) {
    __m128i lane = _mm512_extracti32x4_epi32(sum, 3);
    lane = folded(_mm512_extracti32x4_epi32(sum, 0), by_48, lane);
    lane = folded(_mm512_extracti32x4_epi32(sum, 1), by_32, lane);
    lane = folded(_mm512_extracti32x4_epi32(sum, 2), by_16, lane);
    std::uint64_t crc = _mm_crc32_u64(0, static_cast<std::uint64_t>(_mm_extract_epi64(lane, 0)));
    crc = _mm_crc32_u64(crc, static_cast<std::uint64_t>(_mm_extract_epi64(lane, 1)));
    return static_cast<std::uint32_t>(crc);
}

// `to` is aligned to 64 bytes and `bytes` is a multiple of 256, at least 256.
FB_AVX512 std::uint32_t stream_copy(std::byte* to, const std::byte* from, std::size_t bytes, std::uint32_t state) {
    __m512i sum[4];
    for (std::size_t i = 0; i < 4; ++i) {
        const __m512i data = _mm512_loadu_si512(from + 64 * i);
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to + 64 * i), data);
        sum[i] = data;
    }
    sum[0] = _mm512_xor_si512(sum[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(state))));
    const __m512i by = spread(by_256);
    for (std::size_t at = 256; at < bytes; at += 256) {
        for (std::size_t i = 0; i < 4; ++i) {
            const __m512i data = _mm512_loadu_si512(from + at + 64 * i);
            _mm512_stream_si512(reinterpret_cast<__m512i*>(to + at + 64 * i), data);
            sum[i] = folded(sum[i], by, data);
        }
    }
    const __m512i by_one = spread(by_64);
    for (std::size_t i = 1; i < 4; ++i) sum[i] = folded(sum[i - 1], by_one, sum[i]);
    _mm_sfence();
    return reduce(sum[3]);
}

}  // namespace

bool avx512_copy_works() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("vpclmulqdq") &&
           __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.2");
}

std::uint32_t avx512_copy_raw(std::byte* to, const std::byte* from, std::size_t bytes, std::uint32_t state) {
    if (bytes >= fold_bytes_min) {
        // Streaming stores need whole cache lines: an odd particle count puts a rank's destination anywhere, and the
        // up to 63 bytes before the first line are copied apart.
        const std::size_t head = (64 - reinterpret_cast<std::uintptr_t>(to) % 64) % 64;
        state = small_raw(from, head, state);
        std::memcpy(to, from, head);
        const std::size_t body = (bytes - head) & ~std::size_t{255};
        state = stream_copy(to + head, from + head, body, state);
        to += head + body;
        from += head + body;
        bytes -= head + body;
    }
    std::memcpy(to, from, bytes);
    return small_raw(from, bytes, state);
}

}  // namespace forebay

#else

namespace forebay {

bool avx512_copy_works() { return false; }
std::uint32_t avx512_copy_raw(std::byte*, const std::byte*, std::size_t, std::uint32_t state) { return state; }

}  // namespace forebay

#endif
