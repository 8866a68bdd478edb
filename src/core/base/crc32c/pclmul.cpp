#if defined(__x86_64__)

#include "core/base/crc32c/fold.hpp"
#include "core/base/crc32c/kernel.hpp"
#include "core/base/crc32c/x86.hpp"

namespace forebay::crc32c_kernels {

namespace {

struct Pclmul : X86 {
    using Type = __m128i;
    static constexpr std::size_t bytes = 16;

    static Type load(const std::byte* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(from)); }
    static void stream(std::byte* to, Type data) { _mm_stream_si128(reinterpret_cast<Type*>(to), data); }
    static Type add(Type a, Type b) { return _mm_xor_si128(a, b); }
    static Type first(std::uint32_t state) { return _mm_cvtsi32_si128(static_cast<int>(state)); }
    static Type spread(Fold by) {
        return _mm_set_epi64x(static_cast<long long>(by.high), static_cast<long long>(by.low));
    }
    static Type fold(Type sum, Type by, Type data) {
        return add(add(_mm_clmulepi64_si128(sum, by, 0x00), _mm_clmulepi64_si128(sum, by, 0x11)), data);
    }
};

bool has_pclmul() {
    return __builtin_cpu_supports("avx") && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.2");
}

}  // namespace

const Kernel pclmul{"pclmul", has_pclmul, fold_sum<Pclmul, 8>, fold_copy<Pclmul, 8>};

}  // namespace forebay::crc32c_kernels

#endif
