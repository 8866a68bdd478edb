// A file of the target in the making, under its temporary name: what copies of small and of large files share.

#pragma once

#include <memory>
#include <optional>

#include "transfer/copy/copy_entry.hpp"

namespace forebay::tree {

/// A new file, and what it has before anything is set.
struct MadeFile {
    std::unique_ptr<sys::OpenFile> file;
    Held held;
    bool has_attributes = false;  // it got them first: see OpenFile::begins_with_attributes()
};

/// A file under that name, with the layout that it is to have: nothing else of it is set.
Result<std::unique_ptr<sys::OpenFile>> make_laid_file(CopyContext& context, const CopyEntry& entry,
                                                      const std::string& temporary, std::uint32_t permissions,
                                                      const sys::EntryStatus& status);

/// Makes it, in place of one of an earlier run. It has its permissions from the beginning, which saves a call, where
/// they let nobody in during the copy who is kept out afterwards.
Result<MadeFile> make_copy_file(CopyContext& context, const CopyEntry& entry, const std::string& temporary,
                                const sys::EntryStatus& status);

/// Gives attributes first where that is how the target takes files, and says that the bytes come: how many of them are
/// there from a run before.
Result<std::uint64_t> begin_copy(CopyContext& context, const CopyEntry& entry, sys::OpenFile& source,
                                 const sys::EntryStatus& status, MadeFile& made);

/// What it has where its permissions are 0600.
Held held_by_new(CopyContext& context, const CopyEntry& entry);

/// "fifo", "symbolic link", ...
const char* word_of(sys::EntryKind kind);

/// The bytes are there: reads it back where that is wished, and gives it the attributes and its name. False: it gets
/// that later, see Naming.
Result<bool> complete_file(CopyContext& context, TreeWorker& worker, const CopyEntry& entry, sys::OpenFile& source,
                           const sys::EntryStatus& status, MadeFile& made, TemporaryName& temporary);

/// The same of a file whose bytes come from elsewhere.
Result<bool> name_file(CopyContext& context, TreeWorker& worker, const CopyEntry& entry,
                       const AttributeSource& attributes, const sys::EntryStatus& status, MadeFile& made,
                       TemporaryName& temporary);

/// Where another entry or a further name could not be made as `temporary`: an error where no file can be made there
/// either, which then says nothing of what the target can hold.
Result<> check_takes_files(const CopyEntry& entry, const std::string& temporary);

/// An entry that is no file and no folder: a link with its text, a fifo, a socket, a device.
Result<bool> make_other_entry(CopyContext& context, TreeWorker& worker, const CopyEntry& entry,
                              const sys::EntryStatus& status, const std::string& link_text,
                              const std::function<Result<AttributeSource>()>& attributes);

/// A status by which later changes can be told, when no write is likely to be in progress. Kernels before 6.13 mark
/// changes within a tick of 4 ms (10 ms at most) alike, and all of them mark a write when it begins. So a file that has
/// just been written is looked at again, until it was left alone for some ticks, and on file systems of whole seconds
/// until its second is over. Nothing: others do not leave it alone for so long.
Result<std::optional<sys::EntryStatus>> settled_status(sys::OpenFile& file, sys::EntryStatus status);

/// Whether what was copied is what the file is now: nobody wrote to it meanwhile.
bool is_unchanged(const sys::EntryStatus& before, const sys::EntryStatus& after);

/// Settles the parts of one entry; it must not outlive what it is made of.
Settle settle_of(CopyContext& context, const CopyEntry& entry, const sys::EntryStatus& status);

}  // namespace forebay::tree
