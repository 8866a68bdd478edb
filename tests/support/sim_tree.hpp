// A tree of files on a simulated disk behind sys::Folder: it loses what was not synced. Attributes, times among them,
// count as durable at once: the worst case, since a file that has its size and time and not its bytes looks whole.
//
// Each call that changes something is one operation, numbered from 0. crash_before(n) cuts the power before operation
// n: that one and all later calls fail. One thread at a time.

#pragma once

#include <memory>
#include <optional>
#include <random>

#include "core/sys/tree.hpp"
#include "support/sim_disk.hpp"

namespace forebay::test {

class SimTree {
public:
    /// `device`: in the ids of what it holds. Two trees of one copy have two.
    explicit SimTree(std::uint64_t device = 1);
    /// A disk with the same content, synced and unsynced, with power.
    SimTree(const SimTree& other);
    SimTree& operator=(const SimTree&) = delete;

    /// A folder of the root, made where it is missing.
    std::shared_ptr<sys::Folder> folder(const std::string& name);
    void crash_before(std::uint64_t operation) { crash_ = operation; }
    /// Syncs answer that bytes could not be written.
    void fail_syncs() { fails_syncs_ = true; }
    std::uint64_t operations() const { return operations_; }
    /// Of the file system, that went well.
    std::uint64_t syncs() const { return syncs_; }
    SimDisk& disk() { return disk_; }

    /// For the folders and files of this tree.
    Result<> power() const;
    Result<> begin_change();
    bool fails_syncs() const { return fails_syncs_; }
    void settle() {
        ++syncs_;
        disk_.settle();
    }
    NodePtr make_node(sys::EntryKind kind, std::uint32_t permissions);
    sys::EntryStatus status_of(const NodePtr& node) const;
    sys::FileTime tick() { return {.seconds = ++seconds_, .nanoseconds = 5}; }

private:
    SimDisk disk_;
    std::uint64_t operations_ = 0, syncs_ = 0;
    std::optional<std::uint64_t> crash_;
    bool fails_syncs_ = false;
    std::uint64_t device_, last_number_ = 1;
    std::int64_t seconds_ = 1'000'000;
};

}  // namespace forebay::test
