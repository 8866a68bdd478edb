// FFTW, or MKL by its interface of FFTW. A plan is made by estimate, which measures nothing.

#include <fftw3.h>
#include <fmt/format.h>

#include "core/describe/schema.hpp"
#include "insight/insitu/transform.hpp"

namespace forebay::insitu {

namespace {

Error no_plan(const Extents& shape) {
    return {ErrorKind::unsupported, fmt::format("FFTW cannot transform a field of {}", show_shape(shape))};
}

}  // namespace

bool has_transform() { return true; }

Result<> transform_in_place(SpectralGrid<float>& grid) {
    const auto& shape = grid.shape();
    auto* const numbers = grid.row(0, 0);
    auto* const plan =
        fftwf_plan_dft_r2c_3d(static_cast<int>(shape[0]), static_cast<int>(shape[1]), static_cast<int>(shape[2]),
                              numbers, reinterpret_cast<fftwf_complex*>(numbers), FFTW_ESTIMATE);
    if (plan == nullptr) return no_plan(shape);
    fftwf_execute(plan);
    fftwf_destroy_plan(plan);
    return {};
}

Result<> transform_in_place(SpectralGrid<double>& grid) {
    const auto& shape = grid.shape();
    auto* const numbers = grid.row(0, 0);
    auto* const plan =
        fftw_plan_dft_r2c_3d(static_cast<int>(shape[0]), static_cast<int>(shape[1]), static_cast<int>(shape[2]),
                             numbers, reinterpret_cast<fftw_complex*>(numbers), FFTW_ESTIMATE);
    if (plan == nullptr) return no_plan(shape);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    return {};
}

}  // namespace forebay::insitu
