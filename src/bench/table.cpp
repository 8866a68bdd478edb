#include "bench/table.hpp"

#include <algorithm>
#include <numeric>

#include "core/base/crc32c.hpp"

namespace forebay::bench {

static_assert(std::accumulate(BenchTable::element_bytes.begin(), BenchTable::element_bytes.end(), std::uint64_t{0}) ==
              BenchTable::row_bytes);

BenchTable::BenchTable(std::uint64_t rows, std::uint32_t rank) : rows_(rows), rank_(rank) {
    std::uint64_t state = 0x9E3779B97F4A7C15ull * (rank + 1);
    for (std::size_t c = 0; c < columns; ++c) {
        data_[c].resize(rows_max() * element_bytes[c] / 8 + 1);
        for (auto& word : data_[c]) word = state = state * 6364136223846793005ull + 1442695040888963407ull;
    }
}

void BenchTable::thin_out(std::uint64_t n) {
    for (auto& column : data_)
        for (std::size_t i = 0; i < column.size(); ++i)
            if (i % n != 0) column[i] = 0;
}

std::uint64_t BenchTable::rows_in(int turn) const {
    const auto wave = static_cast<std::uint64_t>(turn * 7 + static_cast<int>(rank_) * 13) % 11;  // 0 to 10
    return rows_ - rows_ / 200 + rows_ * wave / 1000;
}

Result<Particles> BenchTable::describe(Stream& stream) {
    return stream.particles("particles", {{"x", f32},
                                          {"y", f32},
                                          {"z", f32},
                                          {"vx", f32},
                                          {"vy", f32},
                                          {"vz", f32},
                                          {"phi", f32},
                                          {"id", i64},
                                          {"mask", u16}});
}

Result<> BenchTable::bind(Particles& table, std::uint64_t rows) {
    std::vector<ColumnData> places;
    for (auto& column : data_) places.emplace_back(column.data());
    return table.bind(rows, std::move(places));
}

void BenchTable::clear() {
    for (auto& column : data_) std::ranges::fill(column, 0);
}

std::uint64_t BenchTable::sum(std::uint64_t rows) {
    std::uint64_t sum = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += crc32c(column(c, rows));
    return sum;
}

}  // namespace forebay::bench
