// The copy kernels that need a particular CPU. "raw" is the CRC register without the initial and final inversion.

#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay {

/// Whether this CPU and this build have AVX-512 with carry-less multiplication of vectors.
bool avx512_copy_works();
/// Copies with non-temporal stores and folds the CRC from the registers that hold the data.
std::uint32_t avx512_copy_raw(std::byte* to, const std::byte* from, std::size_t bytes, std::uint32_t state);

}  // namespace forebay
