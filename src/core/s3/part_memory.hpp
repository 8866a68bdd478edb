// The memory in which parts of objects wait until they are sent. That of the usual part is used again, since new pages
// cost as much as the checksum.
//
// Threads: any, at once. It must outlive what was taken from it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace forebay::s3 {

/// Of the usual part: what one request puts. Below it an upload in parts costs more requests than it saves time, and a
/// thread holds so much.
inline constexpr std::uint64_t part_bytes_least = 16u << 20;

class PartMemory {
public:
    struct GiveBack {
        PartMemory* owner = nullptr;
        std::uint64_t bytes = 0;
        void operator()(std::byte* memory) const { owner->keep(memory, bytes); }
    };
    using Taken = std::unique_ptr<std::byte[], GiveBack>;

    /// What is in it is anything.
    Taken take(std::uint64_t bytes);
    /// A process that lives on counts the objects that it writes: after the last of them nothing is kept.
    void begin_object();
    void end_object();
    /// What is taken, and what is kept.
    std::uint64_t bytes();

private:
    void keep(std::byte* memory, std::uint64_t bytes);

    std::mutex mutex_;  // guards what follows
    std::vector<std::unique_ptr<std::byte[]>> kept_;
    std::uint64_t taken_bytes_ = 0, objects_ = 0;
};

}  // namespace forebay::s3
