// The memory for parts of objects before they are sent. Buffers of the usual size are used again, because new pages
// cost as much as the checksum.
//
// Threads: any, concurrently. It must outlive the buffers taken from it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace forebay::s3 {

/// The usual part size, which one request sends. Below it, an upload in parts costs more requests than it saves time.
/// Each thread holds one part.
inline constexpr std::uint64_t part_bytes_least = 16u << 20;

class PartMemory {
public:
    struct GiveBack {
        PartMemory* owner = nullptr;
        std::uint64_t bytes = 0;
        void operator()(std::byte* memory) const { owner->keep(memory, bytes); }
    };
    using Taken = std::unique_ptr<std::byte[], GiveBack>;

    /// The content is undefined.
    Taken take(std::uint64_t bytes);
    /// Call these around each written object. After the last object the kept buffers are freed.
    void begin_object();
    void end_object();
    /// Returns the taken and the kept bytes.
    std::uint64_t bytes();

private:
    void keep(std::byte* memory, std::uint64_t bytes);

    std::mutex mutex_;  // guards the members below
    std::vector<std::unique_ptr<std::byte[]>> kept_;
    std::uint64_t taken_bytes_ = 0, objects_ = 0;
};

}  // namespace forebay::s3
