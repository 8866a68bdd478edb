// One node's memory, a target that loses what was not synced, the programs between them, and the ledger of what they
// have promised. The programs are the real ones (drain_node_file, commit_if_complete, prune, recover); a save is the
// acts of the ranks and of the seal, page by page, on the staged image.
//
// Every operation of memory and of the target is numbered from 0; cut_before(n) ends the programs before operation n.
// A World is a value: a copy shares nothing that changes.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/sim_store.hpp"
#include "support/small_run.hpp"

namespace forebay::crash {

/// The programs as they are, or with a mistake.
struct Programs {
    /// The store that they see: null for the disk itself, else a wrong one between.
    std::function<std::unique_ptr<sys::Store>(sys::Store&)> make_store = {};
    bool seal_first = false;  // the ranks' pages come after the seal
};

/// How the programs end, and what outlives that.
struct Ending {
    enum class Kind { killed, power } kind = Kind::killed;
    /// Of a power cut: 0 to 3 keep all or nothing of unsynced names (1) and bytes (2); others are seeds of torn ones.
    std::uint64_t seed = 0;
};

class World {
public:
    World(std::uint64_t seed, Programs programs);
    World(const World& other);
    World& operator=(const World&) = delete;

    // The acts. Each ends early when the programs are cut; an error of the target is counted, and is no promise.
    void save(const test::SmallSnapshot& snapshot, int slot = 0);
    void drain(const test::SmallSnapshot& snapshot, std::uint32_t node, int slot = 0);
    /// As the agent does: with a view of what it has committed.
    void commit(const test::SmallSnapshot& snapshot);
    void prune(int keep);
    void recover(bool remove_incomplete);
    /// Agents that have just come drain and commit whatever is sealed in memory.
    void take_over();
    /// One call of the target in `one_in` fails from now on, until the programs end; 0: none.
    void fail_by_seed(std::uint64_t seed, int one_in);

    int operations() const { return memory_operations_ + disk_->operations(); }
    void cut_before(int operation);
    bool cut() const { return memory_cut_ || disk_->crashed(); }
    void end(const Ending& ending);

    /// What is wrong with what the target shows now, measured by what was promised; nothing when all is well. Until it
    /// is `recovered`, a save that was being replaced may lie aside.
    std::vector<std::string> judge(bool recovered) const;
    /// Whatever was sealed in memory when the programs were killed, and is not at the target.
    std::vector<std::string> lost_from_memory() const;
    /// Names at the target that are no part of a committed snapshot. Without `stale`, incomplete parts and temporary
    /// files may stay.
    std::vector<std::string> leftovers(bool stale) const;
    /// Every name at the target with the size and checksum of its bytes.
    std::vector<std::string> contents() const;
    /// Errors of acts since the last end that no cut explains.
    const std::vector<std::string>& errors() const { return errors_; }

private:
    using Bytes = std::vector<std::byte>;
    struct Ledger {
        std::vector<test::SmallSnapshot> saves;               // begun
        std::map<std::int64_t, test::SmallSnapshot> durable;  // by step: the last one called committed
        std::set<std::int64_t> may_vanish;                    // steps that a prune was about to remove
        std::set<std::uint64_t> removed;                      // ids that a prune called removed
    };

    sys::Store& store();
    void fault(const Error& error);
    bool memory_operation();
    const test::SmallSnapshot* save_of(std::uint64_t id) const;
    /// The save in a directory of the stream, by its manifest; null without one, or when nobody has made it.
    const test::SmallSnapshot* save_in(const std::string& name) const;
    const test::SmallSnapshot* committed_at(std::int64_t step) const;
    std::string judge_snapshot(const catalog::Snapshot& found) const;
    std::string judge_promise(const test::SmallSnapshot& promised, bool recovered) const;

    Programs programs_;
    std::uint64_t seed_;
    std::unique_ptr<test::SimStore> disk_;
    std::unique_ptr<sys::Store> store_;  // of the programs that live now
    std::map<std::pair<std::uint32_t, int>, Bytes> memory_;
    Ledger ledger_;
    int memory_operations_ = 0;
    int cut_at_ = -1;
    bool memory_cut_ = false;
    std::vector<std::string> errors_;
};

inline const std::string run = "run7";

/// The bytes of a view of a save.
std::string view_text(const test::SmallSnapshot& snapshot);

/// What a save gives one node; the same for every World, so made once.
const std::vector<std::byte>& image_of(const test::SmallSnapshot& snapshot, std::uint32_t node);

}  // namespace forebay::crash
