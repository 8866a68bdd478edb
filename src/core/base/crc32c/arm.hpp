// The common part of the kernels of Armv8.

#pragma once

#if defined(__aarch64__)

#include <arm_acle.h>
#include <arm_neon.h>
#include <sys/auxv.h>

#include <cstddef>
#include <cstdint>

namespace forebay::crc32c_kernels {

namespace {

// The CRC extension. Copies are plain stores: the cores notice by themselves that whole lines are written.
struct Arm {
    static std::uint32_t word(std::uint32_t state, std::uint64_t data) { return __crc32cd(state, data); }
    static std::uint32_t byte(std::uint32_t state, std::uint8_t data) { return __crc32cb(state, data); }
    static void fence() {}
};

bool has(unsigned long wanted) { return (::getauxval(AT_HWCAP) & wanted) == wanted; }

}  // namespace

}  // namespace forebay::crc32c_kernels

#endif
