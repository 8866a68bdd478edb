#include "spectrum.hpp"

#include <cmath>
#include <numbers>

namespace nbody {

namespace {

double transfer(double q) {
    const double bend = 1 + 3.89 * q + std::pow(16.1 * q, 2) + std::pow(5.46 * q, 3) + std::pow(6.71 * q, 4);
    return std::log1p(2.34 * q) / (2.34 * q) * std::pow(bend, -0.25);
}

double sphere_window(double kr) { return 3 * (std::sin(kr) - kr * std::cos(kr)) / (kr * kr * kr); }

}  // namespace

Spectrum::Spectrum(double index, double shape, double sigma_8) : index_(index), shape_(shape) {
    const double ln_k_lo = std::log(1e-4), ln_k_hi = std::log(20.0);
    constexpr int intervals = 4000;  // midpoint rule in ln k; gives sigma_8 to five digits
    const double width = (ln_k_hi - ln_k_lo) / intervals;
    double variance = 0;
    for (int i = 0; i < intervals; ++i) {
        const double k = std::exp(ln_k_lo + (i + 0.5) * width);
        const double window = sphere_window(8 * k);
        variance += width * k * k * k * power(k) * window * window / (2 * std::numbers::pi * std::numbers::pi);
    }
    amplitude_ = sigma_8 * sigma_8 / variance;
}

double Spectrum::power(double k) const {
    const double bent = transfer(k / shape_);
    return amplitude_ * std::pow(k, index_) * bent * bent;
}

}  // namespace nbody
