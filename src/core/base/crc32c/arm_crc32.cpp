#if defined(__aarch64__)

#include "core/base/crc32c/arm.hpp"
#include "core/base/crc32c/kernel.hpp"
#include "core/base/crc32c/lanes.hpp"

namespace forebay::crc32c_kernels {

namespace {

// For cores without the crypto extension, such as A64FX. The CRC instruction starts every cycle and takes about three.
struct ArmCrc32 : WordStep<Arm> {
    static void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) {
        std::memcpy(to, from, size_bytes);
    }
};

bool has_crc32() { return has(HWCAP_CRC32); }

}  // namespace

const Kernel arm_crc32{"crc32", has_crc32, sum_lanes<ArmCrc32, 3>, copy_lanes<ArmCrc32, 3>};

}  // namespace forebay::crc32c_kernels

#endif
