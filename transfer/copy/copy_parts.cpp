#include "transfer/copy/copy_parts.hpp"

namespace forebay::tree {

TargetParts::TargetParts(const TreeCopyOptions& given_options, Remarks& given_remarks, CopyCounts& given_counts,
                         const CopyPlaces& places)
    : options(given_options),
      remarks(given_remarks),
      counts(given_counts),
      names(places.temporary_prefix, places.temporary_end),
      layouts(given_options, given_counts, places.temporary_prefix),
      naming({options, share, folders, names, publisher, failures, flow, branch_ends, inode_ends}),
      links(options.tables),
      maker({options, remarks, counts, new_entries, layouts, losses, names, flow, naming, links}) {}

CopyParts::CopyParts(const TreeCopyOptions& given_options, Remarks& given_remarks, CopyCounts& given_counts,
                     const CopyPlaces& places)
    : TargetParts(given_options, given_remarks, given_counts, places),
      asked(places.asked),
      freshness(places.last_copy, places.clocks),
      lookup({options, remarks, links, layouts.stored, freshness, new_entries, names, deferred}),
      large_files{options, remarks, counts, folders,  links,       new_entries, names,
                  losses,  flow,    maker,  failures, branch_ends, inode_ends},
      linker({counts, folders, new_entries, names, publisher}),
      dry({options, remarks, counts, folders, losses, lookup, maker, asked}),
      further_names(
          {options, folders, links, deferred, losses, lookup, linker, dry, naming, failures, branch_ends, names}),
      copier({options, remarks, counts, deferred, lookup, further_names, dry, maker, large_files}),
      folder_maker({options, remarks, counts, share, folders, new_entries, layouts, losses, lookup, publisher, failures,
                    names, asked, places.has_others}),
      walk({options, remarks, counts, folders, freshness, names, folder_maker, copier, naming, flow, failures,
            branch_ends}),
      replacer({options, remarks, counts, share, folders, new_entries, layouts.stored, deferred, folder_maker, walk,
                naming, failures}) {
    further_names.copy_by([this](TreeWorker& worker, const CopyEntry& entry,
                                 FoundEntry& match) { return copier.place(worker, entry, match); },
                          [this](TreeWorker& worker, const CopyEntry& entry) {
                              return copier.copy(worker, entry, sys::EntryKind::unknown, 0);
                          });
    branch_ends.finish_by([this](const BranchRef& branch) { folder_maker.finish(branch); });
    inode_ends.named = [this](TreeWorker& worker, const sys::EntryId& id, const EntryPlace& first) {
        further_names.link_waiting(worker, id, first);
    };
    inode_ends.failed = [this](TreeWorker& worker, const sys::EntryId& id) {
        further_names.give_up_waiting(worker, id);
    };
}

}  // namespace forebay::tree
