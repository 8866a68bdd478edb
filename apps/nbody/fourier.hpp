// The distributed real Fourier transform of the mesh (FFTW over MPI), in double precision.
//
// FFTW_ESTIMATE makes plans without measurements: the same number of ranks always gets the same plan and the same bits.

#pragma once

#include <fftw3-mpi.h>

#include <complex>
#include <cstdint>
#include <memory>

#include "slab.hpp"

namespace nbody {

class Fourier {
public:
    explicit Fourier(const Slab& slab);

    /// The real value at plane x of the slab, row y, cell z.
    double& real(std::int64_t x, std::int64_t y, std::int64_t z) {
        return data_.get()[(x * mesh_ + y) * (2 * half_) + z];
    }

    /// forward(): real to modes. backward(): modes to real. Neither normalises: both together multiply by mesh^3.
    /// Collective.
    void forward();
    void backward();

    /// Calls use(kx, ky, kz, mode) for this rank's modes, with signed wave numbers and kz >= 0.
    template <class Use>
    void each_mode(Use&& use) {
        auto* mode = reinterpret_cast<std::complex<double>*>(data_.get());
        for (std::int64_t y = 0; y < rows_; ++y)
            for (std::int64_t x = 0; x < mesh_; ++x)
                for (std::int64_t z = 0; z < half_; ++z) use(sign(x), sign(first_row_ + y), z, *mode++);
    }

private:
    std::int64_t sign(std::int64_t k) const { return k <= mesh_ / 2 ? k : k - mesh_; }

    struct Free {
        void operator()(double* data) const { fftw_free(data); }
        void operator()(fftw_plan plan) const { fftw_destroy_plan(plan); }
    };
    using Plan = std::unique_ptr<std::remove_pointer_t<fftw_plan>, Free>;

    std::int64_t mesh_;
    std::int64_t half_;      // mesh / 2 + 1
    std::int64_t rows_ = 0;  // this rank's rows of modes; modes are distributed along y
    std::int64_t first_row_ = 0;
    std::unique_ptr<double, Free> data_;
    Plan forward_, backward_;
};

}  // namespace nbody
