// A build with FOREBAY_FFT=off, or without pocketfft.

#include "insight/insitu/transform.hpp"

namespace forebay::insitu {

namespace {

Error no_transform() {
    return {ErrorKind::unsupported, "this forebay was built without a Fourier transform", "",
            "use a forebay that was built with FOREBAY_FFT"};
}

}  // namespace

bool has_transform() { return false; }

Result<> transform_in_place(SpectralGrid<float>&) { return no_transform(); }
Result<> transform_in_place(SpectralGrid<double>&) { return no_transform(); }

}  // namespace forebay::insitu
