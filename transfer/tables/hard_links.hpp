// Inodes of the source that have several names, over the whole tree and all threads: whoever meets one first copies it,
// all others give the copy further names. Only such inodes are kept, and only until all their names were met. Those
// that have their copy are in memory up to a number, and beyond in a spill file; where that has no room, the next
// take() says so, and nothing that was known is lost.
//
// Threads: any. Nobody waits: who comes while the first still copies leaves its name, and the first links it.
//
// Of a team each process has such a table of the names that it meets itself, and asks once for each inode whether
// another process has it; until the answer comes all names of it wait.

#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/sys/tree.hpp"
#include "transfer/tables/inode_map.hpp"
#include "transfer/tables/spilled_places.hpp"

namespace forebay::tree {

/// Names that wait are up to 1 KB each, with their folders: when so many more wait, what they wait for should come.
inline constexpr std::size_t waiting_names_max = 16'384;

class HardLinks {
public:
    enum class Turn { first, ready, waits };
    /// Says of an inode that is met first where others have it; `waits` where the answer comes later, by granted() or
    /// found(). `existing` is an inode of the target of several names, or 0.
    using Ask = std::function<Result<Turn>(const sys::EntryStatus& status, const sys::EntryId& existing,
                                           const EntryPlace& own, EntryPlace& at)>;
    /// Hears where the first one's copy is, or that there is none: no branch.
    using Tell = std::function<void(const sys::EntryId& id, const EntryPlace& at)>;

    explicit HardLinks(const TableLimits& limits = {})
        : memory_max_(limits.inodes),
          spilled_(limits.inode_bytes),
          places_(limits.place_bytes),
          claimed_(limits.inode_bytes) {}

    /// Before anything else, or while nothing is under way.
    void share_with_others(Ask ask, Tell tell);

    /// By which an inode of several names is known here: another one that gets its number later has another.
    sys::EntryId id_of(const sys::EntryStatus& status) const;
    /// `first`: copy it, then call published() or failed(). `ready`: `at` becomes the name that has it. `waits`: the
    /// first one gets `own` back from one of both.
    Result<Turn> take(const sys::EntryStatus& status, const sys::EntryId& existing, const EntryPlace& own,
                      EntryPlace& at);
    /// How many names wait.
    std::size_t waiting() const { return waiting_; }
    /// Whether take() would not say `first`, of inodes in memory: a look into a file for each entry would cost more
    /// than it saves.
    bool knows(std::uint64_t listed_number) const;
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
    Result<bool> claim_target(const sys::EntryId& target, const sys::EntryId& source);

private:
    struct Links {
        EntryPlace at;  // no branch: not copied yet
        std::uint64_t names_left = 0;
        bool is_granted = false;
        std::vector<EntryPlace> waiting;
    };

    /// By their numbers they are found without what else is in an id.
    struct HashOfNumber {
        using is_transparent = void;
        std::size_t operator()(std::uint64_t number) const { return number * 0x9e37'79b9'7f4a'7c15u; }
        std::size_t operator()(const sys::EntryId& id) const { return (*this)(id.number); }
    };
    struct SameInode {
        using is_transparent = void;
        bool operator()(const sys::EntryId& id, const sys::EntryId& other) const { return id == other; }
        bool operator()(std::uint64_t number, const sys::EntryId& id) const { return number == id.number; }
        bool operator()(const sys::EntryId& id, std::uint64_t number) const { return number == id.number; }
    };

    /// Of an inode that has its copy.
    struct SpilledLinks {
        std::uint64_t place = 0, names_left = 0;
    };

    Result<Turn> take_spilled(const sys::EntryId& id, SpilledLinks links, const EntryPlace& own, EntryPlace& at);
    Result<> spill(const sys::EntryId& id, const Links& links);
    std::vector<EntryPlace> take_waiting(Links& links);

    const std::size_t memory_max_;  // inodes that have their copy, in links_
    std::atomic<std::size_t> waiting_{0};
    mutable std::mutex mutex_;  // guards what follows
    std::unordered_map<sys::EntryId, Links, HashOfNumber, SameInode> links_;
    InodeMap<SpilledLinks> spilled_;
    SpilledPlaces places_;
    Result<> spill_failed_;
    InodeMap<sys::EntryId> claimed_;
    Ask ask_;
    Tell tell_;
};

}  // namespace forebay::tree
