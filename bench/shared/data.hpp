// The particles of the VPIC-IO kernel: eight columns of 4 bytes, of which ranks have up to 15 per cent fewer than
// others.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench {

struct Column {
    const char* name;
    bool is_integer;  // i32, else f32
};
inline constexpr std::size_t columns = 8;
inline constexpr std::array<Column, columns> column_of{{{"x", false},
                                                        {"y", false},
                                                        {"z", false},
                                                        {"id1", true},
                                                        {"id2", true},
                                                        {"px", false},
                                                        {"py", false},
                                                        {"pz", false}}};
inline constexpr std::uint64_t element_bytes = 4;

class Data {
public:
    /// Filled, so that its pages exist. Every rank knows how many rows the others have.
    Data(std::uint64_t rows_max, int rank, int ranks);

    std::uint64_t rows() const { return rows_; }
    std::uint64_t rows_before() const { return rows_before_; }
    std::uint64_t rows_all() const { return rows_all_; }
    std::uint64_t bytes() const { return columns * rows_ * element_bytes; }
    std::uint64_t bytes_all() const { return columns * rows_all_ * element_bytes; }
    std::span<std::uint32_t> column(std::size_t number) { return data_[number]; }

private:
    std::uint64_t rows_ = 0, rows_before_ = 0, rows_all_ = 0;
    std::array<std::vector<std::uint32_t>, columns> data_;
};

}  // namespace bench
