// A file on the node mapped into memory, shared by the ranks of a node and its agent.
//
// Owner: the object unmaps in its destructor; the file stays. Only files of node-local file systems (tmpfs, DAX, NVMe)
//        are mapped, never files of a target.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "forebay/result.hpp"

namespace forebay::sys {

class Mapping {
public:
    Mapping() = default;
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();

    /// Creates the file (0600), or reuses it with its warm pages; never follows a link. Reserves `bytes` with
    /// posix_fallocate and maps them for writing. If the tmpfs or the memory is too small, the error is `full` with the
    /// sizes, and no SIGBUS comes later. The file then keeps its old length, or is removed if it was new. `refused`: a
    /// file of another user, open to other users, or with a second name.
    static Result<Mapping> create(const std::string& path, std::uint64_t bytes);
    /// Maps an existing file of this user; read-only if `writable` is false.
    static Result<Mapping> open(const std::string& path, bool writable);
    /// Maps a private copy: this process may change it, and nobody else sees the changes. Pages are copied on write.
    static Result<Mapping> open_copy(const std::string& path);

    std::span<std::byte> bytes() { return {data_, size_}; }
    std::span<const std::byte> bytes() const { return {data_, size_}; }
    bool mapped() const { return data_ != nullptr; }

    /// Faults in the pages of a range now, so that no later access pays for it. A writable mapping is prepared for
    /// writes (MADV_POPULATE_WRITE, or a touch of each page without a change), else for reads.
    Result<> prefault(std::uint64_t offset, std::uint64_t bytes);

private:
    static Result<Mapping> open_as(const std::string& path, int access, bool writable, int sharing);

    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    bool writable_ = false;
};

/// The page size of a mapped file in `directory`: 2 MiB on tmpfs mounted huge=always|within_size, the block size of
/// hugetlbfs, else 4096.
std::uint64_t page_bytes_of(const std::string& directory);

}  // namespace forebay::sys
