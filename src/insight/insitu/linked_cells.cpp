#include "insight/insitu/linked_cells.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace forebay::insitu {

namespace {

constexpr std::size_t places_at_once = 4096;  // three such buffers stay in L2
constexpr int digit_bits = 11;                // of one sorting pass: 2048 counters stay in L1
// Rows with fewer particles are sorted by comparing: clearing the counters would take longer.
constexpr std::size_t counted_min = 512;

// Calls visit(place, particle's number) for each particle.
template <class Visit>
void for_each_place(std::uint64_t particles, const ReadPlaces& read, const Visit& visit) {
    std::array<std::vector<double>, 3> buffers;
    for (auto& buffer : buffers) buffer.resize(places_at_once);
    for (std::uint64_t first = 0; first < particles; first += places_at_once) {
        const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(places_at_once, particles - first));
        const auto part = [&](int dim) { return std::span(buffers[static_cast<std::size_t>(dim)]).first(count); };
        read(first, {part(0), part(1), part(2)});
        for (std::size_t i = 0; i < count; ++i)
            visit(std::array{buffers[0][i], buffers[1][i], buffers[2][i]}, static_cast<std::uint32_t>(first + i));
    }
}

// A radix sort, lowest digit first. `other` must be as long as `keys`. The result is in `keys`.
template <class Key>
void sort_by_digits(std::vector<Key>& keys, std::vector<Key>& other, int bits) {
    std::array<std::uint32_t, 1u << digit_bits> begin{};
    for (int shift = 0; shift < bits; shift += digit_bits) {
        const auto digit = [shift](const Key& entry) {
            return static_cast<std::size_t>((entry.key >> shift) & ((1u << digit_bits) - 1));
        };
        begin.fill(0);
        for (const auto& entry : keys) ++begin[digit(entry)];
        std::uint32_t sum = 0;
        for (auto& count : begin) sum += std::exchange(count, sum);
        for (const auto& entry : keys) other[begin[digit(entry)]++] = entry;
        keys.swap(other);
    }
}

}  // namespace

LinkedCells::LinkedCells(const std::array<double, 3>& lengths, const std::array<std::uint32_t, 3>& counts,
                         std::uint64_t particles, const ReadPlaces& read)
    : lengths_(lengths), counts_(counts), placed_(std::make_unique_for_overwrite<CellParticle[]>(particles)) {
    for (std::size_t dim = 0; dim < 3; ++dim) cells_per_length_[dim] = counts[dim] / lengths[dim];
    const auto begin = place_in_rows(particles, read);
    Scratch scratch;
    for (std::uint32_t row = 0; row < counts_[0]; ++row) {
        if (begin[row] == begin[row + 1]) continue;
        rows_.push_back({row, static_cast<std::uint32_t>(columns_.size())});
        sort_row({placed_.get() + begin[row], placed_.get() + begin[row + 1]}, begin[row], scratch);
    }
    // Each list ends with one extra entry, the end of the last entry's children.
    cells_.push_back({0, static_cast<std::uint32_t>(particles)});
    columns_.push_back({0, static_cast<std::uint32_t>(cells_.size() - 1)});
    rows_.push_back({0, static_cast<std::uint32_t>(columns_.size() - 1)});
}

std::uint32_t LinkedCells::index_of(double place, std::size_t dim) const {
    // Rounding may give the count itself.
    return std::min(static_cast<std::uint32_t>(place * cells_per_length_[dim]), counts_[dim] - 1);
}

// The first particle of each row, and the end of the last row.
std::vector<std::uint32_t> LinkedCells::place_in_rows(std::uint64_t particles, const ReadPlaces& read) {
    std::vector<std::uint32_t> begin(std::size_t{counts_[0]} + 1);
    for_each_place(particles, read,
                   [&](const std::array<double, 3>& place, std::uint32_t) { ++begin[index_of(place[0], 0)]; });
    std::uint32_t sum = 0;
    for (auto& count : begin) sum += std::exchange(count, sum);
    // The second pass puts each particle at the next free place of its row.
    auto next = begin;
    for_each_place(particles, read, [&](const std::array<double, 3>& place, std::uint32_t particle) {
        placed_[next[index_of(place[0], 0)]++] = {place, particle};
    });
    return begin;
}

// Sorts the particles of a row by column and cell, and adds these to the lists. `first` is the number of the row's
// first particle among all rows.
void LinkedCells::sort_row(std::span<CellParticle> row, std::uint32_t first, Scratch& scratch) {
    auto& [keys, sorted, copy] = scratch;
    keys.resize(row.size());
    sorted.resize(row.size());
    copy.assign(row.begin(), row.end());
    for (std::uint32_t i = 0; i < row.size(); ++i)
        keys[i] = {std::uint64_t{index_of(row[i].at[1], 1)} * counts_[2] + index_of(row[i].at[2], 2), i};
    if (row.size() < counted_min) std::ranges::sort(keys, {}, &Keyed::key);
    else sort_by_digits(keys, sorted, static_cast<int>(std::bit_width(std::uint64_t{counts_[1]} * counts_[2] - 1)));
    const auto columns_before = columns_.size();
    std::uint64_t last_key = 0;
    for (std::uint32_t i = 0; i < row.size(); ++i) {
        row[i] = copy[keys[i].at];
        const auto key = keys[i].key;
        if (i > 0 && key == last_key) continue;
        last_key = key;
        const auto column = static_cast<std::uint32_t>(key / counts_[2]);
        if (columns_.size() == columns_before || columns_.back().index != column)
            columns_.push_back({column, static_cast<std::uint32_t>(cells_.size())});
        cells_.push_back({static_cast<std::uint32_t>(key % counts_[2]), first + i});
    }
}

}  // namespace forebay::insitu
