#include "insight/insitu/histogram.hpp"

#include <numeric>

#include "core/base/try.hpp"

namespace forebay::insitu {

void Histogram::grow(const BinAxis::Growth& by) {
    if (!by.is_needed()) return;
    std::vector<std::uint64_t> moved(counts_.size());
    for (std::size_t cell = 0; cell < axis_.cells(); ++cell)
        if (counts_[cell] != 0) moved[by.moved(cell)] += counts_[cell];
    for (auto place = axis_.cells(); place < counts_.size(); ++place) moved[place] = counts_[place];
    counts_ = std::move(moved);
}

void Histogram::add(std::span<const double> values) {
    grow(axis_.include(values));
    axis_.place(values, places_.data());
    for (std::size_t i = 0; i < values.size(); ++i) ++counts_[places_[i]];
}

void Histogram::merge(const Histogram& other) {
    grow(axis_.include(other.axis_));
    // Both sides must lie on the same grid before their counts can be added.
    auto moved = other;
    moved.grow(moved.axis_.include(axis_));
    for (std::size_t place = 0; place < counts_.size(); ++place) counts_[place] += moved.counts_[place];
}

std::vector<std::uint64_t> Histogram::bins() const {
    std::vector<std::uint64_t> bins(axis_.bins());
    for (std::size_t cell = 0; cell < axis_.cells(); ++cell)
        if (counts_[cell] != 0) bins[axis_.bin_of(cell)] += counts_[cell];
    return bins;
}

void Histogram::write(PartWriter& part) const {
    axis_.write(part);
    part.number(std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}));
    part.numbers(std::span<const std::uint64_t>(counts_));
}

Result<> Histogram::read(PartReader& part) {
    FB_TRY(axis_.read(part));
    const auto total = part.number<std::uint64_t>();
    auto counts = part.numbers<std::uint64_t>(counts_.size());
    // Damaged parts may count in unused cells. In an empty histogram no cell is used.
    bool is_right = counts.size() == counts_.size();
    for (std::size_t cell = 0; is_right && cell < axis_.cells(); ++cell)
        is_right = counts[cell] == 0 || axis_.is_used(cell);
    if (!is_right || total != std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}))
        return Error{ErrorKind::corrupt, "counts are damaged"};
    counts_ = std::move(counts);
    return {};
}

}  // namespace forebay::insitu
