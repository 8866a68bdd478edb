// Names in folders of the target, kept beside memory: of many in one folder that is there once, with its inode, so that
// another one which took its place is not taken for it.
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
    /// `memory_bytes`: of the first ones.
    explicit SpilledPlaces(std::size_t memory_bytes) : texts_(memory_bytes) {}

    Result<std::uint64_t> put(const EntryPlace& place);
    /// The same place, by branches that nothing else is done in; `any` is another branch of the tree.
    Result<EntryPlace> get(std::uint64_t at, const DirNodeRef& any);

private:
    struct Spilled {
        std::uint64_t above = 0;  // the folder that it lies in; 0: the root
        std::string name;
        sys::EntryId id{};  // of the target's folder
    };

    Result<Spilled> read(std::uint64_t at);
    Result<Spilled> read_folder(std::uint64_t at);

    struct Known {
        std::weak_ptr<DirNode> dir_node;  // another one may come to lie where it was
        std::uint64_t at = 0;
    };

    SpillTexts texts_;
    std::unordered_map<const DirNode*, Known> known_;        // of the last places that were put
    std::unordered_map<std::uint64_t, DirNodeRef> folders_;  // of the last ones that were asked for
};

}  // namespace forebay::tree
