#if defined(__x86_64__)

#include "core/base/crc32c/fold.hpp"
#include "core/base/crc32c/kernel.hpp"
#include "core/base/crc32c/x86.hpp"

namespace forebay::crc32c_kernels {

namespace {

struct Avx2 : X86 {
    using Type = __m256i;
    static constexpr std::size_t bytes = 32;

    static Type load(const std::byte* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(from)); }
    static void stream(std::byte* to, Type data) { _mm256_stream_si256(reinterpret_cast<Type*>(to), data); }
    static Type add(Type a, Type b) { return _mm256_xor_si256(a, b); }
    static Type first(std::uint32_t state) {
        return _mm256_zextsi128_si256(_mm_cvtsi32_si128(static_cast<int>(state)));
    }
    static Type spread(Fold by) {
        return _mm256_broadcastsi128_si256(
            _mm_set_epi64x(static_cast<long long>(by.high), static_cast<long long>(by.low)));
    }
    static Type fold(Type sum, Type by, Type data) {
        return add(add(_mm256_clmulepi64_epi128(sum, by, 0x00), _mm256_clmulepi64_epi128(sum, by, 0x11)), data);
    }
};

bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("pclmul") &&
           __builtin_cpu_supports("sse4.2");
}

}  // namespace

const Kernel avx2{"avx2", has_avx2, fold_sum<Avx2, 8>, fold_copy<Avx2, 8>};

}  // namespace forebay::crc32c_kernels

#endif
