#if defined(__aarch64__)

#include "core/base/crc32c/arm.hpp"
#include "core/base/crc32c/fold.hpp"
#include "core/base/crc32c/kernel.hpp"

namespace forebay::crc32c_kernels {

namespace {

struct Pmull : Arm {
    using Type = uint64x2_t;
    static constexpr std::size_t bytes = 16;

    static Type load(const std::byte* from) {
        return vreinterpretq_u64_u8(vld1q_u8(reinterpret_cast<const std::uint8_t*>(from)));
    }
    static void stream(std::byte* to, Type data) {
        vst1q_u8(reinterpret_cast<std::uint8_t*>(to), vreinterpretq_u8_u64(data));
    }
    static Type add(Type a, Type b) { return veorq_u64(a, b); }
    static Type first(std::uint32_t state) { return vsetq_lane_u64(state, vdupq_n_u64(0), 0); }
    static Type spread(Fold by) { return vcombine_u64(vcreate_u64(by.low), vcreate_u64(by.high)); }
    static Type fold(Type sum, Type by, Type data) {
        const auto low =
            vmull_p64(static_cast<poly64_t>(vgetq_lane_u64(sum, 0)), static_cast<poly64_t>(vgetq_lane_u64(by, 0)));
        const auto high = vmull_high_p64(vreinterpretq_p64_u64(sum), vreinterpretq_p64_u64(by));
        return add(add(vreinterpretq_u64_p128(low), vreinterpretq_u64_p128(high)), data);
    }
};

bool has_pmull() { return has(HWCAP_CRC32 | HWCAP_PMULL); }

}  // namespace

const Kernel arm_pmull{"pmull", has_pmull, fold_sum<Pmull, 8>, fold_copy<Pmull, 8>};

}  // namespace forebay::crc32c_kernels

#endif
