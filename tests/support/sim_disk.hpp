// The content of a simulated disk: now, and after a power cut.
//
// A file has its current bytes, its durable bytes, and the ordered list of writes between them. A directory has the
// same for names. A name operation (create, remove, rename) becomes durable when a directory of it is synced; a write
// becomes durable when its file is synced. No call here fails: SimStore decides which calls fail.

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
    struct Change {  // a write; if is_cut, a cut to `offset` bytes
        std::uint64_t offset = 0;
        Bytes data;
        bool is_cut = false;
        int writer = 0;  // the open file of this change
    };

    bool is_directory = false;
    sys::EntryStatus about{};  // of entries of trees (SimTree); durable at once
    std::string link_text{};
    std::map<std::string, std::string> attributes{};
    Bytes bytes;
    Bytes durable_bytes;
    std::vector<Change> changes;
    std::map<std::string, std::shared_ptr<SimNode>> names;
    std::map<std::string, std::shared_ptr<SimNode>> durable_names;
};

using NodePtr = std::shared_ptr<SimNode>;

/// The unsynced state that survives a power cut.
struct Survivors {
    bool names = false;
    bool bytes = false;
};

class SimDisk {
public:
    SimDisk();
    SimDisk(const SimDisk& other);  // deep copy: the copies share nothing
    SimDisk& operator=(const SimDisk&) = delete;

    const NodePtr& root() const { return root_; }

    void write(SimNode& file, std::uint64_t offset, std::span<const std::byte> data, int writer);
    void cut(SimNode& file, std::uint64_t bytes, int writer);
    /// Syncs the changes of one open file. Each machine that writes a file must sync it itself.
    void sync_file(SimNode& file, int writer);
    /// A failed write-back: the kernel marks the pages clean, so no later sync writes them.
    void write_off(SimNode& file, int writer);

    void add_name(const NodePtr& directory, const std::string& name, const NodePtr& node);
    void remove_name(const NodePtr& directory, const std::string& name);
    void move_name(const NodePtr& from_directory, const std::string& from, const NodePtr& to_directory,
                   const std::string& to);
    void sync_names(const NodePtr& directory);

    void power_cut(Survivors kept);
    /// A coin decides for each unsynced name operation, each 512-byte sector of an unsynced write and each new file
    /// length if it survives.
    void power_cut(std::mt19937_64& random);
    /// Everything becomes durable.
    void settle();

private:
    struct NameChange {
        NodePtr from_directory;  // null: the name is new
        std::string from;
        NodePtr to_directory;  // null: the name is removed
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
