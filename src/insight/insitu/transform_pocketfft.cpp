// pocketfft, one header of templates. It reads some lines, transforms them and writes them back. So input and output
// may be the same rows.

// The worker of analyses has one thread.
#define POCKETFFT_NO_MULTITHREADING
#include <pocketfft_hdronly.h>

#include <complex>
#include <new>

#include "insight/insitu/transform.hpp"

namespace forebay::insitu {

namespace {

template <class Real>
Result<> transform(SpectralGrid<Real>& grid) {
    const auto& shape = grid.shape();
    const auto modes = static_cast<std::ptrdiff_t>(shape[2] / 2 + 1);
    const auto rows = static_cast<std::ptrdiff_t>(shape[1]);
    constexpr std::ptrdiff_t real_bytes = sizeof(Real), mode_bytes = 2 * real_bytes;
    auto* const numbers = grid.row(0, 0);
    // It reports a lack of memory by an exception, like the standard library.
    try {
        pocketfft::r2c<Real>({shape[0], shape[1], shape[2]},
                             {rows * modes * mode_bytes, modes * mode_bytes, real_bytes},
                             {rows * modes * mode_bytes, modes * mode_bytes, mode_bytes}, {0, 1, 2}, pocketfft::FORWARD,
                             numbers, reinterpret_cast<std::complex<Real>*>(numbers), Real(1));
    } catch (const std::bad_alloc&) {
        return Error{ErrorKind::refused, "a spectrum is refused: there is not enough memory to transform the field"};
    }
    return {};
}

}  // namespace

bool has_transform() { return true; }

Result<> transform_in_place(SpectralGrid<float>& grid) { return transform(grid); }
Result<> transform_in_place(SpectralGrid<double>& grid) { return transform(grid); }

}  // namespace forebay::insitu
