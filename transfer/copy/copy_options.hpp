// The options of a copy, each once: name, help, verbs and member. The command line and the order for workers follow
// from this list.
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

/// Policy for an entry with a part that the target cannot store: an owner that only root may set, a device.
enum class CannotKeep {
    refuse,    // the entry is not copied
    manifest,  // it is copied without that part, which goes to the manifest
    drop,      // it is copied without that part
};

struct Unkept {
    std::string path;
    std::string part;   // "fifo", "owner 5:5", "attribute user.a"
    std::string value;  // value of the attribute, or text of a symbolic link
    sys::EntryStatus status;
};

struct TreeCopyOptions {
    std::uint32_t threads = 1;
    EntryFilter filter{};
    WishedRef wished{};  // null: all
    Preserve preserve{};
    CannotKeep cannot_keep = CannotKeep::refuse;
    std::function<Result<>(const Unkept&)> manifest{};
    std::uint64_t rate_bytes_per_second = 0;  // 0: no limit
    move::Turn* shared_turn = nullptr;        // limit shared by all copies with this turn
    bool one_file_system = false;
    bool removes_extra = false;              // removes target entries missing in the source; never after an error
    std::uint64_t removed_max = UINT64_MAX;  // if more entries would go, none goes
    bool allows_empty = false;               // an empty source; otherwise nothing is removed, as it may be unmounted
    bool allows_unlike = false;      // a target without a name of the source; otherwise it is taken for a wrong path
    bool compares_bytes = false;     // of existing files of equal size
    bool trusts_attributes = false;  // if the target's entry is newer than all changes of the source's
    bool verifies = false;           // reads written files back and compares them
    bool recalls = false;            // also reads files with bytes only in an archive (HSM)
    bool is_dry = false;
    /// Syncs the target's file system before names are set and at the end: a power cut leaves only complete files.
    bool syncs = true;
    bool is_locked = false;  // the caller holds the lock on the target and does more there
    bool is_run = false;     // the root is a run, and the caller handles its marks, see EntryEvent::as_files
    NamingLimits naming{};
    TableLimits tables{};
    RequestedLayout layout{};
    std::function<void(const CopyCounts&)> watch{};
    Coordinator* lead = nullptr;  // coordinator of other processes that share the work
};

/// Bits for the verbs that have an option.
inline constexpr unsigned of_copy = 1, of_sync = 2, of_archive = 4, of_restore = 8;

struct CopyOption {
    const char* name;     // on the command line after "--", and in the order for a worker
    const char* meaning;  // for the help
    unsigned verbs = 0;   // 0: a flag of all verbs of trees, or no flag
    bool is_told = true;  // sent to each process of a group
};

struct Switch {};
/// A flag that turns a default off.
struct NotSwitch {};
struct BytesARate {};
/// A number without a default.
struct CountAtMost {};
struct PreservedParts {};
struct KeepPolicy {};
struct LayoutRules {};
struct StorageTargets {};
struct PatternList {};

/// `options` is TreeCopyOptions, const or not.
template <class Options, class Visit>
void each_copy_option(Options& options,
                      Visit&& visit) requires std::is_same_v<std::remove_const_t<Options>, TreeCopyOptions> {
    // A new member does not compile before it is listed here. The program sets members without a line below.
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
