#include "insight/insitu/moments.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

#include "core/base/try.hpp"
#include "insight/insitu/moments_kernels.hpp"

namespace forebay::insitu {

namespace {

float of_key(std::int32_t key) { return std::bit_cast<float>(ordered(key)); }

void add_bands(std::span<const float> chunk, std::uint32_t top, ExactSum& sum, ExactSum& squares) {
    // Each pass sums one band of magnitudes; smaller floats wait for the next pass.
    while (top > 0) {
        Band band;
        vectorised<SumBand>(chunk.data(), chunk.size(), top, &band);
        for (std::size_t lane = 0; lane < lanes_count; ++lane) {
            sum.add(band.sum[lane]);
            squares.add(band.high[lane]);
            squares.add(band.low[lane]);
        }
        top = band.rest;
    }
}

/// Compares as <, but -0 is less than 0.
template <class T>
bool is_less(T a, T b) {
    if constexpr (std::floating_point<T>) return a < b || (a == b && std::signbit(a) && !std::signbit(b));
    else return a < b;
}

/// Sums of integers, added to the long sums at the end. They stay below 2^127 for 2^63 numbers.
struct IntegerSums {
    Wide sum = 0;
    WideUnsigned low = 0, high = 0;  // of the low 64 bits of squares, and of the rest
};

}  // namespace

template <class T>
void Moments<T>::widen(const Extremes<T>& by) {
    if (count_ == 0) {
        extremes_ = by;
        return;
    }
    if (is_less(by.least, extremes_.least)) extremes_.least = by.least;
    if (is_less(extremes_.largest, by.largest)) extremes_.largest = by.largest;
}

template <>
void Moments<float>::add(std::span<const float> values) {
    std::array<float, chunk_count> finite;
    while (!values.empty()) {
        auto chunk = values.first(std::min(values.size(), chunk_count));
        values = values.subspan(chunk.size());
        auto reach = vectorised<FindReach>(chunk.data(), chunk.size());
        if (reach.magnitude >= float_infinity) {
            std::size_t kept = 0;
            for (const float value : chunk) {
                if (std::isfinite(value)) finite[kept++] = value;
                else if (std::isnan(value)) ++nan_;
                else ++infinite_;
            }
            if (kept == 0) continue;
            chunk = std::span<const float>(finite).first(kept);
            reach = vectorised<FindReach>(chunk.data(), chunk.size());
        }
        widen({of_key(reach.least), of_key(reach.largest)});
        // The kernel takes only finite floats: a chunk with NaN or infinities is copied without them.
        count_ += chunk.size();
        add_bands(chunk, reach.magnitude, sum_, squares_);
    }
}

template <>
void Moments<double>::add(std::span<const double> values) {
    for (const double value : values) {
        if (std::isnan(value)) ++nan_;
        else if (std::isinf(value)) ++infinite_;
        else {
            widen({value, value});
            ++count_;
            sum_.add(value);
            squares_.add_square(value);
        }
    }
}

template <class T>
void Moments<T>::add(std::span<const T> values) {
    if (values.empty()) return;
    IntegerSums sums;
    Extremes<T> extremes{values[0], values[0]};
    for (const T value : values) {
        extremes.least = std::min(extremes.least, value);
        extremes.largest = std::max(extremes.largest, value);
        sums.sum += value;
        const auto magnitude = value < 0 ? -static_cast<WideUnsigned>(value) : static_cast<WideUnsigned>(value);
        // The halves are summed apart, so that sums of 128-bit squares cannot overflow.
        const auto square = magnitude * magnitude;
        sums.low += static_cast<std::uint64_t>(square);
        if constexpr (sizeof(T) == 8) sums.high += static_cast<std::uint64_t>(square >> 64);
    }
    widen(extremes);
    count_ += values.size();
    sum_.add(sums.sum, 0);
    squares_.add(static_cast<Wide>(sums.low), 0);
    squares_.add(static_cast<Wide>(sums.high), 64);
}

template <class T>
void Moments<T>::merge(const Moments& other) {
    if (other.count_ > 0) widen(other.extremes_);
    count_ += other.count_;
    nan_ += other.nan_;
    infinite_ += other.infinite_;
    sum_.merge(other.sum_);
    squares_.merge(other.squares_);
}

template <class T>
double Moments<T>::mean() const {
    if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
    // Exact until the last step: rounding happens once.
    return sum_.leading().over(count_).rounded();
}

template <class T>
double Moments<T>::variance() const {
    if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
    return squares_.times_less_square(count_, sum_).leading().over(count_).over(count_).rounded();
}

template <class T>
void Moments<T>::write(PartWriter& part) const {
    part.number(count_);
    part.number(nan_);
    part.number(infinite_);
    part.number(extremes_.least);
    part.number(extremes_.largest);
    sum_.write(part);
    squares_.write(part);
}

template <class T>
Result<> Moments<T>::read(PartReader& part) {
    count_ = part.number<std::uint64_t>();
    nan_ = part.number<std::uint64_t>();
    infinite_ = part.number<std::uint64_t>();
    extremes_.least = part.number<T>();
    extremes_.largest = part.number<T>();
    FB_TRY(sum_.read(part));
    FB_TRY(squares_.read(part));
    bool is_right = !is_less(extremes_.largest, extremes_.least);
    if constexpr (std::floating_point<T>)
        is_right = is_right && std::isfinite(extremes_.least) && std::isfinite(extremes_.largest);
    // No machine holds so many numbers, so merging cannot overflow.
    constexpr auto count_max = std::uint64_t{1} << 56;
    is_right = is_right && count_ <= count_max && nan_ <= count_max && infinite_ <= count_max;
    if (is_right) return {};
    return Error{ErrorKind::corrupt, "extremes or counts are damaged"};
}

template class Moments<float>;
template class Moments<double>;
template class Moments<std::int32_t>;
template class Moments<std::int64_t>;
template class Moments<std::uint32_t>;
template class Moments<std::uint64_t>;

}  // namespace forebay::insitu
