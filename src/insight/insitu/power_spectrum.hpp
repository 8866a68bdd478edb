// The power spectrum of a 3-D field: a real transform in place, then sums over shells of wave numbers.
//
// The transform is F(n) = sum over all cells of f(x) exp(-2 pi i n.x/N), divided by the number of cells N. The power of
// a mode is P(n) = V |F(n)|^2, and the power of a shell is the mean over its modes. This is the estimator of Feldman,
// Kaiser and Peacock (1994, ApJ 426, 23) for equal weights and without shot noise, normalised as nbodykit's FFTPower:
//   with lengths:     k = 2 pi |(n0/L0, n1/L1, n2/L2)| in radians per unit of length, V = L0 L1 L2
//   without lengths:  k = |n| in waves per domain, V = 1
// Shell s holds the modes with s - 1/2 <= k/w < s + 1/2. Here w is the largest of the three fundamental wave numbers (w
// = 2 pi / the shortest length; w = 1 without lengths). Shell 0 holds the square of the mean. The last shell reaches
// the grid's corner. A dimension of one cell is ignored: its fundamental does not widen shells. So (sum of power x
// modes over all shells) / V is the mean of f^2 (Parseval).
//
// The build chooses who transforms (FOREBAY_FFT, transform.hpp).
//
// Bits: doubles are summed in an order fixed by the shape. With pocketfft equal fields give equal bits on all
// processors that run the build. FFTW and MKL have a kernel for each instruction set. So their bits are only equal on
// processors with equal sets.
//
// Memory: the grid, with rows of the last dimension padded to whole complex numbers, and the transform's memory for
// some lines. Unwritten pages of the grid take no memory.
//
// Threads: FFTW's planner has one state a process. Only one thread at a time may be in power_spectrum(), and no thread
// may plan with FFTW meanwhile. Running transforms do not matter.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "forebay/describe.hpp"
#include "forebay/result.hpp"

namespace forebay::insitu {

/// Real numbers in rows, ready for a transform in place. Real is float or double.
template <class Real>
class SpectralGrid {
public:
    /// `refused` unless the shape has 3 dimensions that an int can count, and if memory is short. The numbers are not
    /// set.
    static Result<SpectralGrid> make(const Extents& shape);

    const Extents& shape() const { return shape_; }
    /// A row of the last dimension: shape()[2] numbers, and padding.
    Real* row(std::uint64_t i, std::uint64_t j) { return numbers_.get() + (i * shape_[1] + j) * stride_; }
    const Real* row(std::uint64_t i, std::uint64_t j) const { return numbers_.get() + (i * shape_[1] + j) * stride_; }

private:
    struct Free {
        void operator()(Real* numbers) const;
    };
    SpectralGrid(const Extents& shape, Real* numbers) : shape_(shape), numbers_(numbers) {}
    Extents shape_;
    std::unique_ptr<Real[], Free> numbers_;  // aligned: FFTW's choice of kernels, and so its bits, depend on it
    std::uint64_t stride_ = 2 * (shape_[2] / 2 + 1);
};

/// A spectrum, one element a shell.
struct Shells {
    std::vector<double> k;      // the mean over the shell's modes
    std::vector<double> power;  // the mean over the shell's modes
    std::vector<std::uint64_t> modes;
    double nyquist = 0;  // the smallest of the dimensions' limits; shells up to this k are whole
};

/// The lengths of the domain, slowest dimension first. All 0 means no lengths.
using Lengths = std::array<double, 3>;

/// Leaves the undivided transform in the grid. `refused` if a number is not finite, or if powers exceed the range of
/// Real.
template <class Real>
Result<Shells> power_spectrum(SpectralGrid<Real>& grid, const Lengths& lengths);

}  // namespace forebay::insitu
