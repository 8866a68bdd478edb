// The parts of one copy or restore, each made of parts above it. Only the code that begins a copy has all of them; a
// stage gets the parts that it uses.

#pragma once

#include "transfer/copy/replace_folders.hpp"

namespace forebay::tree {

/// The places of a copy.
struct CopyPlaces {
    std::string temporary_prefix;
    std::string temporary_end{};  // of temporary names, where several processes copy at once
    LastCopy last_copy{};
    Clocks clocks{};
    FolderRef asked{};        // of the target, or the one that it is to be made in: what can be kept there
    bool has_others = false;  // the roots are folders of others, of which one entry is meant: they stay as they are
};

/// Makes entries at a target from any source: a tree, or an archive.
struct TargetParts {
    TargetParts(const TreeCopyOptions& given_options, EntryLog& given_log, CopyCounts& given_counts,
                const CopyPlaces& places);

    const TreeCopyOptions& options;
    EntryLog& entry_log;
    CopyCounts& counts;
    WorkShare share{options.threads};
    OpenFolders folders;
    NewEntries new_entries{options.filter};
    TemporaryNames names;
    Failures failures{share, folders, entry_log};
    DataFlow flow{options, counts, share};
    Losses losses{options, entry_log};
    Layouts layouts;
    DirNodeEnds dir_node_ends{folders};
    InodeEnds inode_ends;
    NamePublisher publisher{entry_log, counts, failures};
    Naming naming;
    HardLinks links;
    EntryMaker maker;
};

struct CopyParts : TargetParts {
    CopyParts(const TreeCopyOptions& given_options, EntryLog& given_log, CopyCounts& given_counts,
              const CopyPlaces& places);

    FolderRef asked;
    Freshness freshness;
    DeferredFolders deferred{options.tables.deferred};
    Lookup lookup;
    LargeFiles large_files;
    NameLinker linker;
    DryCopier dry;
    FurtherNames further_names;
    EntryCopier copier;
    FolderMaker folder_maker;
    CopyWalk walk;
    FolderReplacer replacer;
};

}  // namespace forebay::tree
