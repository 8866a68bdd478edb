// Names in folders of the target, kept beside memory: each folder once, with its inode, so that one which was replaced
// meanwhile is not taken for it.
//
// Threads: one at a time.

#pragma once

#include <unordered_map>

#include "tree/branch.hpp"
#include "tree/spill_texts.hpp"

namespace forebay::tree {

struct EntryPlace {
    BranchRef branch;
    std::string name;
};

class SpilledPlaces {
public:
    Result<std::uint64_t> put(const EntryPlace& place);
    /// The same place, by branches that nothing else is done in; `any` is another branch of the tree.
    Result<EntryPlace> get(std::uint64_t at, const BranchRef& any);

private:
    struct Spilled {
        std::uint64_t above = 0;  // the folder that it lies in; 0: the root
        sys::EntryId id;          // of the target's folder
        std::string name;
    };

    Result<std::uint64_t> put(const Spilled& spilled);
    Result<Spilled> read(std::uint64_t at);

    SpillTexts texts_;
    std::unordered_map<std::uint64_t, BranchRef> folders_;  // the last ones that were asked for
};

}  // namespace forebay::tree
