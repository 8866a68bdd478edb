// Records of a Fortran file of form "unformatted" and access "sequential", as gfortran and most others write them: each
// between two marks of 4 bytes that hold its length. A record of 2 GiB or more is several subrecords: the mark before
// one is negative when another follows, the mark after one when another came before.
//
// Owner: the reader keeps the file's reference; reads marks alone, through a buffer of 4 KiB.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "insight/foreign/contents.hpp"

namespace forebay::foreign {

struct FortranRecord {
    std::uint64_t at = 0;       // where its first mark is
    std::vector<Range> ranges;  // its subrecords; empty ones are left out
    std::uint64_t bytes = 0;    // of data
};

class FortranReader {
public:
    /// The byte order is the one in which the first mark is `first_record_bytes`; `refused` when it is neither.
    static Result<FortranReader> open(sys::File& file, const std::string& name, std::uint32_t first_record_bytes);

    bool at_end() const { return position_ == file_bytes_; }
    std::uint64_t position() const { return position_; }
    bool big_endian() const { return big_endian_; }

    /// `corrupt`, with the place, when marks disagree or the file ends within the record.
    Result<FortranRecord> next();
    /// The data of a record that a caller holds in memory, at most `bytes_max` of them.
    Result<std::vector<std::byte>> data(const FortranRecord& record, std::uint64_t bytes_max);
    Error damage(std::uint64_t at, const std::string& why) const;

private:
    FortranReader(sys::File& file, std::string name, std::uint64_t file_bytes)
        : file_(&file), name_(std::move(name)), file_bytes_(file_bytes) {}
    Result<std::int32_t> mark(std::uint64_t at);

    sys::File* file_;
    std::string name_;
    std::uint64_t file_bytes_;
    std::uint64_t position_ = 0;
    bool big_endian_ = false;
    std::vector<std::byte> buffer_;
    std::uint64_t buffer_at_ = 0;
};

}  // namespace forebay::foreign
