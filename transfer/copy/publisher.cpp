#include "transfer/copy/publisher.hpp"

#include "core/base/try.hpp"

namespace forebay::tree {

Result<CopyStep> NamePublisher::publish(TemporaryName& temporary, const EntryPlace& place, sys::Folder& folder,
                                        EntryEvent kind) {
    const bool was_there =
        entry_log_.records(EntryEvent::replaced) && !place.dir_node->was_made && folder.status_of(place.name);
    if (was_there && check_recorded() != CopyStep::done) return CopyStep::reported;
    FB_TRY(temporary.publish(place.name, CaseFoldNames::of(*place.dir_node, folder)));
    count(place, kind, was_there);
    return CopyStep::done;
}

// A replaced entry is destroyed. If the report cannot record that, nothing more is replaced.
CopyStep NamePublisher::check_recorded() {
    const auto taken = entry_log_.taken();
    if (taken || !entry_log_.records(EntryEvent::replaced)) return CopyStep::done;
    failures_.end_by(taken.error());
    return CopyStep::reported;
}

void NamePublisher::count(const EntryPlace& place, EntryEvent kind, bool has_replaced) {
    place.dir_node->was_changed = true;
    ++(kind == EntryEvent::linked ? counts_.linked : counts_.copied);
    record(has_replaced ? EntryEvent::replaced : kind, *place.dir_node, place.name);
}

}  // namespace forebay::tree
