// An HDF5 file in memory. It stores only the bytes that HDF5 wrote, its metadata. Space reserved for dataset contents
// takes no memory. So HDF5 can lay out a file of 4 TiB in a few KiB, without opening, locking or sizing a file at the
// target.

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "insight/h5/hdf5.hpp"

namespace forebay::h5 {

/// Bytes of a file by offset; adjacent bytes form one stretch.
class Stretches {
public:
    void write(std::uint64_t offset, std::span<const std::byte> bytes);
    /// Unwritten bytes read as zeros.
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

    /// Properties to open this file in HDF5. This object must outlive every file opened with them. Datasets of at least
    /// `alignment` bytes begin at its multiples. Metadata come in blocks of `metadata_bytes`, the first at the front.
    Result<Id> access(std::uint64_t alignment, std::uint64_t metadata_bytes);

    /// Call it after HDF5 has closed the file.
    Stretches take_written() { return std::move(written_); }
    std::uint64_t size_bytes() const { return size_bytes_; }

private:
    friend struct SparseDriver;
    Stretches written_;
    std::uint64_t size_bytes_ = 0;
};

}  // namespace forebay::h5
