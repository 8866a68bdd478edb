// The power spectrum of a 3-D array; power_spectrum.hpp defines it. A node's part holds its blocks. The node with all
// blocks has the field, and transforms it in place.
//
// Part: the number of elements given to the node; the count of blocks; then each block: lo and size of its box in 3
// dimensions, and its numbers as f32 or f64, row-major, after their count.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/try.hpp"
#include "core/describe/coverage.hpp"
#include "core/describe/geometry.hpp"
#include "insight/insitu/found.hpp"
#include "insight/insitu/numbers.hpp"
#include "insight/insitu/operators/makers.hpp"
#include "insight/insitu/part_bytes.hpp"
#include "insight/insitu/power_spectrum.hpp"

namespace forebay::insitu {

namespace {

// Calls visit(i, j, k, at, count) for each line of `count` elements of a box. (i, j, k) is the line's place in the
// field. `at` is its first element, counted from `first`.
template <class Visit>
void for_each_field_line(const Box& box, std::uint64_t first, std::uint64_t count, const Visit& visit) {
    for (auto at = first; at < first + count;) {
        const auto k = at % box.size[2];
        const auto line = at / box.size[2];
        const auto length = std::min(box.size[2] - k, first + count - at);
        visit(box.lo[0] + line / box.size[1], box.lo[1] + line % box.size[1], box.lo[2] + k, at - first, length);
        at += length;
    }
}

// Every reason for an incomplete field gives the same text.
Error without_spectrum(const std::string& name, const std::string& why) {
    return {ErrorKind::refused, fmt::format("a spectrum of '{}' is refused: {}", name, why)};
}

template <class Real>
class SpectrumAnalyser final : public Analyser {
public:
    SpectrumAnalyser(const Variable& variable, const RealNumbers& numbers, const Lengths& lengths,
                     SpectralGrid<Real> grid)
        : variable_(variable), numbers_(numbers), lengths_(lengths), grid_(std::move(grid)) {}

    void take(const Elements& piece) override {
        // The first piece of a block announces the block.
        if (piece.first == 0) blocks_.push_back(piece.box);
        elements_ += piece.count;
        for_each_field_line(piece.box, piece.first, piece.count,
                            [&](std::uint64_t i, std::uint64_t j, std::uint64_t k, std::uint64_t at, std::uint64_t n) {
                                put(piece.columns[0], at, {grid_.row(i, j) + k, n});
                            });
    }

    std::vector<std::byte> part() const override;
    Result<> merge(std::span<const std::byte> bytes) override;
    Result<Made> make(const Moment& moment) override;

private:
    void put(std::span<const std::byte> from, std::uint64_t first, std::span<Real> to) {
        if constexpr (std::is_same_v<Real, float>)
            std::memcpy(to.data(), from.data() + first * sizeof(float), to.size_bytes());
        else numbers_.take_doubles(from, first, to);
    }

    Result<> check_whole() const;

    Variable variable_;
    RealNumbers numbers_;
    Lengths lengths_;
    SpectralGrid<Real> grid_;
    std::vector<Box> blocks_;
    std::uint64_t elements_ = 0;
};

template <class Real>
std::vector<std::byte> SpectrumAnalyser<Real>::part() const {
    PartWriter part;
    part.number(elements_);
    part.number(static_cast<std::uint64_t>(blocks_.size()));
    std::vector<Real> numbers;
    for (const auto& box : blocks_) {
        for (int dim = 0; dim < 3; ++dim) {
            part.number(box.lo[dim]);
            part.number(box.size[dim]);
        }
        // The grid is the only copy of the blocks.
        numbers.resize(volume(box.size));
        for_each_field_line(box, 0, numbers.size(), [&](auto i, auto j, auto k, auto at, auto count) {
            std::memcpy(numbers.data() + at, grid_.row(i, j) + k, count * sizeof(Real));
        });
        part.numbers(std::span<const Real>(numbers));
    }
    return std::move(part).take();
}

template <class Real>
Result<> SpectrumAnalyser<Real>::merge(std::span<const std::byte> bytes) {
    PartReader part(bytes, fmt::format("a part of the spectrum of '{}'", variable_.name));
    const auto elements = part.number<std::uint64_t>();
    const auto count = part.number<std::uint64_t>();
    std::vector<Box> boxes;
    std::uint64_t sum = 0;
    bool fits = true;
    while (fits && boxes.size() < count) {
        Box box;
        for (int dim = 0; dim < 3; ++dim) {
            box.lo.push_back(part.number<std::uint64_t>());
            box.size.push_back(part.number<std::uint64_t>());
        }
        // After the end of a short part all boxes are empty.
        fits = inside(box, variable_.shape) && volume(box.size) > 0;
        if (!fits) break;
        const auto numbers = part.numbers<Real>(volume(box.size));
        fits = numbers.size() == volume(box.size);
        if (!fits) break;
        for_each_field_line(box, 0, numbers.size(), [&](auto i, auto j, auto k, auto at, auto length) {
            std::memcpy(grid_.row(i, j) + k, numbers.data() + at, length * sizeof(Real));
        });
        sum += numbers.size();
        boxes.push_back(box);
    }
    FB_TRY(part.done());
    if (!fits || elements > sum)
        return Error{ErrorKind::corrupt,
                     fmt::format("a part of the spectrum of '{}' has blocks outside the field", variable_.name)};
    blocks_.insert(blocks_.end(), boxes.begin(), boxes.end());
    elements_ += elements;
    return {};
}

template <class Real>
Result<Made> SpectrumAnalyser<Real>::make(const Moment&) {
    FB_TRY(check_whole());
    FB_TRY_ASSIGN(shells, power_spectrum(grid_, lengths_));
    const bool in_waves = lengths_ == Lengths{};
    const auto unit = units_of(variable_).unit;
    Attributes of_k{.unit = in_waves ? "waves per domain" : "radians per unit of length"};
    of_k.others.emplace_back("nyquist", shells.nyquist);
    Attributes of_power{.description = in_waves ? "mean of |F|^2 over the modes of a shell"
                                                : "volume times the mean of |F|^2 over the modes of a shell"};
    if (!unit.empty()) of_power.unit = fmt::format("({})^2{}", unit, in_waves ? "" : " times volume");
    const Extents shape{shells.k.size()};
    Made results;
    results.variables.push_back(found_list<double>(variable_.name + "/k", shape, shells.k, of_k));
    results.variables.push_back(found_list<double>(variable_.name + "/power", shape, shells.power, of_power));
    results.variables.push_back(found_list<std::uint64_t>(variable_.name + "/modes", shape, shells.modes, {}));
    return results;
}

template <class Real>
Result<> SpectrumAnalyser<Real>::check_whole() const {
    const auto wanted = variable_.elements();
    if (elements_ < wanted)
        return without_spectrum(variable_.name, fmt::format("{} of its {} elements are missing in this snapshot",
                                                            wanted - elements_, wanted));
    const auto [a, b] = find_overlap(blocks_);
    // Enough elements without an overlap means that every element is there once.
    if (a != b || elements_ > wanted) return without_spectrum(variable_.name, "two blocks hold the same elements");
    return {};
}

template <class Real>
Result<std::unique_ptr<Analyser>> spectrum_by(const Variable& variable, const Lengths& lengths) {
    FB_TRY_ASSIGN(numbers, RealNumbers::of(variable));
    FB_TRY_ASSIGN(grid, SpectralGrid<Real>::make(variable.shape));
    return std::unique_ptr<Analyser>(
        std::make_unique<SpectrumAnalyser<Real>>(variable, numbers, lengths, std::move(grid)));
}

}  // namespace

Result<std::unique_ptr<Analyser>> make_spectrum(const Analysis& analysis, std::span<const Variable> variables) {
    const auto& variable = variables[0];
    if (variable.kind != Kind::array) return without_spectrum(variable.name, "it is not an array");
    if (variable.shape.dims() != 3)
        return without_spectrum(variable.name,
                                fmt::format("it has {} dimensions, but 3 are needed", variable.shape.dims()));
    Lengths lengths{};
    const auto& given = analysis.length;
    if (!given.empty()) {
        if (given.size() != 1 && given.size() != 3)
            return without_spectrum(variable.name,
                                    fmt::format("{} lengths are given, but 1 or 3 are needed", given.size()));
        for (std::size_t dim = 0; dim < 3; ++dim) lengths[dim] = given.size() == 1 ? given[0] : given[dim];
        if (!std::ranges::all_of(lengths, [](double length) { return std::isfinite(length) && length > 0; }))
            return without_spectrum(variable.name, "a length must be above 0");
    }
    // As f32 the grid takes half the memory of f64.
    if (variable.type == f32) return spectrum_by<float>(variable, lengths);
    return spectrum_by<double>(variable, lengths);
}

}  // namespace forebay::insitu
