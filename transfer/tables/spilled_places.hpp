// Names in target directories, kept beside memory. A directory with many names is stored once, with its inode, so a
// directory that replaced it is detected.
//
// Threads: one at a time.

#pragma once

#include <unordered_map>

#include "transfer/tables/spill_texts.hpp"
#include "transfer/walk/dir_node.hpp"

namespace forebay::tree {

struct EntryPlace {
    DirNodeRef dir_node;
    std::string name;
};

class SpilledPlaces {
public:
    /// `memory_bytes` is the room for the first places.
    explicit SpilledPlaces(std::size_t memory_bytes) : texts_(memory_bytes) {}

    Result<std::uint64_t> put(const EntryPlace& place);
    /// The same place, with nodes of its own that no other work uses. `any` is any node of the tree: it leads to the
    /// root.
    Result<EntryPlace> get(std::uint64_t at, const DirNodeRef& any);

private:
    struct Spilled {
        std::uint64_t above = 0;  // place of the parent; 0: the root
        std::string name;
        sys::EntryId id{};  // inode of the target's directory
    };

    Result<Spilled> read(std::uint64_t at);
    Result<Spilled> read_folder(std::uint64_t at);

    struct Known {
        std::weak_ptr<DirNode> dir_node;  // expires when another node may reuse the address
        std::uint64_t at = 0;
    };

    SpillTexts texts_;
    std::unordered_map<const DirNode*, Known> known_;        // of recent calls of put()
    std::unordered_map<std::uint64_t, DirNodeRef> folders_;  // of recent calls of get()
};

}  // namespace forebay::tree
