// The Fourier transform of a grid in place. A build has one of transform_pocketfft.cpp, transform_fftw.cpp (FFTW, or
// MKL by its interface of FFTW) and transform_none.cpp.

#pragma once

#include "insight/insitu/power_spectrum.hpp"

namespace forebay::insitu {

/// False in a build without a transform. Then transform_in_place() returns `unsupported`.
bool has_transform();

/// Replaces each row by the modes of n2 = 0 to shape[2] / 2, as complex numbers, not divided. An error leaves numbers
/// that mean nothing.
Result<> transform_in_place(SpectralGrid<float>& grid);
Result<> transform_in_place(SpectralGrid<double>& grid);

}  // namespace forebay::insitu
