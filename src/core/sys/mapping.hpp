// A file on the node mapped into memory, shared by the ranks of a node and its agent.
//
// Owner: the object unmaps in its destructor; the file stays. Only node-local file systems (tmpfs, DAX, NVMe)
// are mapped, never a target.

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

    /// Creates (or reuses, with its warm pages) the file, 0600, never through a link, reserves `bytes` with
    /// posix_fallocate and maps them for writing: a full tmpfs, or one larger than the memory that is left, is
    /// `full` here with the sizes named, and never a SIGBUS later; the file is then as long as it was, or gone if
    /// it was new. `refused`: a file of another user, open to others, or with a second name.
    static Result<Mapping> create(const std::string& path, std::uint64_t bytes);
    /// Maps an existing file of this user; `writable` false maps it read-only.
    static Result<Mapping> open(const std::string& path, bool writable);
    /// As a copy that this process may change, and nobody else sees: pages are copied when they are written to.
    static Result<Mapping> open_copy(const std::string& path);

    std::span<std::byte> bytes() { return {data_, size_}; }
    std::span<const std::byte> bytes() const { return {data_, size_}; }
    bool mapped() const { return data_ != nullptr; }

    /// Faults the pages of a range in now, for writing if the mapping is writable (MADV_POPULATE_WRITE, or a touch of
    /// each page that changes nothing), else for reading, so that no later access pays for it.
    Result<> prefault(std::uint64_t offset, std::uint64_t bytes);

private:
    static Result<Mapping> open_as(const std::string& path, int access, bool writable, int sharing);

    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    bool writable_ = false;
};

/// The page size that a mapping of a file in `directory` gets: 2 MiB on tmpfs mounted huge=always|within_size
/// or hugetlbfs, else 4096.
std::uint64_t page_bytes_of(const std::string& directory);

}  // namespace forebay::sys
