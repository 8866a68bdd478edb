// Inodes of the source that have several names, over the whole tree and all threads: whoever meets one first copies it,
// all others give the copy further names. Only such inodes are kept, and only until all their names were met.
//
// Threads: any. Nobody waits: who comes while the first still copies leaves its name, and the first links it.

#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "sys/tree.hpp"
#include "tree/branch.hpp"

namespace forebay::tree {

struct EntryPlace {
    BranchRef branch;
    std::string name;
};

class HardLinks {
public:
    enum class Turn { first, ready, waits };

    /// `first`: copy it, then call published() or failed(). `ready`: `at` becomes the name that has it. `waits`: the
    /// first one gets `own` back from one of both.
    Turn take(const sys::EntryStatus& status, const EntryPlace& own, EntryPlace& at);
    /// Whether take() would not say `first`.
    bool knows(const sys::EntryId& id) const;
    /// The copy has its name: those that wait for it.
    std::vector<EntryPlace> published(const sys::EntryId& id, const EntryPlace& at);
    /// A name that was not linked to `at` yet asks once more, later.
    void asks_again(const sys::EntryId& id, const EntryPlace& at);
    /// It has none: those that wait, of which one should try.
    std::vector<EntryPlace> failed(const sys::EntryId& id);

    /// Whether an inode that was at the target before stands for this one of the source alone; an inode of the target
    /// cannot be two files of the source.
    bool claim_target(const sys::EntryId& target, const sys::EntryId& source);

private:
    struct Links {
        EntryPlace at;  // no branch: not copied yet
        std::uint64_t names_left = 0;
        std::vector<EntryPlace> waiting;
    };

    struct Hash {
        std::size_t operator()(const sys::EntryId& id) const { return id.number * 0x9e37'79b9'7f4a'7c15u ^ id.device; }
    };

    mutable std::mutex mutex_;
    std::unordered_map<sys::EntryId, Links, Hash> links_;
    std::unordered_map<sys::EntryId, sys::EntryId, Hash> claimed_;
};

}  // namespace forebay::tree
