// The parts of a copy or restore. Each part is made from parts above it. Only the code that begins a copy has all
// parts; a stage gets the parts that it uses.

#pragma once

#include "transfer/copy/replace_folders.hpp"

namespace forebay::tree {

/// The places of a copy.
struct CopyPlaces {
    std::string temporary_prefix;
    std::string temporary_end{};  // end of temporary names, if several processes copy at once
    LastCopy last_copy{};
    Clocks clocks{};
    FolderRef asked{};  // the target or its future parent: used to ask what can be stored
    bool has_others =
        false;  // the roots hold other entries too: only one entry is copied, and the roots stay unchanged
};

/// Makes entries at a target from any source: a tree or an archive.
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
