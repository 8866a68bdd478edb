// The data of a benchmark: variables, each rank's share in each dump, and bytes computed from rank, variable, dump and
// place. So any rank can check any byte. A variable is a global array. Ranks own it in turn along its first dimension:
// rank 0 the first rows, rank 1 the next.
//
// Pure arithmetic and memory; every rank can compute every rank's part. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/matrix/setting.hpp"
#include "core/base/page_buffer.hpp"

namespace forebay::bench {

struct BenchVariable {
    std::string name;
    Type type;
    std::vector<std::uint64_t> inner = {};  // extents after the first
    std::uint64_t row_bytes = 1;            // of one index of the first dimension
    std::uint64_t rows = 0;                 // of all ranks; for a column of one rank, before it varies
    bool scalar = false;                    // one value, of rank 0
};

/// Rows of a variable in the memory of the rank that writes or reads them.
struct RowSpan {
    std::size_t variable = 0;
    int owner = 0;          // the rank that wrote it
    std::uint64_t row = 0;  // in the owner's rows
    std::uint64_t rows = 0;
    std::byte* data = nullptr;
    std::uint64_t stride_bytes = 0;  // between rows; 0: one block of `xfer` bytes stands for all, as in IOR
};

class Content {
public:
    Content(const RowSetting& setting, int ranks);

    /// The bytes of MemoryForm::block. 0: each byte has its own place.
    std::uint64_t block_bytes() const { return block_bytes_; }
    const std::vector<BenchVariable>& variables() const { return variables_; }
    bool is_table() const { return table_; }
    int ranks() const { return ranks_; }
    std::uint64_t rows(std::size_t variable, int rank, int dump) const;
    /// Rows of all ranks before `rank`; rank == ranks() gives all rows.
    std::uint64_t rows_before(std::size_t variable, int rank, int dump) const;
    std::uint64_t bytes(std::size_t variable, int rank, int dump) const;
    std::uint64_t bytes_of_rank(int rank, int dump) const;
    std::uint64_t bytes_of_all(int dump) const;

    /// Fills the segment's memory with its right contents for `dump`.
    void fill(const RowSpan& segment, int dump) const;
    /// Returns `corrupt`, with variable, rank and byte, if it holds anything else. A block can be checked
    /// after its last write only.
    Result<> verify(const RowSpan& segment, int dump) const;

private:
    void generate(const RowSpan& segment, int dump, std::uint64_t from, std::span<std::byte> bytes) const;
    double factor(int rank, int dump) const;

    std::vector<BenchVariable> variables_;
    int ranks_;
    bool table_ = false;
    Vary vary_;
    Fill contents_;
    std::uint64_t filled_bytes_;     // of each 4096, if compressible
    std::uint64_t block_bytes_ = 0;  // of MemoryForm::block; 0: another form
};

/// This rank's variables in memory, filled again for each dump.
class OwnMemory {
public:
    /// Has room for the largest of the dumps.
    OwnMemory(const Content& content, const RowSetting& setting, int rank);

    void fill(int dump);
    /// This rank's data in `dump`, one segment for each variable.
    std::vector<RowSpan> segments(int dump);

private:
    const Content& content_;
    int rank_;
    MemoryForm memory_;
    std::uint64_t block_bytes_, record_bytes_ = 0;
    std::vector<std::uint64_t> at_;  // of each variable, or of its field in a record
    PageBuffer buffer_;              // whole pages: the kernel copies them faster, and IOR uses them
    std::byte* start_;
};

/// Memory for a read: this rank's own part, or the `part`th of `parts` equal shares of all rows.
class ReadMemory {
public:
    static ReadMemory of_own(const Content& content, int rank, int dump);
    static ReadMemory of_share(const Content& content, int part, int parts, int dump);
    /// Rows `first` to `first` + `rows` of all rows, of every column of a table.
    static ReadMemory of_rows(const Content& content, std::uint64_t first, std::uint64_t rows, int dump);
    const std::vector<RowSpan>& segments() const { return segments_; }
    std::uint64_t bytes() const { return bytes_; }

private:
    void add(const Content& content, std::vector<RowSpan> segments);
    std::vector<RowSpan> segments_;
    PageBuffer buffer_;
    std::uint64_t bytes_ = 0;
};

}  // namespace forebay::bench
