// A kernel of CRC32C sums and copies on one kind of CPU. Each is a file. A kernel that needs more of a CPU than the
// build asks for is compiled for that CPU. Such a file includes only intrinsics, the C library and headers of this
// directory, without inline functions of external linkage: the linker could pick a copy of the function that other CPUs
// cannot run. "State" is the CRC register without the initial and the final inversion.

#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay::crc32c_kernels {

inline constexpr std::size_t line_bytes = 64;  // of the cache

struct Kernel {
    const char* name;  // as in FOREBAY_CRC
    bool (*works)();   // on this CPU
    std::uint32_t (*sum)(const std::byte* from, std::size_t bytes, std::uint32_t state);
    std::uint32_t (*copy)(std::byte* to, const std::byte* from, std::size_t bytes, std::uint32_t state);
};

#if defined(__x86_64__)
extern const Kernel avx512, avx2, pclmul, sse42;
#elif defined(__aarch64__)
extern const Kernel arm_pmull, arm_crc32;
#endif
extern const Kernel portable;

}  // namespace forebay::crc32c_kernels
