// A tree of files on a simulated disk behind sys::Folder. It loses unsynced data. Attributes and times are durable at
// once. That is the worst case: a file with its size and time but without its bytes looks whole.
//
// Each changing call is one operation, numbered from 0. crash_before(n) cuts the power before operation n: it and all
// later calls fail. One thread at a time.

#pragma once

#include <memory>
#include <optional>
#include <random>

#include "core/sys/tree.hpp"
#include "support/sim_disk.hpp"

namespace forebay::test {

class SimTree {
public:
    /// `device` becomes part of the ids. Use two values for the two trees of a copy.
    explicit SimTree(std::uint64_t device = 1);
    /// A powered disk with the same content, synced and unsynced.
    SimTree(const SimTree& other);
    SimTree& operator=(const SimTree&) = delete;

    /// A directory of the root. Makes it if it is missing.
    std::shared_ptr<sys::Folder> folder(const std::string& name);
    void crash_before(std::uint64_t operation) { crash_ = operation; }
    /// Every sync reports that bytes could not be written.
    void fail_syncs() { fails_syncs_ = true; }
    std::uint64_t operations() const { return operations_; }
    /// The number of successful syncs of the file system.
    std::uint64_t syncs() const { return syncs_; }
    SimDisk& disk() { return disk_; }

    /// For the directories and files of this tree.
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
