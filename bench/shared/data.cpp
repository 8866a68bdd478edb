#include "data.hpp"

namespace bench {

namespace {

std::uint64_t rows_of(std::uint64_t rows_max, int rank) {
    // Thousandths that a rank has fewer: 0, 95, 40, 135, ...; never the same at two neighbours.
    return rows_max - rows_max * (static_cast<std::uint64_t>(rank) * 95 % 150) / 1000;
}

}  // namespace

Data::Data(std::uint64_t rows_max, int rank, int ranks) : rows_(rows_of(rows_max, rank)) {
    for (int other = 0; other < ranks; ++other) {
        if (other == rank) rows_before_ = rows_all_;
        rows_all_ += rows_of(rows_max, other);
    }
    for (std::size_t c = 0; c < columns; ++c) {
        data_[c].resize(rows_);
        // Small positive floats and integers alike.
        for (std::uint64_t row = 0; row < rows_; ++row)
            data_[c][row] = 0x3f000000u + static_cast<std::uint32_t>((rows_before_ + row) * (2 * c + 1) & 0xffffff);
    }
}

}  // namespace bench
