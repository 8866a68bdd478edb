// The particles of a benchmark: HACC's nine columns, 38 bytes for each particle.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forebay/forebay.hpp"

namespace forebay::bench {

class BenchTable {
public:
    static constexpr std::size_t columns = 9;
    static constexpr std::array<std::uint64_t, columns> element_bytes{4, 4, 4, 4, 4, 4, 4, 8, 2};
    static constexpr std::uint64_t row_bytes = 38;

    /// Has room for `rows` of each rank and the few more of rows_in(). It is filled, so that its pages exist.
    BenchTable(std::uint64_t rows, std::uint32_t rank);
    /// Sets all values to zero except every n-th. Lossless codecs then reach about 1/n of the bytes.
    void thin_out(std::uint64_t n);

    /// Rows of the rank in a turn: about half a percent more or fewer each time, as particles migrate.
    std::uint64_t rows_in(int turn) const;
    std::uint64_t rows_max() const { return rows_ + rows_ / 100; }
    std::span<std::byte> column(std::size_t number, std::uint64_t rows) {
        return std::as_writable_bytes(std::span(data_[number])).first(rows * element_bytes[number]);
    }

    static Result<Particles> describe(Stream& stream);
    Result<> bind(Particles& table, std::uint64_t rows);
    void clear();
    /// A sum over all values of `rows` rows, to check restored data.
    std::uint64_t sum(std::uint64_t rows);

private:
    std::uint64_t rows_;
    std::uint32_t rank_;
    std::array<std::vector<std::uint64_t>, columns> data_;
};

}  // namespace forebay::bench
