// An HDF5 file in memory that stores only the bytes that HDF5 wrote, which are its metadata. Space that HDF5 reserves
// for the contents of datasets takes no memory. So HDF5 can lay out a file of 4 TiB in a few KiB, and opens, locks and
// sizes nothing at the target.

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "insight/h5/hdf5.hpp"

namespace forebay::h5 {

/// Bytes of a file by their offsets; neighbours are one stretch.
class Stretches {
public:
    void write(std::uint64_t offset, std::span<const std::byte> bytes);
    /// What nobody wrote reads as zeros.
    void read(std::uint64_t offset, std::span<std::byte> bytes) const;
    const std::map<std::uint64_t, std::vector<std::byte>>& all() const { return all_; }

private:
    std::map<std::uint64_t, std::vector<std::byte>> all_;
};

class SparseFile {
public:
    SparseFile() = default;
    SparseFile(const SparseFile&) = delete;
    SparseFile& operator=(const SparseFile&) = delete;

    /// How HDF5 opens it; this object must outlive every file opened so. Datasets of at least `alignment` bytes begin
    /// at its multiples; metadata come in blocks of `metadata_bytes`, the first at the front.
    Result<Id> access(std::uint64_t alignment, std::uint64_t metadata_bytes);

    /// After HDF5 closed it.
    Stretches take_written() { return std::move(written_); }
    std::uint64_t size_bytes() const { return size_bytes_; }

private:
    friend struct SparseDriver;
    Stretches written_;
    std::uint64_t size_bytes_ = 0;
};

}  // namespace forebay::h5
