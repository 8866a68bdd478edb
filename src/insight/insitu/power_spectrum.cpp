// Most time goes to the transform and one more pass over the grid (256^3 of f32). So binning vectorises over a row. It
// first adds the four rows of equal |n0| and |n1|, so only a quarter of the rows needs a search for shells.

#include "insight/insitu/power_spectrum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <new>
#include <numbers>

#include "core/base/try.hpp"
#include "core/describe/schema.hpp"
#include "insight/insitu/transform.hpp"

namespace forebay::insitu {

namespace {

// The widest vector of any kernel.
constexpr std::align_val_t grid_alignment{64};

// Wave numbers in widths of a shell. `unit` is the wave number of one wave along each dimension.
struct Waves {
    std::array<double, 3> unit{1, 1, 1};
    double width = 1;
    double volume = 1;
    double nyquist = 0;
};

Waves waves_of(const Extents& shape, const Lengths& lengths) {
    Waves waves;
    if (lengths != Lengths{}) {
        auto shortest = std::numeric_limits<double>::infinity();
        for (int dim = 0; dim < 3; ++dim)
            if (shape[dim] > 1) shortest = std::min(shortest, lengths[static_cast<std::size_t>(dim)]);
        if (!std::isfinite(shortest)) shortest = lengths[2];  // one cell
        waves.width = 2 * std::numbers::pi / shortest;
        for (std::size_t dim = 0; dim < 3; ++dim) {
            waves.unit[dim] = shortest / lengths[dim];
            waves.volume *= lengths[dim];
        }
    }
    auto nyquist = std::numeric_limits<double>::infinity();
    for (int dim = 0; dim < 3; ++dim)
        if (shape[dim] > 1)
            nyquist =
                std::min(nyquist, waves.unit[static_cast<std::size_t>(dim)] * static_cast<double>(shape[dim]) / 2);
    if (std::isfinite(nyquist)) waves.nyquist = nyquist * waves.width;
    return waves;
}

// The squared wave number along one dimension, in widths of a shell.
double square_along(const Waves& waves, std::size_t dim, std::uint64_t n) {
    const auto k = waves.unit[dim] * static_cast<double>(n);
    return k * k;
}

std::int32_t shell_of(double k) { return static_cast<std::int32_t>(k + 0.5); }

// The sums of a shell while modes are added.
struct ShellSums {
    double power = 0;
    double k = 0;
    std::uint64_t modes = 0;
};

// The modes of equal |n0| and |n1|: up to four rows.
template <class Real>
class RowSums {
public:
    RowSums(const Extents& shape, const Waves& waves) : count_(shape[2] / 2 + 1) {
        power_.resize(count_);
        k_.resize(count_);
        shell_.resize(count_);
        square_.resize(count_);
        for (std::size_t n = 0; n < count_; ++n) square_[n] = square_along(waves, 2, n);
        // For an even length the last mode is its own conjugate.
        last_is_single_ = shape[2] % 2 == 0;
    }

    void clear() { std::ranges::fill(power_, 0.0); }
    void add(const Real* row) {
        for (std::size_t n = 0; n < count_; ++n) {
            const auto real = static_cast<double>(row[2 * n]);
            const auto imaginary = static_cast<double>(row[2 * n + 1]);
            power_[n] += real * real + imaginary * imaginary;
        }
    }
    /// `across` is the squared wave number in the other two dimensions; `rows` is the number of rows added.
    void give(double across, std::uint64_t rows, std::vector<ShellSums>& shells) {
        for (std::size_t n = 0; n < count_; ++n) {
            k_[n] = std::sqrt(across + square_[n]);
            shell_[n] = shell_of(k_[n]);
        }
        for (std::size_t n = 0; n < count_; ++n) {
            // A real transform omits modes of negative n, the conjugates of these, so they count twice.
            const std::uint64_t twice = n == 0 || (last_is_single_ && n == count_ - 1) ? 1 : 2;
            auto& shell = shells[static_cast<std::size_t>(shell_[n])];
            shell.power += static_cast<double>(twice) * power_[n];
            shell.k += static_cast<double>(twice * rows) * k_[n];
            shell.modes += twice * rows;
        }
    }

private:
    std::size_t count_;
    bool last_is_single_ = false;
    std::vector<double> power_, k_, square_;
    std::vector<std::int32_t> shell_;
};

template <class Real>
std::vector<ShellSums> shells_of(const SpectralGrid<Real>& grid, const Waves& waves) {
    const auto& shape = grid.shape();
    double corner = 0;
    for (const int dim : {0, 1, 2}) corner += square_along(waves, static_cast<std::size_t>(dim), shape[dim] / 2);
    std::vector<ShellSums> shells(static_cast<std::size_t>(shell_of(std::sqrt(corner))) + 1);
    RowSums<Real> row(shape, waves);
    // The line of wave number -n; n itself for n = 0.
    const auto other = [&](int dim, std::uint64_t n) { return n == 0 ? 0 : shape[dim] - n; };
    for (std::uint64_t i = 0; i <= shape[0] / 2; ++i) {
        for (std::uint64_t j = 0; j <= shape[1] / 2; ++j) {
            row.clear();
            std::uint64_t rows = 0;
            const auto add = [&](std::uint64_t of_i, std::uint64_t of_j) {
                row.add(grid.row(of_i, of_j));
                ++rows;
            };
            const auto i_other = other(0, i), j_other = other(1, j);
            add(i, j);
            if (j_other != j) add(i, j_other);
            if (i_other != i) add(i_other, j);
            if (i_other != i && j_other != j) add(i_other, j_other);
            row.give(square_along(waves, 0, i) + square_along(waves, 1, j), rows, shells);
        }
    }
    return shells;
}

}  // namespace

template <class Real>
void SpectralGrid<Real>::Free::operator()(Real* numbers) const {
    ::operator delete(numbers, grid_alignment);
}

template <class Real>
Result<SpectralGrid<Real>> SpectralGrid<Real>::make(const Extents& shape) {
    const auto refuse = [&](const char* why) {
        return Error{ErrorKind::refused,
                     fmt::format("a spectrum of {} elements is refused: {}", show_shape(shape), why)};
    };
    if (shape.dims() != 3) return refuse("it needs three dimensions");
    // In bytes of padded rows. FFTW counts dimensions by int, and MKL too.
    constexpr auto bytes_max = std::uint64_t{1} << 62;
    auto bytes = std::uint64_t{sizeof(Real)};
    for (const auto extent : {shape[0], shape[1], 2 * (shape[2] / 2 + 1)}) {
        if (extent == 0) return refuse("it has none");
        if (extent > INT_MAX || extent > bytes_max / bytes) return refuse("it is too large");
        bytes *= extent;
    }
    if (shape[2] == 0) return refuse("it has none");
    auto* const numbers = static_cast<Real*>(::operator new(bytes, grid_alignment, std::nothrow));
    if (numbers == nullptr) return refuse("there is not enough memory");
    return SpectralGrid(shape, numbers);
}

template <class Real>
Result<Shells> power_spectrum(SpectralGrid<Real>& grid, const Lengths& lengths) {
    const auto& shape = grid.shape();
    FB_TRY(transform_in_place(grid));
    const auto waves = waves_of(shape, lengths);
    const auto sums = shells_of(grid, waves);
    const auto cells = static_cast<double>(shape[0]) * static_cast<double>(shape[1]) * static_cast<double>(shape[2]);
    Shells shells;
    shells.nyquist = waves.nyquist;
    for (const auto& sum : sums) {
        const auto modes = static_cast<double>(sum.modes);
        shells.k.push_back(sum.k / modes * waves.width);
        shells.power.push_back(sum.power / modes / cells / cells * waves.volume);
        shells.modes.push_back(sum.modes);
        if (!std::isfinite(shells.power.back()))
            return Error{ErrorKind::refused,
                         "a spectrum is refused: the field has values that are not finite, or too large to square"};
    }
    return shells;
}

template class SpectralGrid<float>;
template class SpectralGrid<double>;
template Result<Shells> power_spectrum(SpectralGrid<float>&, const Lengths&);
template Result<Shells> power_spectrum(SpectralGrid<double>&, const Lengths&);

}  // namespace forebay::insitu
