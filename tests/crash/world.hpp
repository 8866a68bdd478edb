// The memory of nodes, a target that loses unsynced data, the programs between them, and the ledger of their promises.
// The programs are the real functions (drain_node_file, commit_if_complete, commit_batch, prune, claim, recover). A
// save copies the pages of the ranks and then the seal into the staged image. The target holds a run with an identity
// and one session, number 1. Wall clocks jump by hours between saves; `seed` decides by how much.
//
// Every operation on memory and the target is numbered from 0. cut_before(n) ends the programs before operation n. A
// World is a value: copies share no mutable state.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "crash/ledger.hpp"
#include "path/catalog/history.hpp"
#include "path/commit/commit_batch.hpp"
#include "support/sim_store.hpp"
#include "support/small_run.hpp"

namespace forebay::crash {

/// The programs, either right or with a mistake.
struct Programs {
    /// Makes the store of the programs, such as a mutant. Null: the disk itself.
    std::function<std::unique_ptr<sys::Store>(sys::Store&)> make_store = {};
    bool seal_first = false;  // the seal comes before the ranks' pages
    /// Changes the records of a save. Null: the records are right.
    std::function<test::SmallSnapshot(test::SmallSnapshot)> recorded = {};
    /// Selects the living snapshot for a restart. Null: the first readable one.
    std::function<const catalog::Version*(const std::vector<catalog::Version>&)> choose = {};
    std::string batches = "packed-here";  // stream of all packers
    /// Retention. Null: catalog::prune().
    std::function<Result<catalog::Pruned>(sys::Store&, const catalog::Retention&)> prune = {};
};

/// How the programs end, and which data survive.
struct Ending {
    enum class Kind { killed, power } kind = Kind::killed;
    /// For a power cut: the way of SimStore::reboot_by().
    std::uint64_t seed = 0;
};

class World {
public:
    World(std::uint64_t seed, Programs programs);
    World(const World& other);
    World& operator=(const World&) = delete;

    // The acts. Each stops early at a cut. An error of the target is recorded and promises nothing.
    void save(const test::SmallSnapshot& snapshot, int slot = 0);
    /// Drains like an agent, which first checks if the run is still there. With `has_looked` that check came earlier.
    void drain(const test::SmallSnapshot& snapshot, std::uint32_t node, int slot = 0, bool has_looked = false);
    /// Commits like an agent, and writes a view if this call committed.
    void commit(const test::SmallSnapshot& snapshot);
    /// Marks like an analysis that found the snapshot bad.
    void mark(const test::SmallSnapshot& snapshot);
    void prune(const catalog::Retention& what);
    /// Goes back to `step` for good, in a session of its own.
    void prune_above(std::int64_t step);
    void prune_line(const format::Line& line);
    void recover(bool remove_incomplete);
    /// New agents drain and commit all sealed slots, and pack all files of the spools.
    void take_over();
    /// From now on one call of the target in `one_in` fails, until the programs end. 0: no faults.
    void fail_by_seed(std::uint64_t seed, int one_in);

    /// The number of a new session; empty if the claim was cut.
    std::optional<std::uint32_t> claim();
    /// Another session claims the run and ends before operation `at` of this claim.
    void claim_around(int at);
    void end_run_lock(std::uint32_t session);

    /// A program of `host` puts a finished file into its spool.
    void put(const std::string& host, const std::string& path);
    /// Packs all files of the spool into an uncommitted batch at `step`, or at the next step.
    void begin_batch(const std::string& host, std::optional<std::int64_t> step = {});
    /// Commits the batch, then removes its files from the spool.
    void finish_batch(const std::string& host);

    /// A user replaces the run's directory by another run. Everything is durable afterwards.
    void replace_run();

    // Queries for scripts. They are no operations.
    std::uint64_t run_id() const { return run_id_; }
    std::uint64_t new_id() const { return 0x100 + ledger_.saves.size(); }
    std::int64_t time_of(std::uint64_t id) const;
    /// The snapshot that a restart below step `below` takes.
    std::optional<format::ManifestHead> newest(std::int64_t below) const;

    int operations() const { return memory_operations_ + disk_->operations(); }
    void cut_before(int operation);
    bool cut() const { return memory_cut_ || disk_->crashed(); }
    void end(const Ending& ending);

    /// The faults of the target compared with the promises; empty if all is right. Until it is `recovered`, a replaced
    /// save may lie aside.
    std::vector<std::string> judge(bool recovered) const;
    /// Slots that were sealed and files that were put into a spool before the programs were killed, but are not at the
    /// target.
    std::vector<std::string> lost_from_memory() const;
    /// Names at the target that belong to no committed snapshot, claim or line. Without `stale`, incomplete parts and
    /// temporary names may stay.
    std::vector<std::string> leftovers(bool stale) const;
    /// Every path at the target with the size and checksum of its bytes.
    std::vector<std::string> contents() const;
    /// Errors of acts since the last end that no cut explains.
    const std::vector<std::string>& errors() const { return errors_; }

private:
    using Bytes = std::vector<std::byte>;
    struct Begun {  // of a living packer
        commit::BatchPart part;
        Batch batch;
    };

    sys::Store& store();
    void fault(const Error& error);
    bool memory_operation();
    /// True if a part or a committed snapshot of that save is at the target.
    bool is_there(std::uint64_t id) const;
    /// The ids of all committed snapshots of the stream on `disk`.
    std::set<std::uint64_t> ids_on(sys::Store& disk) const;
    /// Compares the removals of a retention with a second implementation of the rule of going-back.md.
    void judge_retention(const catalog::Retention& what);
    Result<catalog::Pruned> pruned(sys::Store& store, const catalog::Retention& what) const;
    /// Plays the removal on a copy first, so that the ledger knows which snapshots may vanish. True if it was done.
    bool remove(const std::function<Result<catalog::Pruned>(sys::Store&)>& act);
    Result<std::uint32_t> claim_in(sys::Store& store);
    test::SmallSnapshot recorded(const test::SmallSnapshot& save) const;
    const catalog::Version* choose(const std::vector<catalog::Version>& living) const;
    std::optional<std::uint64_t> id_in(const std::string& directory) const;
    /// The save of a directory of the stream, by its manifest. Null without a manifest or for an unknown save.
    const test::SmallSnapshot* save_in(const std::string& name) const;
    /// The latest committed save of the same step and line. Null without one.
    const test::SmallSnapshot* committed_like(const test::SmallSnapshot& save) const;
    std::string judge_snapshot(const catalog::Snapshot& snapshot) const;
    std::string judge_marks(const catalog::Snapshot& snapshot, const test::SmallSnapshot& save) const;
    std::string judge_files(const catalog::Snapshot& snapshot, const test::SmallSnapshot& save) const;
    std::string judge_bytes(const catalog::Snapshot& snapshot, const test::SmallSnapshot& save) const;
    std::string judge_promise(const test::SmallSnapshot& promised, bool recovered) const;
    std::vector<std::string> judge_lines(const catalog::History& history) const;
    std::string judge_choice(const catalog::History& history, bool recovered) const;
    /// True if the save lies aside, and its place is empty or has a later save.
    bool is_being_replaced(const test::SmallSnapshot& save) const;
    std::vector<std::string> judge_batches() const;
    const Batch* batch_of(std::uint64_t id) const;

    Programs programs_;
    std::uint64_t seed_;
    std::uint64_t run_id_;
    std::unique_ptr<test::SimStore> disk_;
    std::unique_ptr<sys::Store> store_;  // of the living programs
    std::map<std::pair<std::uint32_t, int>, Bytes> memory_;
    std::map<std::string, std::map<std::string, std::string>> spools_;  // by host, then content by path
    std::map<std::string, Begun> packers_;                              // by host
    Ledger ledger_;
    int memory_operations_ = 0;
    int cut_at_ = -1;
    bool memory_cut_ = false;
    std::vector<std::string> errors_;
};

inline const std::string run = "run7", stream = "restart", stream_directory = run + "/" + stream;
inline constexpr std::uint32_t first_session = 1;

/// The bytes of the view of a save.
std::string view_text(const test::SmallSnapshot& snapshot);

/// A key of all fields of a save, also across Worlds.
std::string key_of(const test::SmallSnapshot& snapshot);

/// The node file of a save. Equal in every World, so it is made once.
const std::vector<std::byte>& image_of(const test::SmallSnapshot& snapshot, std::uint32_t node);

/// The node file of the batch at the step of `part`.
std::vector<std::byte> image_of(const Batch& batch, const commit::BatchPart& part);

}  // namespace forebay::crash
