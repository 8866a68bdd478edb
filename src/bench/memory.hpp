// Limits in memory: glibc's memcpy between the ranks' arrays and a warm shared mapping with the layout of a node file,
// and write(2) of the same bytes to a new file there.

#pragma once

#include <array>
#include <string>

#include "bench/ranks.hpp"
#include "bench/table.hpp"
#include "core/sys/crew.hpp"
#include "core/sys/mapping.hpp"

namespace forebay::bench {

class MemcpyLimit {
public:
    /// Reserves the memory, maps it and touches its pages. Collective.
    static Result<MemcpyLimit> open(Ranks& ranks, const std::string& path, const BenchTable& table);

    /// Sets the place of this rank's rows for this turn: column by column, in each the ranks in order. Collective.
    void place(Ranks& ranks, std::uint64_t rows);
    void copy_in(BenchTable& table);
    /// The same with the threads of a crew, each column in `pieces` pieces.
    void copy_in(BenchTable& table, sys::Crew& crew, std::uint64_t pieces);
    void copy_out(BenchTable& table);
    /// The whole mapping, in whole pages.
    std::span<const std::byte> bytes() const { return mapping_.bytes(); }

private:
    sys::Mapping mapping_;
    std::uint64_t column_rows_ = 0;  // room in each column
    std::uint64_t rows_before_ = 0, rows_ = 0;
    std::span<std::byte> place_of(std::size_t column);
};

/// write(2) of the rank's rows to a new file, which is removed after the measurement.
Result<double> timed_write(Ranks& ranks, const std::string& path, BenchTable& table, std::uint64_t rows);

}  // namespace forebay::bench
