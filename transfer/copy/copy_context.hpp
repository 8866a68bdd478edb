// What all parts of one copy share.

#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/move/pace.hpp"
#include "transfer/copy/branch.hpp"
#include "transfer/copy/copy.hpp"
#include "transfer/copy/file_data.hpp"
#include "transfer/copy/hard_links.hpp"
#include "transfer/copy/last_copy.hpp"
#include "transfer/copy/layouts.hpp"
#include "transfer/copy/naming.hpp"
#include "transfer/copy/pulse.hpp"
#include "transfer/copy/team.hpp"
#include "transfer/copy/work_share.hpp"

namespace forebay::tree {

/// An entry of the source with both folders that it is in. In a dry run the target's may be missing.
struct CopyEntry {
    BranchRef branch;
    FolderRef source, target;
    std::string name;
    sys::EntryId inode{};  // of the source, where it has several names: as HardLinks knows it

    std::string path() const { return path_of(*branch, name); }
};

/// What new entries have, as far as this process decides it.
struct ExpectedOwner : sys::NewEntryOwner {
    ExpectedOwner() : sys::NewEntryOwner(sys::new_entry_owner()) {}
    /// They are seen not to have it: a mount may give each the owner of its folder, or another.
    std::atomic<bool> is_unknown{false};
};

/// Between which places.
struct CopyPlaces {
    std::string temporary_prefix;
    std::string temporary_end{};  // of temporary names, where several processes copy at once
    LastCopy last_copy{};
    Clocks clocks{};
    FolderRef asked{};        // of the target, or the one that it is to be made in: what can be kept there
    bool has_others = false;  // the roots are folders of others, of which one entry is meant: they stay as they are
};

/// Nobody gives such permissions: who may write to a folder, and not go into it, may nothing.
inline constexpr std::uint32_t unfinished_folder = 01720;
/// Until they are marked so: what no umask takes away.
inline constexpr std::uint32_t unmarked_folder = 01700;
/// Of the folder above: its group is that of new entries.
inline constexpr std::uint32_t inherited_bit = 02000, sticky_bit = 01000;

class CopyContext {
public:
    CopyContext(const TreeCopyOptions& given_options, Remarks& given_remarks, CopyCounts& given_counts,
                CopyPlaces places)
        : options(given_options),
          remarks(given_remarks),
          counts(given_counts),
          links(given_options.tables),
          share(given_options.threads),
          layouts(given_options, given_counts, places.temporary_prefix),
          places_(std::move(places)),
          flow_(given_options.rate_bytes_per_second, given_options.shared_turn) {}

    /// The name under which an entry is made: the same in a later run between the same places, but for its end, which
    /// is the process's own: one that was taken for lost and comes back never publishes what another one makes.
    std::string temporary_name(const std::string& name) const;
    bool is_temporary(std::string_view name) const { return name.starts_with(places_.temporary_prefix); }
    /// Which of `leftovers` another process, or an earlier run, has made of this name.
    std::vector<std::string> others_temporaries(const std::string& name, std::span<const std::string> leftovers) const;

    /// Whether nobody has changed both since the last copy looked at their extended attributes; of the folder of an
    /// entry `branch`.
    bool is_untouched(const Branch& branch, const sys::EntryStatus& source, const sys::EntryStatus& target) const;
    /// Of a branch that was entered: whether other entries may have come into it by renames.
    bool is_untouched(const Branch& branch) const;

    /// Whether nothing of the source's entry was changed since the target's one was made or changed.
    bool is_older(const sys::EntryStatus& source, const sys::EntryStatus& target) const;
    bool source_may_be_older() const { return places_.clocks.source_may_be_older; }

    /// Says what became of a part of an entry, as CannotKeep wants it. An error: the entry is not to be copied.
    Result<> settle(const std::string& path, const sys::EntryStatus& status, const std::string& part,
                    const std::string& value, Result<> done);
    /// Before a file of the source is read. An error without words: it is left alone, see StoredLayouts.
    Result<> check_present(const Branch& branch, sys::Folder& source, const std::string& name);
    /// Into the manifest.
    Result<> take_unkept(const Unkept& unkept);
    /// Of an entry of `branch` that is taken: where it makes a folder a run of Forebay, that is said.
    void tell_run(const Branch& branch, const std::string& name) const;
    /// A whole entry gets its name, which is counted and recorded as `kind`, `copied` or `linked`.
    Result<> publish(TemporaryName& temporary, const EntryPlace& place, sys::Folder& folder, RemarkKind kind);
    /// It has its name.
    void count(const EntryPlace& place, RemarkKind kind, bool has_replaced);
    /// Before something is replaced: an error, which ends the copy, where a record of it cannot be kept.
    Result<> check_told();
    /// Of what was done, where a record of it is wished.
    void record(RemarkKind kind, const Branch& branch, const std::string& name) const {
        if (remarks.records(kind)) remarks.add(kind, path_of(branch, name), "");
    }
    /// Flags of an inode that no copy gets; of an entry of `branch`, or with an empty name of the branch itself.
    void tell_flags(const Branch& branch, const std::string& name, const sys::EntryStatus& status) const;
    /// An entry could not be copied. Without room nothing else can be either: the copy ends.
    void report(const std::string& path, const Error& error);
    /// The same of an entry of `branch`, or with an empty name of the branch itself: see OpenFolders::with_side().
    void report(const BranchRef& branch, const std::string& name, const Error& error);
    /// Before the work begins: `take` gets the path of each that is reported, from any thread.
    void tell_failed(std::function<void(const std::string& path)> take) { outcome_.take_failed = std::move(take); }
    Result<> fatal() const;
    void end_by(const Error& error);

    /// A folder stands at the target where the source has another entry: it goes when all else is done.
    void put_off(EntryPlace place);
    std::vector<EntryPlace> take_put_off();
    /// These folders are gone; in a dry run they still stand, and count as gone.
    void has_cleared() { outcome_.has_cleared = true; }
    bool counts_as_gone() const { return options.is_dry && outcome_.has_cleared; }
    /// There are more such folders than are held: the copy is made once more when these are replaced.
    void put_off_later();
    bool has_put_off_later() const;

    /// The target's folder of a branch; in a dry run none where it would be made.
    Result<FolderRef> target_folder(const BranchRef& branch) {
        return options.is_dry && branch->was_made ? FolderRef() : folders.get(branch, TreeSide::target);
    }
    /// With patterns to include a folder shows that a copy has made it, until it has its attributes; not where the file
    /// system keeps no permissions.
    void mark_unfinished(sys::Folder& made) const {
        if (options.filter.include.empty()) return;
        if (const auto now = made.status())
            static_cast<void>(made.set_permissions(unfinished_folder | (now->permissions & inherited_bit)));
    }
    bool is_unfinished(const sys::EntryStatus& folder) const {
        return (folder.permissions & ~inherited_bit) == unfinished_folder && folder.user == owner.user;
    }
    /// It may have been made by a run that was killed before it was marked: if it is empty.
    bool may_be_unmarked(const sys::EntryStatus& folder) const {
        return (folder.permissions & ~inherited_bit) == unmarked_folder && folder.user == owner.user;
    }
    std::uint32_t new_folder_permissions() const {
        return options.filter.include.empty() ? while_filled : unmarked_folder;
    }

    /// With patterns to include, folders that were there and hold nothing that fits are none of this copy's.
    bool keeps_attributes(const Branch& branch) const;
    /// Whether the root is nothing but where the one entry lies that is meant.
    bool is_of_others(const Branch& branch) const { return places_.has_others && !branch.parent; }
    /// A folder that says what can be kept of an entry; null where there is none.
    sys::Folder* target_of(const CopyEntry& entry) const {
        return entry.target ? entry.target.get() : places_.asked.get();
    }

    DataWay way();
    /// The part of --rate that is this process's.
    void set_rate(std::uint64_t bytes_per_second) { flow_.pace.set_rate(bytes_per_second); }
    void tick();
    /// One thing of a branch is done; where it was the last, `finish_branch` is called, and so upwards.
    void done_in(BranchRef branch);

    const TreeCopyOptions& options;
    Remarks& remarks;
    CopyCounts& counts;
    OpenFolders folders;
    HardLinks links;
    WorkShare share;
    Layouts layouts;
    ExpectedOwner owner;
    Naming naming{*this, options.naming};
    std::function<void(const BranchRef&)> finish_branch;
    Team* team = nullptr;  // where other processes share the work

private:
    /// How bytes go from here to there, the same for all files, and who hears of it.
    struct Flow {
        Flow(std::uint64_t bytes_per_second, move::Turn* shared) : pace(bytes_per_second, shared) {}
        move::Pace pace;
        std::atomic<bool> by_kernel{true};
        Pulse pulse;
    };

    struct Outcome {
        Result<> fatal;
        std::vector<EntryPlace> put_off;
        bool has_put_off_later = false;
        std::atomic<bool> has_cleared{false};
        std::function<void(const std::string& path)> take_failed;
    };

    const CopyPlaces places_;
    Flow flow_;
    mutable std::mutex mutex_;  // guards what follows, and the manifest
    Outcome outcome_;
};

}  // namespace forebay::tree
