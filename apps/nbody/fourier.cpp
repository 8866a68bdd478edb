#include "fourier.hpp"

#include <algorithm>
#include <stdexcept>

namespace nbody {

Fourier::Fourier(const Slab& slab) : mesh_(slab.mesh), half_(slab.mesh / 2 + 1) {
    [[maybe_unused]] static const bool library_ready = (fftw_mpi_init(), true);

    std::ptrdiff_t planes = 0, lo = 0, rows = 0, first_row = 0;
    const auto size =
        fftw_mpi_local_size_3d_transposed(mesh_, mesh_, half_, slab.comm, &planes, &lo, &rows, &first_row);
    if (planes != slab.planes || (planes > 0 && lo != slab.lo))
        throw std::runtime_error("FFTW cuts the mesh into other slabs than Slab does");
    rows_ = rows;
    first_row_ = first_row;
    data_.reset(fftw_alloc_real(static_cast<std::size_t>(std::max<std::ptrdiff_t>(2 * size, 2))));

    auto* modes = reinterpret_cast<fftw_complex*>(data_.get());
    // Transposed modes save FFTW one exchange of the whole mesh in each direction.
    forward_.reset(fftw_mpi_plan_dft_r2c_3d(mesh_, mesh_, mesh_, data_.get(), modes, slab.comm,
                                            FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT));
    backward_.reset(fftw_mpi_plan_dft_c2r_3d(mesh_, mesh_, mesh_, modes, data_.get(), slab.comm,
                                             FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_IN));
    if (!data_ || !forward_ || !backward_) throw std::runtime_error("FFTW made no plan for this mesh");
}

void Fourier::forward() { fftw_execute(forward_.get()); }

void Fourier::backward() { fftw_execute(backward_.get()); }

}  // namespace nbody
