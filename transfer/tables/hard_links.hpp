// Source inodes with several names, over the whole tree and all threads. The thread that meets an inode first copies
// it; each further name becomes a hard link of the copy. An inode is kept until all its names were met. Copied inodes
// stay in memory up to a limit, then go to a spill file. If that file has no room, the next take() fails and nothing
// known is lost.
//
// Threads: any. No thread waits: if the first name is still being copied, a further name is stored, and the thread of
// the first name links it.
//
// In a group of workers each process has a table of the names that it meets itself. It asks once for each inode if
// another process has it. Until the answer comes all names of the inode wait.

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

/// A waiting name takes up to 1 KB with its directories. When this many names wait, their copies should be finished.
inline constexpr std::size_t waiting_names_max = 16'384;

class HardLinks {
public:
    enum class Turn { first, ready, waits };
    /// For an inode met for the first time: asks if another process has it. Returns `waits` if the answer comes later
    /// by granted() or found(). `existing` is a target inode with several names, or 0.
    using Ask = std::function<Result<Turn>(const sys::EntryStatus& status, const sys::EntryId& existing,
                                           const EntryPlace& own, EntryPlace& at)>;
    /// Called with the place of the copy. `at.dir_node` is null if the copy failed.
    using Tell = std::function<void(const sys::EntryId& id, const EntryPlace& at)>;

    explicit HardLinks(const TableLimits& limits = {})
        : memory_max_(limits.inodes),
          spilled_(limits.inode_bytes),
          places_(limits.place_bytes),
          claimed_(limits.inode_bytes) {}

    /// Call it before any other function, or while no work runs.
    void share_with_others(Ask ask, Tell tell);

    /// The id of an inode in this table. A later inode with the same number has another id.
    sys::EntryId id_of(const sys::EntryStatus& status) const;
    /// `first`: copy it, then call published() or failed(). `ready`: `at` is the name of the copy. `waits`: published()
    /// or failed() of the first name returns `own`.
    Result<Turn> take(const sys::EntryStatus& status, const sys::EntryId& existing, const EntryPlace& own,
                      EntryPlace& at);
    /// Number of waiting names.
    std::size_t waiting() const { return waiting_; }
    /// False if take() would return `first`. Only looks at inodes in memory: a read for each entry would cost more than
    /// it saves.
    bool knows(std::uint64_t listed_number) const;
    /// The copy has its name. Returns the names that wait for it.
    std::vector<EntryPlace> published(const sys::EntryId& id, const EntryPlace& at);
    /// Another process has the copy at `at`. Returns the names that wait for it.
    std::vector<EntryPlace> found(const sys::EntryId& id, const EntryPlace& at);
    /// No other process has it. Returns the waiting names: the next of them to call take() is the first.
    std::vector<EntryPlace> granted(const sys::EntryId& id);
    /// Ends a grant that no name used.
    void take_grant_back(const sys::EntryId& id);
    /// For a name that could not be linked to `at`: it will call take() again later.
    void asks_again(const sys::EntryId& id, const EntryPlace& at);
    /// The copy failed. Returns the waiting names; another of them should try.
    std::vector<EntryPlace> failed(const sys::EntryId& id);

    /// Claims an inode that was at the target before for `source`. Returns false if another source inode has it: one
    /// inode of the target cannot be two files of the source.
    Result<bool> claim_target(const sys::EntryId& target, const sys::EntryId& source);

private:
    struct Links {
        EntryPlace at;  // dir_node is null: not copied yet
        std::uint64_t names_left = 0;
        bool is_granted = false;
        std::vector<EntryPlace> waiting;
    };

    /// Finds inodes by number, without the device.
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

    /// For a copied inode.
    struct SpilledLinks {
        std::uint64_t place = 0, names_left = 0;
    };

    Result<Turn> take_spilled(const sys::EntryId& id, SpilledLinks links, const EntryPlace& own, EntryPlace& at);
    Result<> spill(const sys::EntryId& id, const Links& links);
    std::vector<EntryPlace> take_waiting(Links& links);

    const std::size_t memory_max_;  // most copied inodes in links_
    std::atomic<std::size_t> waiting_{0};
    mutable std::mutex mutex_;  // guards the members below
    std::unordered_map<sys::EntryId, Links, HashOfNumber, SameInode> links_;
    InodeMap<SpilledLinks> spilled_;
    SpilledPlaces places_;
    Result<> spill_failed_;
    InodeMap<sys::EntryId> claimed_;
    Ask ask_;
    Tell tell_;
};

}  // namespace forebay::tree
