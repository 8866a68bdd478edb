// The options of a copy, each once: its name, its help, the verbs that have it, and its member. The command line and
// the order for the other processes of a team come from here.
//
// A new option is a member of TreeCopyOptions, a line of each_copy_option(), and the place that obeys it.
// each_copy_option() calls `visit(CopyOption, values, member)`; the type of `values` says how the option is written:
//
//   Switch      --verify            BytesARate    --rate 500M       PreservedParts  --preserve owner,times
//   NotSwitch   --no-sync           CountAtMost   --max-delete 3    KeepPolicy      --cannot-keep drop
//   LayoutRules  --layout 64M:1,-1    StorageTargets  --exclude-targets 14,OST0015    PatternList  --include '*.h5'

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/move/pace.hpp"
#include "forebay/result.hpp"
#include "transfer/copy/attributes.hpp"
#include "transfer/copy/requested_layout.hpp"
#include "transfer/tables/table_limits.hpp"
#include "transfer/walk/filter.hpp"
#include "transfer/walk/path_list.hpp"

namespace forebay::tree {

class Coordinator;
struct CopyCounts;

/// What becomes of an entry of which the target cannot hold a part: an owner that only root may give, a device.
enum class CannotKeep {
    refuse,    // the entry is not copied
    manifest,  // it is copied without that part, which the manifest has
    drop,      // it is copied without that part
};

struct Unkept {
    std::string path;
    std::string part;   // "fifo", "owner 5:5", "attribute user.a"
    std::string value;  // of the attribute; of a symbolic link its text
    sys::EntryStatus status;
};

struct TreeCopyOptions {
    std::uint32_t threads = 1;
    EntryFilter filter{};
    WishedRef wished{};  // null: all is meant
    Preserve preserve{};
    CannotKeep cannot_keep = CannotKeep::refuse;
    std::function<Result<>(const Unkept&)> manifest{};
    std::uint64_t rate_bytes_per_second = 0;  // 0: as fast as it goes
    move::Turn* shared_turn = nullptr;        // the limit is that of all copies with this turn
    bool one_file_system = false;
    bool removes_extra = false;              // what the target has and the source has not; never after an error
    std::uint64_t removed_max = UINT64_MAX;  // where more entries would go, none does
    bool allows_empty = false;               // a source without entries: else nothing is removed, it may be unmounted
    bool allows_unlike = false;      // a target without a name of the source: else it is taken for another place
    bool compares_bytes = false;     // of files that are there, of one size
    bool trusts_attributes = false;  // where a target's entry is newer than all changes of the source's
    bool verifies = false;           // what was written is read back and compared
    bool recalls = false;            // files whose bytes an archive alone has (HSM) are read too
    bool is_dry = false;
    /// The target's file system, before entries get their names and at the end: a power cut leaves whole ones alone.
    bool syncs = true;
    bool is_locked = false;  // the target, by the caller, who does more there than this copy
    bool is_run = false;     // the root: its caller sees to what makes it one, see EntryEvent::as_files
    NamingLimits naming{};
    TableLimits tables{};
    RequestedLayout layout{};
    std::function<void(const CopyCounts&)> watch{};
    Coordinator* lead = nullptr;  // of other processes that share the work
};

/// The verbs that have an option, as bits.
inline constexpr unsigned of_copy = 1, of_sync = 2, of_archive = 4, of_restore = 8;

struct CopyOption {
    const char* name;     // on the command line behind "--"; and where a worker is told of it
    const char* meaning;  // for the help
    unsigned verbs = 0;   // 0: its flag belongs to all verbs of trees, or it has none
    bool is_told = true;  // to each process of a team
};

struct Switch {};
/// A flag that takes a default away.
struct NotSwitch {};
struct BytesARate {};
/// A number that has no default.
struct CountAtMost {};
struct PreservedParts {};
struct KeepPolicy {};
struct LayoutRules {};
struct StorageTargets {};
struct PatternList {};

/// `options`: TreeCopyOptions, const or not.
template <class Options, class Visit>
void each_copy_option(Options& options,
                      Visit&& visit) requires std::is_same_v<std::remove_const_t<Options>, TreeCopyOptions> {
    // A member that is new does not compile here before it is named. What has no line below is set by the program.
    auto& [threads, filter, wished, preserve, cannot_keep, manifest, rate, shared_turn, one_file_system, removes_extra,
           removed_max, allows_empty, allows_unlike, compares_bytes, trusts_attributes, verifies, recalls, is_dry,
           syncs, is_locked, is_run, naming, tables, layout, watch, lead] = options;
    constexpr unsigned of_both = of_copy | of_sync, of_trees = of_both | of_restore, of_all = of_trees | of_archive;
    // The help lists options in this order: a first copy needs these three.
    visit(CopyOption{"dry-run", "Change nothing. Print what would be done", of_all}, Switch{}, is_dry);
    visit(CopyOption{"delete", "Remove entries that TARGET has and SOURCE lacks. After an error nothing is removed",
                     of_sync},
          Switch{}, removes_extra);
    visit(CopyOption{"rate", "Limit the rate to so many bytes a second. 0: no limit", of_all}, BytesARate{}, rate);
    visit(CopyOption{"include", ""}, PatternList{}, filter.include);
    visit(CopyOption{"exclude", ""}, PatternList{}, filter.exclude);
    visit(CopyOption{"one-file-system", "Do not enter other file systems mounted in the tree", of_both | of_archive},
          Switch{}, one_file_system);
    visit(CopyOption{"preserve",
                     "Keep all, none, or some of owner (with the group),group,permissions,times,attributes,hard-links. "
                     "An archive always has all except attributes and hard-links. A restore needs hard-links",
                     of_all},
          PreservedParts{}, preserve);
    visit(CopyOption{"cannot-keep",
                     "Choose what happens to an entry if the target cannot hold a part of it: refuse (the default "
                     "without --manifest), manifest or drop",
                     of_trees},
          KeepPolicy{}, cannot_keep);
    visit(CopyOption{"layout",
                     "Choose the Lustre layout of new files: auto, default (of their directory), source, or stripes by "
                     "size as in 64M:1,1G:4,-1 (-1: one on each storage target)",
                     of_trees},
          LayoutRules{}, layout);
    visit(
        CopyOption{"exclude-targets",
                   "Put no new file on these OSTs of Lustre: 14,OST0015, or @FILE, the exclude.targets of a preflight",
                   of_trees},
        StorageTargets{}, layout.excluded_targets);
    visit(CopyOption{"recall", "Also read files whose bytes are only in an archive (HSM of Lustre). This recalls them",
                     of_both | of_archive},
          Switch{}, recalls);
    visit(
        CopyOption{"verify", "Read each file, or the archive, back from storage and compare it before it gets its name",
                   of_both | of_archive},
        Switch{}, verifies);
    visit(CopyOption{"allow-unlike",
                     "Fill TARGET, or let --delete empty it, even if TARGET and SOURCE have no entry in common",
                     of_both, false},
          Switch{}, allows_unlike);
    visit(CopyOption{"no-sync", "Do not wait for the storage. A power cut may then leave names without their bytes",
                     of_all},
          NotSwitch{}, syncs);
    visit(CopyOption{"max-delete", "Let --delete remove nothing if it would remove more entries than this", of_sync,
                     false},
          CountAtMost{}, removed_max);
    visit(CopyOption{"allow-empty",
                     "Let --delete empty TARGET even if SOURCE is empty, or its stream has no snapshot. Otherwise this "
                     "is refused, as SOURCE may be unmounted",
                     of_sync, false},
          Switch{}, allows_empty);
    visit(CopyOption{"checksum", "Compare the bytes of files of equal size, and copy only files that differ", of_sync},
          Switch{}, compares_bytes);
    visit(CopyOption{"quick",
                     "Skip ACLs and other extended attributes of entries that the source changed before the target did",
                     of_sync},
          Switch{}, trusts_attributes);
    visit(CopyOption{"is-run", ""}, Switch{}, is_run);
}

}  // namespace forebay::tree
