// Writes entries of the target under their temporary names, with their bytes and attributes, and hands them over to get
// their names: what copies of small and of large files, and restores, share.
//
// Threads: any.

#pragma once

#include <memory>
#include <string>

#include "transfer/copy/data_flow.hpp"
#include "transfer/copy/decide.hpp"
#include "transfer/copy/layouts.hpp"
#include "transfer/copy/losses.hpp"
#include "transfer/copy/naming.hpp"
#include "transfer/copy/new_entries.hpp"
#include "transfer/copy/settled.hpp"
#include "transfer/tables/hard_links.hpp"

namespace forebay::tree {

/// What entries are made by.
struct MakerUses {
    const TreeCopyOptions& options;
    EntryLog& entry_log;
    CopyCounts& counts;
    const NewEntries& new_entries;
    Layouts& layouts;
    Losses& losses;
    const TemporaryNames& names;
    DataFlow& flow;
    Naming& naming;
    const HardLinks& links;
};

/// One entry of the target in the making, under its temporary name. `entry` outlives it.
class NewEntry {
public:
    /// `status`: of the source.
    NewEntry(const MakerUses& uses, const CopyEntry& entry, const sys::EntryStatus& status)
        : use_(uses), entry_(entry), status_(status), name_(uses.names.name_for(entry.name)), held_(held_by_new()) {}

    const std::string& name() const { return name_; }
    const sys::EntryStatus& status() const { return status_; }
    sys::OpenFile& file() const { return *file_; }
    /// Its holes are made by leaving them out.
    bool is_sparse() const { return has_holes(status_) && !has_attributes_; }

    /// Makes a file, in place of one of an earlier run. It has its permissions from the beginning, which saves a call,
    /// if they let nobody in during the copy who is kept out afterwards.
    Result<> make_file();
    /// Makes a file that nobody else can open, where there is none.
    Result<> make_closed_file();
    /// The file of an earlier run, which is gone on with.
    void take_file(std::unique_ptr<sys::OpenFile> file, const sys::EntryStatus& now);
    /// Where entries are refused of which a part cannot be kept, and it looks as if this one's owner cannot: tries to
    /// give it to the file that was just made.
    Result<> give_owner_first();
    /// Gives attributes first where that is how the target takes files, and says that the bytes come: how many of them
    /// are there from a run before.
    Result<std::uint64_t> begin_copy(sys::OpenFile& source);
    /// The bytes are there: reads it back where that is wished, and gives it the attributes and its name.
    Result<CopyStep> complete_file(TreeWorker& worker, sys::OpenFile& source, TemporaryName& temporary);
    /// The same of a file whose bytes come from elsewhere.
    Result<CopyStep> name_file(TreeWorker& worker, const AttributeSource& attributes, TemporaryName& temporary);
    /// An entry that is no file and no folder: a link with its text, a fifo, a socket, a device.
    Result<CopyStep> make_other(TreeWorker& worker, const std::string& link_text,
                                const std::function<Result<AttributeSource>()>& attributes);
    /// What it has where its permissions are 0600.
    Held held_by_new() const;

private:
    Settle settle() { return use_.losses.settle_of(entry_, status_); }
    /// A file with the layout that it is to have: nothing else of it is set.
    Result<std::unique_ptr<sys::OpenFile>> make_laid_file(std::uint32_t permissions);
    std::uint32_t first_permissions() const;
    Result<AttributeSource> attributes_from(sys::OpenFile& source) const;
    Result<> give_all(const AttributeSource& attributes);
    void take_over_upload();

    const MakerUses& use_;
    const CopyEntry& entry_;
    const sys::EntryStatus status_;
    const std::string name_;
    std::unique_ptr<sys::OpenFile> file_;
    Held held_;                    // what it has before anything is set
    bool has_attributes_ = false;  // it got them first: see OpenFile::begins_with_attributes()
};

class EntryMaker {
public:
    explicit EntryMaker(const MakerUses& uses) : use_(uses) {}

    /// An entry of the source, which had `status`, gets its copy; `file` is its file, or null if that is not open yet.
    Result<CopyStep> make_copy(TreeWorker& worker, const CopyEntry& entry, const sys::EntryStatus& status,
                               std::unique_ptr<sys::OpenFile> file);
    /// The target has the entry, but for attributes.
    Result<CopyStep> adjust_copy(const CopyEntry& entry, const EntrySight& sight);
    /// For whoever brings the bytes itself.
    NewEntry new_entry(const CopyEntry& entry, const sys::EntryStatus& status) const { return {use_, entry, status}; }

private:
    /// What is written to meanwhile is copied again.
    Result<CopyStep> write_file(TreeWorker& worker, const CopyEntry& entry, sys::OpenFile& file,
                                sys::EntryStatus before);

    const MakerUses use_;
};

/// Whether it is still the inode that `entry` was taken for, where that has several names.
inline bool is_known(const HardLinks& links, const CopyEntry& entry, const sys::EntryStatus& status) {
    return entry.inode == sys::EntryId{} || links.id_of(status) == entry.inode;
}

/// "fifo", "symbolic link", ...
const char* word_of(sys::EntryKind kind);

/// Where another entry or a further name could not be made as `temporary`: an error where no file can be made there
/// either, which then says nothing of what the target can hold.
Result<> check_takes_files(const CopyEntry& entry, const std::string& temporary);

}  // namespace forebay::tree
