#if defined(__x86_64__)

#include "core/base/crc32c/fold.hpp"
#include "core/base/crc32c/kernel.hpp"
#include "core/base/crc32c/x86.hpp"

namespace forebay::crc32c_kernels {

namespace {

struct Avx512 : X86 {
    using Type = __m512i;
    static constexpr std::size_t bytes = 64;

    static Type load(const std::byte* from) { return _mm512_loadu_si512(from); }
    static void stream(std::byte* to, Type data) { _mm512_stream_si512(reinterpret_cast<Type*>(to), data); }
    static Type add(Type a, Type b) { return _mm512_xor_si512(a, b); }
    static Type first(std::uint32_t state) {
        return _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(state)));
    }
    static Type spread(Fold by) {
        return _mm512_broadcast_i32x4(_mm_set_epi64x(static_cast<long long>(by.high), static_cast<long long>(by.low)));
    }
    static Type fold(Type sum, Type by, Type data) {
        return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(sum, by, 0x00),
                                         _mm512_clmulepi64_epi128(sum, by, 0x11), data, 0x96);  // xor of the three
    }
};

bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.2");
}

}  // namespace

const Kernel avx512{"avx512", has_avx512, fold_sum<Avx512, 8>, fold_copy<Avx512, 4>};

}  // namespace forebay::crc32c_kernels

#endif
