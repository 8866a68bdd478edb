// What a simulated disk holds: now, and what of it would outlive a power cut.
//
// A file has the bytes that programs see, the bytes that are durable, and between them the writes in their order. A
// directory has the same of names. A name operation (create, remove, rename) is durable after a sync of a directory
// it touches; a write after a sync of its file. No call here fails: SimStore decides what is allowed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/sys/tree.hpp"

namespace forebay::test {

using Bytes = std::vector<std::byte>;

struct SimNode {
    struct Change {  // a write, or with no data a cut to `offset` bytes
        std::uint64_t offset = 0;
        Bytes data;
        bool is_cut = false;
        int writer = 0;  // the open file through which it came
    };

    bool is_directory = false;
    sys::EntryStatus about{};  // of entries of trees (SimTree): outlives a power cut at once
    std::string link_text{};
    std::map<std::string, std::string> attributes{};
    Bytes bytes;
    Bytes durable_bytes;
    std::vector<Change> changes;
    std::map<std::string, std::shared_ptr<SimNode>> names;
    std::map<std::string, std::shared_ptr<SimNode>> durable_names;
};

using NodePtr = std::shared_ptr<SimNode>;

/// What of the unsynced outlives the power cut.
struct Survivors {
    bool names = false;
    bool bytes = false;
};

class SimDisk {
public:
    SimDisk();
    SimDisk(const SimDisk& other);  // deep: the copies share nothing
    SimDisk& operator=(const SimDisk&) = delete;

    const NodePtr& root() const { return root_; }

    void write(SimNode& file, std::uint64_t offset, std::span<const std::byte> data, int writer);
    void cut(SimNode& file, std::uint64_t bytes, int writer);
    /// What came through one open file: a file that several machines write is synced by each for itself.
    void sync_file(SimNode& file, int writer);
    /// What the kernel does after a failed write-back: the pages count as clean, so no later sync writes them.
    void write_off(SimNode& file, int writer);

    void add_name(const NodePtr& directory, const std::string& name, const NodePtr& node);
    void remove_name(const NodePtr& directory, const std::string& name);
    void move_name(const NodePtr& from_directory, const std::string& from, const NodePtr& to_directory,
                   const std::string& to);
    void sync_names(const NodePtr& directory);

    void power_cut(Survivors kept);
    /// Each unsynced name operation, each 512-byte sector of each unsynced write and each new length of a file survives
    /// by the toss of a coin.
    void power_cut(std::mt19937_64& random);
    /// Everything becomes durable.
    void settle();

private:
    struct NameChange {
        NodePtr from_directory;  // null: a new name
        std::string from;
        NodePtr to_directory;  // null: removed
        std::string to;
        NodePtr node;
    };

    void record(NameChange change);
    static void apply(const NameChange& change, bool durable);
    void come_back(const NodePtr& node, const std::function<void(SimNode&)>& keep_bytes);

    NodePtr root_;
    std::vector<NameChange> changes_;
};

}  // namespace forebay::test
