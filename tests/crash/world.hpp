// Nodes' memory, a target that loses what was not synced, the programs between them, and the ledger of what they have
// promised. The programs are the real ones (drain_node_file, commit_if_complete, commit_batch, prune, claim, recover);
// a save is the acts of the ranks and of the seal, page by page, on the staged image. The target holds a run with an
// identity and one session, number 1. Wall clocks jump by hours from save to save, as `seed` says.
//
// Every operation of memory and of the target is numbered from 0; cut_before(n) ends the programs before operation n.
// A World is a value: a copy shares nothing that changes.

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

/// The programs as they are, or with a mistake.
struct Programs {
    /// The store that they see: null for the disk itself, else a wrong one between.
    std::function<std::unique_ptr<sys::Store>(sys::Store&)> make_store = {};
    bool seal_first = false;  // the ranks' pages come after the seal
    /// What the records of a save say, when that is not what the save is; null: what it is.
    std::function<test::SmallSnapshot(test::SmallSnapshot)> recorded = {};
    /// Which of the living snapshots a restart takes; null: the first that can be read.
    std::function<const catalog::Version*(const std::vector<catalog::Version>&)> choose = {};
    std::string batches = "packed-here";  // the stream of all packers
    /// Retention; null: catalog::prune().
    std::function<Result<catalog::Pruned>(sys::Store&, const catalog::Retention&)> prune = {};
};

/// How the programs end, and what outlives that.
struct Ending {
    enum class Kind { killed, power } kind = Kind::killed;
    /// Of a power cut: see SimStore::reboot_by().
    std::uint64_t seed = 0;
};

class World {
public:
    World(std::uint64_t seed, Programs programs);
    World(const World& other);
    World& operator=(const World&) = delete;

    // The acts. Each ends early when the programs are cut; an error of the target is counted, and is no promise.
    void save(const test::SmallSnapshot& snapshot, int slot = 0);
    /// As the agent does, which looks first whether the run is still there; `has_looked`: it did so before.
    void drain(const test::SmallSnapshot& snapshot, std::uint32_t node, int slot = 0, bool has_looked = false);
    /// As the agent does: with a view of what it has committed.
    void commit(const test::SmallSnapshot& snapshot);
    /// As an analysis does that has found the snapshot bad.
    void mark(const test::SmallSnapshot& snapshot);
    void prune(const catalog::Retention& what);
    /// Goes back for good to `step`, as a session of its own.
    void prune_above(std::int64_t step);
    void prune_line(const format::Line& line);
    void recover(bool remove_incomplete);
    /// Agents that have just come drain and commit whatever is sealed in memory, and pack what is in the spools.
    void take_over();
    /// One call of the target in `one_in` fails from now on, until the programs end; 0: none.
    void fail_by_seed(std::uint64_t seed, int one_in);

    /// The number of a new session; nothing when it was cut.
    std::optional<std::uint32_t> claim();
    /// Another session claims the run, and ends, before operation `at` of this claim.
    void claim_around(int at);
    void end_run_lock(std::uint32_t session);

    /// A program of `host` puts a finished file into its spool.
    void put(const std::string& host, const std::string& path);
    /// All that is there becomes a batch that is not committed, under `step`, else under the next one.
    void begin_batch(const std::string& host, std::optional<std::int64_t> step = {});
    /// It is committed, and then its files go from the spool.
    void finish_batch(const std::string& host);

    /// A person puts the directory of another run in the place of this one, and all is durable.
    void replace_run();

    // What scripts go by. None of it is an operation.
    std::uint64_t run_id() const { return run_id_; }
    std::uint64_t new_id() const { return 0x100 + ledger_.saves.size(); }
    std::int64_t time_of(std::uint64_t id) const;
    /// What a restart below step `below` takes.
    std::optional<format::ManifestHead> newest(std::int64_t below) const;

    int operations() const { return memory_operations_ + disk_->operations(); }
    void cut_before(int operation);
    bool cut() const { return memory_cut_ || disk_->crashed(); }
    void end(const Ending& ending);

    /// What is wrong with what the target shows now, measured by what was promised; nothing when all is well. Until it
    /// is `recovered`, a save that was being replaced may lie aside.
    std::vector<std::string> judge(bool recovered) const;
    /// Whatever was sealed or put into a spool when the programs were killed, and is not at the target.
    std::vector<std::string> lost_from_memory() const;
    /// Names at the target that are no part of a committed snapshot, of a claim or of a line. Without `stale`,
    /// incomplete parts and temporary names may stay.
    std::vector<std::string> leftovers(bool stale) const;
    /// Every name at the target with the size and checksum of its bytes.
    std::vector<std::string> contents() const;
    /// Errors of acts since the last end that no cut explains.
    const std::vector<std::string>& errors() const { return errors_; }

private:
    using Bytes = std::vector<std::byte>;
    struct Begun {  // by a packer that lives
        commit::BatchPart part;
        Batch batch;
    };

    sys::Store& store();
    void fault(const Error& error);
    bool memory_operation();
    /// The ids of all that is committed in the stream, as `disk` has it.
    /// Whether a part or a committed snapshot of that save is at the target.
    bool is_there(std::uint64_t id) const;
    std::set<std::uint64_t> ids_on(sys::Store& disk) const;
    /// Holds what retention would remove of the target against the rule of going-back.md, written down once more.
    void judge_retention(const catalog::Retention& what);
    Result<catalog::Pruned> pruned(sys::Store& store, const catalog::Retention& what) const;
    /// Plays an act of removal on a copy first, so that the ledger knows what may vanish; true when it was done.
    bool remove(const std::function<Result<catalog::Pruned>(sys::Store&)>& act);
    Result<std::uint32_t> claim_in(sys::Store& store);
    test::SmallSnapshot recorded(const test::SmallSnapshot& save) const;
    const catalog::Version* choose(const std::vector<catalog::Version>& living) const;
    std::optional<std::uint64_t> id_in(const std::string& directory) const;
    /// The save in a directory of the stream, by its manifest; null without one, or when nobody has made it.
    const test::SmallSnapshot* save_in(const std::string& name) const;
    /// The latest save of that one's step on its line that is committed; null without any.
    const test::SmallSnapshot* committed_like(const test::SmallSnapshot& save) const;
    std::string judge_snapshot(const catalog::Snapshot& snapshot) const;
    std::string judge_marks(const catalog::Snapshot& snapshot, const test::SmallSnapshot& save) const;
    std::string judge_files(const catalog::Snapshot& snapshot, const test::SmallSnapshot& save) const;
    std::string judge_bytes(const catalog::Snapshot& snapshot, const test::SmallSnapshot& save) const;
    std::string judge_promise(const test::SmallSnapshot& promised, bool recovered) const;
    std::vector<std::string> judge_lines(const catalog::History& history) const;
    std::string judge_choice(const catalog::History& history, bool recovered) const;
    /// Whether it lies aside, with nothing in its place or a later save.
    bool is_being_replaced(const test::SmallSnapshot& save) const;
    std::vector<std::string> judge_batches() const;
    const Batch* batch_of(std::uint64_t id) const;

    Programs programs_;
    std::uint64_t seed_;
    std::uint64_t run_id_;
    std::unique_ptr<test::SimStore> disk_;
    std::unique_ptr<sys::Store> store_;  // of the programs that live now
    std::map<std::pair<std::uint32_t, int>, Bytes> memory_;
    std::map<std::string, std::map<std::string, std::string>> spools_;  // by host; content by path
    std::map<std::string, Begun> packers_;                              // by host
    Ledger ledger_;
    int memory_operations_ = 0;
    int cut_at_ = -1;
    bool memory_cut_ = false;
    std::vector<std::string> errors_;
};

inline const std::string run = "run7", stream = "restart", stream_directory = run + "/" + stream;
inline constexpr std::uint32_t first_session = 1;

/// The bytes of a view of a save.
std::string view_text(const test::SmallSnapshot& snapshot);

/// All that tells one save from another, also of another World.
std::string key_of(const test::SmallSnapshot& snapshot);

/// What a save gives one node; the same for every World, so made once.
const std::vector<std::byte>& image_of(const test::SmallSnapshot& snapshot, std::uint32_t node);

/// The node file of a batch that has `step`.
std::vector<std::byte> image_of(const Batch& batch, const commit::BatchPart& part);

}  // namespace forebay::crash
