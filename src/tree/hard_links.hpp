// Inodes of the source that have several names, over the whole tree and all threads: whoever meets one first copies it,
// all others give the copy further names. Only such inodes are kept, and only until all their names were met.
//
// Threads: any. Nobody waits: who comes while the first still copies leaves its name, and the first links it.
//
// Of a team each process has such a table of the names that it meets itself, and asks once for each inode whether
// another process has it; until the answer comes all names of it wait.

#pragma once

#include <functional>
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
    /// Says of an inode that is met first where others have it; `waits` where the answer comes later, by granted() or
    /// found(). `existing` is an inode of the target of several names, or 0.
    using Ask = std::function<Turn(const sys::EntryId& id, const sys::EntryId& existing, const EntryPlace& own,
                                   EntryPlace& at)>;
    /// Hears where the first one's copy is, or that there is none: no branch.
    using Tell = std::function<void(const sys::EntryId& id, const EntryPlace& at)>;

    /// Before anything else, or while nothing is under way.
    void share_with_others(Ask ask, Tell tell);

    /// `first`: copy it, then call published() or failed(). `ready`: `at` becomes the name that has it. `waits`: the
    /// first one gets `own` back from one of both.
    Turn take(const sys::EntryStatus& status, const sys::EntryId& existing, const EntryPlace& own, EntryPlace& at);
    /// Whether take() would not say `first`.
    bool knows(const sys::EntryId& id) const;
    /// The copy has its name: those that wait for it.
    std::vector<EntryPlace> published(const sys::EntryId& id, const EntryPlace& at);
    /// Others have it at `at`: those that wait for it.
    std::vector<EntryPlace> found(const sys::EntryId& id, const EntryPlace& at);
    /// No other has it: those that wait, of which the next to take it is the first.
    std::vector<EntryPlace> granted(const sys::EntryId& id);
    /// None of them took it.
    void take_grant_back(const sys::EntryId& id);
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
        bool is_granted = false;
        std::vector<EntryPlace> waiting;
    };

    struct Hash {
        std::size_t operator()(const sys::EntryId& id) const { return id.number * 0x9e37'79b9'7f4a'7c15u ^ id.device; }
    };

    mutable std::mutex mutex_;
    std::unordered_map<sys::EntryId, Links, Hash> links_;
    std::unordered_map<sys::EntryId, sys::EntryId, Hash> claimed_;
    Ask ask_;
    Tell tell_;
};

}  // namespace forebay::tree
