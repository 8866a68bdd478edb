#include "insight/insitu/histogram_2d.hpp"

#include <numeric>

#include "core/base/try.hpp"

namespace forebay::insitu {

Histogram2d::Histogram2d(BinAxis x, BinAxis y)
    : x_(std::move(x)), y_(std::move(y)), counts_(x_.places() * y_.places()) {}

void Histogram2d::grow(const BinAxis::Growth& by_x, const BinAxis::Growth& by_y) {
    if (!by_x.is_needed() && !by_y.is_needed()) return;
    std::vector<std::uint64_t> moved(counts_.size());
    for (std::size_t i = 0; i < x_.places(); ++i)
        for (std::size_t j = 0; j < y_.places(); ++j) {
            const auto count = counts_[i * y_.places() + j];
            if (count == 0) continue;
            const auto row = by_x.is_needed() && i < x_.cells() ? by_x.moved(i) : i;
            const auto column = by_y.is_needed() && j < y_.cells() ? by_y.moved(j) : j;
            moved[row * y_.places() + column] += count;
        }
    counts_ = std::move(moved);
}

void Histogram2d::add(std::span<const double> x, std::span<const double> y) {
    const auto by_x = x_.include(x), by_y = y_.include(y);
    grow(by_x, by_y);
    x_.place(x, rows_.data());
    y_.place(y, columns_.data());
    const auto width = y_.places();
    for (std::size_t i = 0; i < x.size(); ++i) ++counts_[rows_[i] * width + columns_[i]];
}

void Histogram2d::merge(const Histogram2d& other) {
    const auto by_x = x_.include(other.x_), by_y = y_.include(other.y_);
    grow(by_x, by_y);
    // Both sides must lie on the same grids before their counts can be added.
    auto moved = other;
    const auto other_by_x = moved.x_.include(x_), other_by_y = moved.y_.include(y_);
    moved.grow(other_by_x, other_by_y);
    for (std::size_t place = 0; place < counts_.size(); ++place) counts_[place] += moved.counts_[place];
}

std::vector<std::uint64_t> Histogram2d::bins() const {
    std::vector<std::uint64_t> bins(x_.bins() * y_.bins());
    for (std::size_t i = 0; i < x_.cells(); ++i)
        for (std::size_t j = 0; j < y_.cells(); ++j)
            if (const auto count = counts_[i * y_.places() + j]; count != 0)
                bins[x_.bin_of(i) * y_.bins() + y_.bin_of(j)] += count;
    return bins;
}

std::uint64_t Histogram2d::outside() const {
    std::uint64_t outside = 0;
    for (std::size_t i = 0; i < x_.places(); ++i)
        for (std::size_t j = 0; j < y_.places(); ++j)
            if (!is_inside(i, j)) outside += counts_[i * y_.places() + j];
    return outside;
}

void Histogram2d::write(PartWriter& part) const {
    x_.write(part);
    y_.write(part);
    part.number(std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}));
    part.numbers(std::span<const std::uint64_t>(counts_));
}

Result<> Histogram2d::read(PartReader& part) {
    FB_TRY(x_.read(part));
    FB_TRY(y_.read(part));
    const auto total = part.number<std::uint64_t>();
    auto counts = part.numbers<std::uint64_t>(counts_.size());
    bool is_right = counts.size() == counts_.size();
    for (std::size_t i = 0; is_right && i < x_.places(); ++i)
        for (std::size_t j = 0; is_right && j < y_.places(); ++j)
            is_right = counts[i * y_.places() + j] == 0 ||
                       ((i >= x_.cells() || x_.is_used(i)) && (j >= y_.cells() || y_.is_used(j)));
    if (!is_right || total != std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}))
        return Error{ErrorKind::corrupt, "counts are damaged"};
    counts_ = std::move(counts);
    return {};
}

}  // namespace forebay::insitu
