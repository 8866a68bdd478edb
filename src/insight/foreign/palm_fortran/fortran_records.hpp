// Records of a Fortran file of form "unformatted" and access "sequential", as by gfortran and most compilers: each
// between two marks of 4 bytes with its length. A record of 2 GiB or more has several subrecords. The mark before a
// subrecord is negative if another one follows; the mark after it is negative if one came before.
//
// Owner: the reader refers to the file, which must outlive it. It reads only marks, through a buffer of 4 KiB.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "insight/foreign/contents.hpp"

namespace forebay::foreign {

struct FortranRecord {
    std::uint64_t at = 0;       // place of its first mark
    std::vector<Range> ranges;  // its subrecords, without empty subrecords
    std::uint64_t bytes = 0;    // of data
};

class FortranReader {
public:
    /// In the file's byte order the first mark is `first_record_bytes`; `refused` if it is so in neither order.
    static Result<FortranReader> open(sys::File& file, const std::string& name, std::uint32_t first_record_bytes);

    bool at_end() const { return position_ == file_bytes_; }
    std::uint64_t position() const { return position_; }
    bool big_endian() const { return big_endian_; }

    /// `corrupt`, with the place, if marks disagree or the file ends within the record.
    Result<FortranRecord> next();
    /// Reads at most `bytes_max` bytes of a record into memory.
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
