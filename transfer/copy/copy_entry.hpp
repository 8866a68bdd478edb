// Copies single entries that are no folders: looks whether the target has them, and makes or adjusts them.

#pragma once

#include <optional>

#include "transfer/copy/copy_context.hpp"
#include "transfer/copy/spellings.hpp"

namespace forebay::tree {

/// A name that is given up with its entry unless the entry was published under its own.
class TemporaryName {
public:
    TemporaryName(sys::Folder& folder, std::string name) : folder_(&folder), name_(std::move(name)) {}
    TemporaryName(const TemporaryName&) = delete;
    TemporaryName& operator=(const TemporaryName&) = delete;
    ~TemporaryName() {
        if (!name_.empty()) static_cast<void>(folder_->remove(name_));
    }

    const std::string& name() const { return name_; }
    /// `spellings`: of the folder.
    Result<> publish(const std::string& final_name, Spellings* spellings = nullptr);
    /// It stays, for a later run.
    void leave() { name_.clear(); }

private:
    sys::Folder* folder_;
    std::string name_;
};

class EntryCopier {
public:
    EntryCopier(CopyContext& context, TreeWorker& worker) : context_(context), worker_(worker) {}

    /// `listed_number`: the inode of which the listing spoke. An error without words was reported.
    Result<> copy(const CopyEntry& entry, sys::EntryKind kind, std::uint64_t listed_number);
    /// The inode has its name: those that waited for it get further names of it.
    void link_waiting(const sys::EntryId& id, const EntryPlace& first);
    /// It has none: those that waited are copied as if they had been met first.
    void give_up_waiting(const sys::EntryId& id);
    /// Of names that waited: each is linked to `first`, or copied as if it had been met now.
    void link_all(const std::vector<EntryPlace>& places, const EntryPlace& first, const sys::EntryId& id);
    void copy_waiting(const EntryPlace& waiting);

private:
    enum class Found { equal, adjust, other };

    /// False: it gets its name later, and whoever gives it sees to those that wait for it.
    Result<bool> place(const CopyEntry& entry, const sys::EntryStatus& status, std::unique_ptr<sys::OpenFile> file,
                       const std::optional<sys::EntryStatus>& existing);
    /// A folder at the target is no place for an entry: an error, without words where it is replaced in the end.
    Result<> check_way(const EntryPlace& place, const std::optional<sys::EntryStatus>& existing);
    /// The same of a further name of the inode `id`.
    Result<> check_way_of_link(const EntryPlace& place, const std::optional<sys::EntryStatus>& existing,
                               const sys::EntryId& id, const EntryPlace& first);
    /// Whether the target has it, maybe after its attributes were set. In a dry run `was_adjusted`, under another name,
    /// says that the run will have set them.
    Result<bool> keep_existing(const CopyEntry& entry, const sys::EntryStatus& status, const sys::EntryStatus& existing,
                               bool was_adjusted = false);
    /// Of one whose attributes alone differ, `difference` says which do.
    Result<Found> look(const CopyEntry& entry, const sys::EntryStatus& status, const sys::EntryStatus& existing,
                       std::string& difference);
    Result<bool> has_same_content(const CopyEntry& entry, const sys::EntryStatus& status,
                                  const sys::EntryStatus& existing);
    Result<std::string> attribute_difference(const CopyEntry& entry, const sys::EntryStatus& status,
                                             const sys::EntryStatus& existing);
    Result<> adjust(const CopyEntry& entry, const sys::EntryStatus& status, const sys::EntryStatus& existing);
    /// What place() and link() do in a dry run.
    Result<> would_place(const CopyEntry& entry, const sys::EntryStatus& status,
                         const std::optional<sys::EntryStatus>& existing);
    Result<> would_link(const EntryPlace& place, const EntryPlace& first, const sys::EntryId& id);
    Result<bool> copy_file(const CopyEntry& entry, sys::OpenFile& file, sys::EntryStatus before);
    Result<bool> make_other(const CopyEntry& entry, const sys::EntryStatus& status);
    Result<AttributeSource> source_attributes(const CopyEntry& entry);
    Result<> link(const EntryPlace& place, const EntryPlace& first, const sys::EntryId& id);
    Result<> link_to(const CopyEntry& entry, const EntryPlace& first);
    Result<> check_linked(const CopyEntry& entry, const EntryPlace& first, const std::string& name);

    CopyContext& context_;
    TreeWorker& worker_;
};

/// A file that was written to while it was copied is copied again, up to so many times in all: one that somebody writes
/// without a pause is said to change.
inline constexpr int copy_tries_max = 3;

/// Whether it is still the inode that `entry` was taken for, where that has several names.
bool is_known(const CopyContext& context, const CopyEntry& entry, const sys::EntryStatus& status);

/// Before `existing`, which the target has under its name, is taken for it: see Spellings::claim().
Result<> claim_name(CopyContext& context, const CopyEntry& entry, const sys::EntryStatus& existing);

/// A file that changes each time is said to do so; gives the error without words.
Error report_changes(CopyContext& context, const std::string& path);

}  // namespace forebay::tree
