#include "transfer/copy/copy_parts.hpp"

namespace forebay::tree {

TargetParts::TargetParts(const TreeCopyOptions& given_options, EntryLog& given_log, CopyCounts& given_counts,
                         const CopyPlaces& places)
    : options(given_options),
      entry_log(given_log),
      counts(given_counts),
      names(places.temporary_prefix, places.temporary_end),
      layouts(given_options, given_counts, places.temporary_prefix),
      naming({options, share, folders, names, publisher, failures, flow, dir_node_ends, inode_ends}),
      links(options.tables),
      maker({options, entry_log, counts, new_entries, layouts, losses, names, flow, naming, links}) {}

CopyParts::CopyParts(const TreeCopyOptions& given_options, EntryLog& given_log, CopyCounts& given_counts,
                     const CopyPlaces& places)
    : TargetParts(given_options, given_log, given_counts, places),
      asked(places.asked),
      freshness(places.last_copy, places.clocks),
      lookup({options, entry_log, links, layouts.stored, freshness, new_entries, names, deferred}),
      large_files{options, entry_log, counts, folders,  links,         new_entries, names,
                  losses,  flow,      maker,  failures, dir_node_ends, inode_ends},
      linker({counts, folders, new_entries, names, publisher}),
      dry({options, entry_log, counts, folders, losses, lookup, maker, asked}),
      further_names(
          {options, folders, links, deferred, losses, lookup, linker, dry, naming, failures, dir_node_ends, names}),
      copier({options, entry_log, counts, deferred, lookup, further_names, dry, maker, large_files}),
      folder_maker({options, entry_log, counts, share, folders, new_entries, layouts, losses, lookup, publisher,
                    failures, names, asked, places.has_others}),
      walk({options, entry_log, counts, folders, freshness, names, folder_maker, copier, naming, flow, failures,
            dir_node_ends}),
      replacer({options, entry_log, counts, share, folders, new_entries, layouts.stored, deferred, folder_maker, walk,
                naming, failures}) {
    further_names.copy_by([this](TreeWorker& worker, const CopyEntry& entry,
                                 FoundEntry& match) { return copier.place(worker, entry, match); },
                          [this](TreeWorker& worker, const CopyEntry& entry) {
                              return copier.copy(worker, entry, sys::EntryKind::unknown, 0);
                          });
    dir_node_ends.finish_by([this](const DirNodeRef& dir_node) { folder_maker.finish(dir_node); });
    inode_ends.named = [this](TreeWorker& worker, const sys::EntryId& id, const EntryPlace& first) {
        further_names.link_waiting(worker, id, first);
    };
    inode_ends.failed = [this](TreeWorker& worker, const sys::EntryId& id) {
        further_names.give_up_waiting(worker, id);
    };
}

}  // namespace forebay::tree
