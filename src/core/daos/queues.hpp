// Moves bytes between memory and a file in a container, by several requests in flight.
//
// Threads: all calls may run at once. Each takes an event queue of its own: a queue costs a context of the network, so
//          queues are kept for later calls.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/daos/object.hpp"

namespace forebay::daos {

class DfsQueues {
public:
    DfsQueues() = default;
    DfsQueues(const DfsQueues&) = delete;
    DfsQueues& operator=(const DfsQueues&) = delete;
    ~DfsQueues();

    Result<> write(const DfsObject& file, std::uint64_t offset, std::span<const std::byte> bytes);
    /// Returns the number of bytes read; less at the file's end.
    Result<std::uint64_t> read(const DfsObject& file, std::uint64_t offset, std::span<std::byte> bytes);

private:
    class Turn;
    struct Piece;

    Result<std::uint64_t> move(const DfsObject& file, std::uint64_t offset, std::span<std::byte> bytes, bool writes);
    Result<daos_handle_t> take();
    void give_back(daos_handle_t queue);

    std::mutex mutex_;  // guards the member below
    std::vector<daos_handle_t> free_;
};

}  // namespace forebay::daos
