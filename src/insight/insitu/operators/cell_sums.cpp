#include "insight/insitu/operators/cell_sums.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace forebay::insitu {

namespace {

constexpr int window_bits = 64;
constexpr int lowest_bit = -1074;  // of a double
constexpr int mantissa_bits = 52;
// The limit for one node's part: 2^44 numbers below 2^64.
constexpr std::int64_t high_max = std::int64_t{1} << 44;

Wide wide_of(std::int64_t high, std::uint64_t low) {
    return (static_cast<Wide>(high) * (static_cast<Wide>(1) << 64)) + static_cast<Wide>(low);
}

}  // namespace

void CellSums::add(std::size_t cell, double number) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    const auto exponent = static_cast<int>((bits >> mantissa_bits) & 0x7FF);
    auto mantissa = bits & ((std::uint64_t{1} << mantissa_bits) - 1);
    // A subnormal number has no hidden bit.
    if (exponent != 0) mantissa |= std::uint64_t{1} << mantissa_bits;
    if (mantissa == 0) return;
    const auto place = exponent == 0 ? 0 : exponent - 1;  // of its lowest bit, counted from 2^-1074
    const auto window = static_cast<std::size_t>(place / window_bits);
    const auto shifted = static_cast<WideUnsigned>(mantissa) << (place % window_bits);
    const auto low = static_cast<Wide>(static_cast<std::uint64_t>(shifted));
    const auto high = static_cast<Wide>(static_cast<std::uint64_t>(shifted >> window_bits));
    const bool negative = (bits >> 63) != 0;
    if (low != 0) add_to(window, cell, negative ? -low : low);
    if (high != 0) add_to(window + 1, cell, negative ? -high : high);
}

void CellSums::add_to(std::size_t window, std::size_t cell, Wide integer) {
    auto& integers = windows_[window];
    if (integers.empty()) integers.resize(cells_);
    integers[cell] += integer;
}

double CellSums::rounded(std::size_t cell) const {
    const auto integer = [&](std::size_t window) {
        return windows_[window].empty() ? Wide{0} : windows_[window][cell];
    };
    const auto unit = [](std::size_t window) { return static_cast<int>(window) * window_bits + lowest_bit; };
    std::size_t first = 0;
    auto last = windows_.size() - 1;
    while (first < last && integer(first) == 0) ++first;
    while (first < last && integer(last) == 0) --last;
    if (first == last) return std::ldexp(static_cast<double>(integer(last)), unit(last));  // the cast rounds
    // The sum of two neighbouring windows usually fits an integer of 128 bits.
    if (last == first + 1) {
        const auto high = integer(last) + (integer(first) >> window_bits);
        if (static_cast<std::int64_t>(high) == high)
            return std::ldexp(static_cast<double>(
                                  wide_of(static_cast<std::int64_t>(high), static_cast<std::uint64_t>(integer(first)))),
                              unit(first));
    }
    ExactSum sum;
    for (auto window = first; window <= last; ++window) sum.add(integer(window), unit(window));
    return sum.rounded();
}

std::vector<double> CellSums::rounded() const {
    std::vector<double> numbers(cells_);
    for (std::size_t cell = 0; cell < cells_; ++cell) numbers[cell] = rounded(cell);
    return numbers;
}

void CellSums::write(PartWriter& part) const {
    for (std::size_t window = 0; window < windows_.size(); ++window) {
        const auto& integers = windows_[window];
        std::vector<std::uint64_t> cells, low;
        std::vector<std::int64_t> high;
        for (std::size_t cell = 0; cell < integers.size(); ++cell) {
            if (integers[cell] == 0) continue;
            cells.push_back(cell);
            low.push_back(static_cast<std::uint64_t>(integers[cell]));
            high.push_back(static_cast<std::int64_t>(integers[cell] >> 64));
        }
        part.numbers<std::uint64_t>(cells);
        part.numbers<std::uint64_t>(low);
        part.numbers<std::int64_t>(high);
    }
}

Result<> CellSums::merge(PartReader& part) {
    for (std::size_t window = 0; window < windows_.size(); ++window) {
        const auto cells = part.numbers<std::uint64_t>(cells_);
        const auto low = part.numbers<std::uint64_t>(cells_);
        const auto high = part.numbers<std::int64_t>(cells_);
        bool fits = low.size() == cells.size() && high.size() == cells.size();
        for (std::size_t i = 0; fits && i < cells.size(); ++i) {
            fits = cells[i] < cells_ && high[i] >= -high_max && high[i] < high_max;
            if (fits) add_to(window, cells[i], wide_of(high[i], low[i]));
        }
        if (!fits) return Error{ErrorKind::corrupt, "a part of a density is damaged"};
    }
    return {};
}

}  // namespace forebay::insitu
